"""Tree and Adaptive: synthetic tables from noisy counts of columns and pairs."""
