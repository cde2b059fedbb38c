"""The words of the field that pages explain, each in the sentence of docs/glossary.md, as a test compares."""

from workbench.ui.language import Words

GLOSSARY = Words("ui.glossary")
