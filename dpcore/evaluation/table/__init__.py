"""Evaluations of the risk in a table, before and after it is anonymized."""
