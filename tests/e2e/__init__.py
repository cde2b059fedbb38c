"""What people do in a real browser; a package, so that what is started for its tests
ends with them.
"""
