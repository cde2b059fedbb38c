"""Work in other processes, so that pages answer meanwhile."""
