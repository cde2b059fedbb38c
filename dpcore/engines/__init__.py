"""The only place that holds rows.

Imported by the curator alone.
"""
