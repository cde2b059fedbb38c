"""Functions that read only a finished release."""
