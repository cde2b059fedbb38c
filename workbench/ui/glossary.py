"""The words of the field, each in one sentence; docs/glossary.md is the same, and a test compares them."""

from workbench.ui.language import Words

GLOSSARY = Words("ui.glossary")
