"""A table for learning from noisy sums by class."""
