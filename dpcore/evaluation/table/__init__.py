"""The risk in a table as it is, and in what a plan makes of it."""
