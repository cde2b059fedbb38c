"""The schema editor for one column at a time, for keyboards and telephones."""

from typing import Any

import pandas as pd
import streamlit as st

from dpcore.schema import PrivacyUnit
from workbench import session
from workbench.language.columns import ColumnForm
from workbench.language.messages import N_, _, capital, name_and_text
from workbench.language.wording import escape_markdown
from workbench.report import charts
from workbench.session.draft import Draft
from workbench.ui import widgets
from workbench.upload import opening
from workbench.upload.grid import (
    KINDS,
    LEAVE_OUT,
    MAX_SOURCE_CHARACTERS,
    kind_title,
)

HELP_TEXTS = {
    "special": N_(
        "For example, a 0 that most people have. Drawn rows keep it exactly."
    ),
    "decimals": N_(
        "Largest number of digits after the decimal point in drawn numbers. Leave "
        "it empty for no limit."
    ),
    "other": N_(
        "For categories: all other values share one cell. For numbers and dates: a "
        "value that cannot be read as one counts as missing."
    ),
    "known from": N_(
        "A source other than this table, such as a questionnaire, a law or a "
        "description of the data."
    ),
}


def ask_column(draft: Draft, unit: PrivacyUnit) -> pd.DataFrame:
    """Show the form of one column; return the grid with its values filled in."""
    names = [str(name) for name in draft.edited_grid["column"]]
    place = session.Widget[str](f"one-column-{draft.dataset}")
    name = st.selectbox(
        capital("column"), names, key=place.key, persist_state="session"
    )
    row = names.index(name)
    st.progress(
        (row + 1) / len(names),
        text=_("{row} of {all}").format(row=row + 1, all=len(names)),
    )
    before: dict[str, Any] = {
        str(key): value for key, value in draft.edited_grid.iloc[row].items()
    }
    with st.container(border=True):
        st.markdown(f"**{escape_markdown(name)}**")
        if before["reason"]:
            st.caption(
                name_and_text(
                    capital("why suggested"),
                    escape_markdown(before["reason"], max_length=300),
                )
            )
        after = before | _show_fields(
            before, f"one-{draft.dataset}-{draft.version}-{row}"
        )
        edited = draft.edited_grid.copy()
        for field, value in after.items():
            edited.at[edited.index[row], field] = value
        _show_clipping(draft, edited, unit, name)
    steps = {_("Previous column"): row - 1, _("Next column"): row + 1}
    for side, (label, to) in zip(st.columns(2), steps.items(), strict=True):
        there = names[to : to + 1] if to >= 0 else []
        side.button(
            label,
            disabled=not there,
            on_click=place.put,
            args=(*there,),
            width="stretch",
        )
    return edited


def _show_fields(line: dict[str, Any], key: str) -> dict[str, Any]:
    """Show the fields of a column's kind; return their values."""
    kind = st.selectbox(
        capital("kind"),
        KINDS,
        KINDS.index(line["kind"]),
        format_func=kind_title,
        key=f"{key}-kind",
    )
    said: dict[str, Any] = {"kind": kind}
    if kind == LEAVE_OUT:
        return said
    fields = ColumnForm.of_kind(kind).fields
    texts = [name for name in fields if name not in ("categories", "other")]
    for place, name in enumerate(texts):
        # Fields are laid out in pairs, so that a phone shows them in this order.
        if place % 2 == 0:
            sides = st.columns(2)
        said[name] = sides[place % 2].text_input(
            capital(fields[name]), line[name], key=f"{key}-{name}"
        )
    if "categories" in fields:
        said["categories"] = st.text_area(
            capital(fields["categories"]),
            line["categories"],
            key=f"{key}-categories",
        )
    if "other" in fields:
        said["other"] = st.checkbox(
            capital(fields["other"]), line["other"], key=f"{key}-other"
        )
    said["missing"] = st.checkbox(
        capital("cell for missing"), line["missing"], key=f"{key}-missing"
    )
    if said["missing"]:
        said["means missing"] = st.text_input(
            capital("means missing, separated by |"),
            line["means missing"],
            key=f"{key}-tokens",
        )
    said["counts as"] = st.text_input(
        capital("counts as, separated by |"),
        line["counts as"],
        key=f"{key}-synonyms",
    )
    said["known from"] = st.text_input(
        capital("known from"),
        line["known from"],
        help=_(HELP_TEXTS["known from"]),
        key=f"{key}-source",
        max_chars=MAX_SOURCE_CHARACTERS,
    )
    return said


def _show_clipping(
    draft: Draft, edited: pd.DataFrame, unit: PrivacyUnit, name: str
) -> None:
    """Show how many rows keep their value under this declaration; internal."""
    line = edited[edited["column"] == name]
    schema, problems = opening.read_grid(draft, line, unit)
    if name in problems:
        widgets.error_box(problems[name])
    if schema is None or not schema.columns:
        return
    check = opening.count_outside(draft, schema.columns[0])
    rows = max(1, len(draft.frame))
    moved = {
        _("moved to a bound"): check.clipped,
        _("counted as other"): check.other,
        _("missing"): check.missing,
        _("no cell"): check.refused,
    }
    unchanged = rows - sum(moved.values())
    shares = {
        _("as they are"): unchanged / rows,
        **{label: count / rows for label, count in moved.items()},
    }
    widgets.show_internal_badge()
    chart = charts.share_bars(
        list(shares),
        list(shares.values()),
        x_title=_("share of rows"),
        alt=capital("share of rows"),
    )
    widgets.show_chart(chart, key="clipped")
