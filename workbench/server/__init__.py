"""What runs around the pages, processes that compute for them and checks that every
request passes.
"""
