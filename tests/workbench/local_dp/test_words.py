"""Sentences of the Local answers page."""

from __future__ import annotations

from workbench.local_dp import words


def test_most_is_said_of_more_than_half_alone() -> None:
    """Of 27 answers with intervals of 4 to 100 % "most said never" was written."""
    said = words.most_said_sentence
    assert "Too noisy" in said(["a", "b"], [0.04, 0.0], [1.0, 0.9])
    assert said(["a", "b"], [0.55, 0.2], [0.7, 0.4]).startswith("Most people said a")
    plural = said(["a", "b", "c"], [0.1, 0.42, 0.0], [0.3, 0.48, 0.2])
    assert plural.startswith("The most frequent answer is b")
    assert "Too noisy" in said(["a", "b"], [0.5, 0.0], [0.9, 0.5]), "they touch"
