"""Tables read in passes, never whole."""
