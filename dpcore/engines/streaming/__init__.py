"""Tables that are read in passes, never whole."""
