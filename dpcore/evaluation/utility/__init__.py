"""The usefulness of a release or of any other table, measured against the original."""
