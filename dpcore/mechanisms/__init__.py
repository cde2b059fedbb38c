"""Noise and private choices, from OpenDP."""
