"""Evaluations of the usefulness of a release or table, against the original."""
