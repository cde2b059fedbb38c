"""Engine for tables that are read in passes and never held in memory as a whole."""
