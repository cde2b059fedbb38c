"""What the answers about a draft change in it, and the figures that help its owner to answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from dpcore.accounting.loss import PureDP
from dpcore.mechanisms.sensitivity import noise_variance
from dpcore.schema import Column
from dpcore.tables.counts import half_width
from workbench.session.draft import Draft
from workbench.upload import grid, known


def shares_kept(draft: Draft, name: str, caps: Sequence[int]) -> pd.DataFrame:
    """For each cap, the shares of rows that count and of people whose rows all do, and the noise. Private.

    A count is off by at most `off` in 95 of 100 cases at epsilon 1, as before a release is paid.
    """
    sizes = draft.frame[name].value_counts()
    return pd.DataFrame(
        {
            "cap": list(caps),
            "rows": [float(sizes.clip(upper=cap).sum() / max(1, sizes.sum())) for cap in caps],
            "people": [float((sizes <= cap).mean()) for cap in caps],
            "off": [half_width(noise_variance(cap, PureDP(epsilon=1)), "laplace") for cap in caps],
        }
    )


def see_caps(draft: Draft) -> None:
    """Take note that figures of the rows were shown before a number was chosen."""
    draft.cap_seen = True


def put(draft: Draft, columns: Iterable[Column], known_from: str = "") -> None:
    """Take columns into the grid, known from outside where it is said from where."""
    lines = {
        column.name: grid.line(
            dataclasses.replace(column, from_data=(), known_from=known_from) if known_from else column
        )
        for column in columns
    }
    _replace(draft, draft.edited.index[draft.edited["column"].isin(lines)], lines)


def take_back(draft: Draft) -> None:
    """Go back to what the last answer changed; other edits since then stay."""
    assert draft.unconfirmed is not None
    before = {str(line["column"]): line for line in draft.unconfirmed.to_dict("records")}
    _replace(draft, draft.unconfirmed.index, before)
    draft.unconfirmed = None


def _replace(draft: Draft, places: pd.Index, lines: Mapping[str, Mapping[Any, Any]]) -> None:
    draft.unconfirmed = draft.edited.loc[places]
    edited = draft.edited.copy()
    for place in places:
        for field, value in lines[str(edited.at[place, "column"])].items():
            edited.at[place, field] = value
    draft.edited = edited
    draft.version += 1


def leave(draft: Draft, question: known.Question) -> None:
    """Keep columns as they were taken from the table; of bounds, ask about each."""
    if question.kind == "round":
        draft.singly = True
    else:
        draft.left |= {column.name for column in question.columns}
