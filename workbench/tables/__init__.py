"""The Tables page: an exact table of counts, its hidden cells, and what it tells."""
