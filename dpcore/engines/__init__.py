"""Engines, the only modules that hold the rows of private tables.

Imported by the curator alone.
"""
