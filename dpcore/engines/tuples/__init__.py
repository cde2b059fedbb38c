"""Distinct tuples of a table, and their owners."""
