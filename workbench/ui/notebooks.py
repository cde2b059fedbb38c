"""Notebooks as files."""

import json
from collections.abc import Iterable

Cell = tuple[str, str]


def write_notebook(cells: Iterable[Cell]) -> str:
    """Write a notebook (nbformat 4).

    Args:
        cells: the kind of each, "markdown" or "code", and its text.
    """
    return json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"language_info": {"name": "python"}},
            "cells": [
                {
                    "cell_type": kind,
                    "id": f"cell-{number}",
                    "metadata": {},
                    "source": text.splitlines(keepends=True),
                    **(
                        {"outputs": [], "execution_count": None}
                        if kind == "code"
                        else {}
                    ),
                }
                for number, (kind, text) in enumerate(cells)
            ],
        },
        indent=1,
    )
