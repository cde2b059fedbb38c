"""Attacks on the people in a release, with a control, and an audit with canaries."""
