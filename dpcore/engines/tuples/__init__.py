"""Distinct tuples of a table, and the people who own them."""
