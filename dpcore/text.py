"""Sentences that an interface can translate, as a template with named fields and the
text that they make.
"""

from __future__ import annotations

from typing import Any


class Text(str):
    """A sentence in English that remembers its template and fields.

    Everywhere else it is just a text.
    """

    template: str
    many: str
    fields: dict[str, Any]

    def __new__(cls, template: str, /, *, many: str = "", **fields: Any) -> Text:
        """Fill `fields` into `template`, which names them in braces.

        Args:
            many: the template where the first of the fields is a number other than 1.
        """
        plural = many and next(iter(fields.values())) != 1
        made = super().__new__(cls, (many if plural else template).format(**fields))
        made.template = template
        made.many = many
        made.fields = fields
        return made
