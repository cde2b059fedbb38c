"""Noise and private selection mechanisms, mostly drawn by OpenDP."""
