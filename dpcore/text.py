"""Sentences that an interface can translate, as a template with named fields and the text that they make."""

from __future__ import annotations

from typing import Any


class Text(str):
    """A sentence in English that remembers its template and fields. Everywhere else it is just a text."""

    template: str
    fields: dict[str, Any]

    def __new__(cls, template: str, /, **fields: Any) -> Text:
        """Fill `fields` into `template`, which names them in braces."""
        made = super().__new__(cls, template.format(**fields))
        made.template, made.fields = template, fields
        return made
