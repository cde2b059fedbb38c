"""Attacks on the people in a release, with a control, and audits of its loss."""
