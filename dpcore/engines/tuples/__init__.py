"""Distinct tuples of a table, and the people who have them."""
