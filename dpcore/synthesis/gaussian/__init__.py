"""A recipe for tables to learn from, by noisy sums within each class."""
