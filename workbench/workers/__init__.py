"""Work that is done in processes of its own, so that pages answer meanwhile."""
