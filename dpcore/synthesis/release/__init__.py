"""Uses of a finished release that read nothing else: from a file, counted, pooled."""
