"""Counts and rows, each in a private and a public type."""
