"""Syntactic anonymization: k-anonymity and its kin, outside differential privacy.

From a table to a release: `hierarchy` (and `builders`, `suggest`) say how values become coarser, `tuples`
counts the distinct quasi-identifier tuples, `models` say what every class must fulfil, `metrics` what to
minimize. `search` answers one question optimally, `frontier` all of them in one pass; `plan` records the
choice and `apply` carries it out. `local_recoding`, `mondrian` and `microaggregation` are other methods, on
the same scales.
"""
