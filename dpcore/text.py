"""Sentences that an interface can translate: a template with named fields."""

from __future__ import annotations

from typing import Any


class Text(str):
    """An English sentence that remembers its template and fields.

    Everywhere else it is just a text.
    """

    template: str
    many: str
    fields: dict[str, Any]

    def __new__(cls, template: str, /, *, many: str = "", **fields: Any) -> Text:
        """Fill `fields` into `template`, which names them in braces.

        Args:
            many: the template if the first of the fields is a number other than 1.
        """
        plural = many and next(iter(fields.values())) != 1
        made = super().__new__(cls, (many if plural else template).format(**fields))
        made.template = template
        made.many = many
        made.fields = fields
        return made
