"""Synthetic tables from noisy counts of columns and pairs."""
