"""Engine for Spark tables."""
