"""The only place that holds rows; imported by the curator alone."""
