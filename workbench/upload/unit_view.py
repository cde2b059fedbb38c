"""First question of the Data page: who is protected, and with how many rows."""

from fractions import Fraction

import pandas as pd
import streamlit as st

from dpcore.accounting.loss import PureDP
from dpcore.evaluation.table.rows_of_people import (
    QUANTILE_ORDER,
    largest_quantile_error,
)
from dpcore.evaluation.table.rows_of_people import ROW_CAPS as CAPS_TO_FIND
from dpcore.schema import PrivacyUnit
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import _, join_with_commas
from workbench.language.wording import escape_markdown, number, percent, unit_words
from workbench.session.draft import Draft
from workbench.ui import widgets
from workbench.upload import facts

ONE_ROW = "one"
ROWS_NAMED_BY_COLUMN = "named"
DECLARED_MAX_ROWS = "declared"
OFFERED_CAPS = (1, 2, 3, 5, 10, 20)  # rows per person to choose from
OTHER_NUMBER = 0  # option: type a number
FIND_PRIVATELY = -1  # option: find the number privately when the table is opened
# A person can choose one of these epsilons for finding the number privately.
SEARCH_EPSILONS = ("1/50", "3/100", "1/25", "1/20")
MIN_KEPT_SHARE = 0.8  # share of kept rows below which a cap is warned of


def ask_unit(draft: Draft) -> PrivacyUnit | None:
    """Ask who is protected; None while that is open.

    A declaration by the operator of a source can only be made stronger.
    """
    before = draft.schema.unit
    declared = draft.declared_unit
    # The widget keys contain the table, so that each table is asked about anew.
    table = f"{draft.dataset}-{before}"
    if declared is not None:
        st.info(
            _(
                "The operator of this source declared: {unit}. You cannot weaken "
                "this here."
            ).format(unit=escape_markdown(unit_words(declared), max_length=200)),
            icon=":material/lock:",
        )
        if declared.id_column is not None:
            return declared
        start = before.max_rows if before.covers(declared) else declared.max_rows
        return _ask_declared_cap(table, least=declared.max_rows, start=start)
    ways = {
        ONE_ROW: _("one row"),
        ROWS_NAMED_BY_COLUMN: _("several rows, and a column names the person"),
        DECLARED_MAX_ROWS: _(
            "several rows up to a maximum, and no column names the person"
        ),
    }
    way = widgets.ask_by_title(
        st.radio,
        _("A person has"),
        ways,
        index=list(ways).index(
            ROWS_NAMED_BY_COLUMN
            if before.id_column is not None
            else ONE_ROW
            if before.max_rows == 1
            else DECLARED_MAX_ROWS,
        ),
        help=_(GLOSSARY["privacy unit"]),
        key=f"unit-several-{table}",
        persist_state="session",
    )
    if way == ONE_ROW:
        return PrivacyUnit(max_rows=1)
    if way == DECLARED_MAX_ROWS:
        return _ask_declared_cap(table, least=1, start=before.max_rows)
    names = [str(name) for name in draft.frame.columns]
    name = st.selectbox(
        _("Column that names the person"),
        names,
        index=names.index(before.id_column) if before.id_column in names else 0,
        key=f"unit-column-{table}",
        persist_state="session",
    )
    return ask_rows_of_person(draft, name)


def ask_rows_of_person(draft: Draft, name: str) -> PrivacyUnit | None:
    """Ask how many rows of a person count, if a column names the person; None while
    that is open.
    """
    before = draft.schema.unit
    table = f"{draft.dataset}-{before}"
    cap = (
        FIND_PRIVATELY
        if before.found
        else before.max_rows
        if before.from_data
        else draft.cap
    )
    most = _ask_cap(table, cap)
    if most == FIND_PRIVATELY:
        last = before.max_rows if before.found else 1
        return PrivacyUnit(
            max_rows=last,
            id_column=name,
            found=_ask_whether_to_search(table, before.found),
        )
    return _named_unit(draft, name, most)


def _ask_whether_to_search(table: str, start: str) -> str:
    """Ask for the epsilon to find the rows per person with; return it as text."""
    epsilon: str = st.select_slider(
        _("Epsilon to spend on finding this number"),
        SEARCH_EPSILONS,
        value=start if start in SEARCH_EPSILONS else SEARCH_EPSILONS[-1],
        format_func=lambda each: number(float(Fraction(each))),
        key=f"unit-found-{table}",
        persist_state="session",
    )
    st.caption(
        _(
            "This is charged when the data set is opened. The program then finds, "
            "with noise, the smallest number among {caps} that about {share} of the "
            "people do not exceed. In 95 of 100 cases, this share is off by at most "
            "{people} people. If the table does not have many more people than that, "
            "choose a number yourself."
        ).format(
            caps=join_with_commas(map(number, CAPS_TO_FIND)),
            share=percent(float(QUANTILE_ORDER)),
            people=number(largest_quantile_error(PureDP(epsilon=epsilon))),
        ),
    )
    return epsilon


def _ask_cap(table: str, start: int | None) -> int | None:
    """Ask for the rows per person, from a public list; None while it is open."""
    names = {
        OTHER_NUMBER: _("another number"),
        FIND_PRIVATELY: _("find it with noise"),
    }
    options = [*OFFERED_CAPS, *names]
    cap: int | None = st.segmented_control(
        _("Maximum number of rows that count per person"),
        options,
        default=None if start is None else start if start in options else OTHER_NUMBER,
        format_func=lambda cap: names.get(cap, str(cap)),
        help=_(
            "Think of what a row means, not of this table. For example, few people "
            "stay in a hospital more than 3 times a year, or see a doctor more than "
            "5 times a month. A larger number keeps more of the table, but needs "
            "proportionally more noise."
        ),
        key=f"unit-cap-{table}",
        persist_state="session",
    )
    if cap != OTHER_NUMBER:
        return cap
    rows: int | None = st.number_input(
        _("How many rows?"),
        1,
        value=start,
        key=f"unit-rows-{table}",
        persist_state="session",
    )
    return rows


def _named_unit(draft: Draft, name: str, rows: int | None) -> PrivacyUnit | None:
    """Return the unit; mark it if figures of the rows were seen before the choice."""
    if not draft.has_rows:
        return None if rows is None else PrivacyUnit(max_rows=rows, id_column=name)
    if rows is None and not draft.row_figures_seen:
        st.button(
            _("How many rows each maximum keeps (internal, computed from the rows)"),
            on_click=setattr,
            args=(draft, "row_figures_seen", True),
        )
        return None
    if (
        not (draft.row_figures_seen or draft.schema.unit.from_data)
        and draft.cap is None
    ):
        draft.cap = rows
    draft.row_figures_seen = True
    _show_caps(draft, name, rows)
    if rows is None:
        return None
    unit = PrivacyUnit(max_rows=rows, id_column=name, from_data=rows != draft.cap)
    if unit.from_data:
        st.warning(
            _(
                "You saw figures from the rows before you chose this number. Every "
                "guarantee will say so."
            ),
            icon=":material/warning:",
        )
    return unit


def _show_caps(draft: Draft, name: str, rows: int | None) -> None:
    """Show the rows and people that each cap keeps, and its noise; internal."""
    caps = sorted({*OFFERED_CAPS, *([rows] if rows else [])})
    shares = facts.kept_shares_by_cap(draft, name, caps)
    if rows and shares["rows"][caps.index(rows)] < MIN_KEPT_SHARE:
        widgets.show_internal_badge()
        st.warning(
            _(
                "With at most {rows} per person, only {kept} of the rows count. "
                "Results then describe people rather than rows. Choose a larger "
                "number if the rows matter."
            ).format(kept=percent(shares["rows"][caps.index(rows)]), rows=rows),
            icon=":material/warning:",
        )
    with st.expander(
        _("How many rows each maximum keeps (internal, computed from the rows)"),
        expanded=rows is None,
    ):
        widgets.show_internal_badge()
        st.dataframe(
            pd.DataFrame(
                {
                    _("rows per person"): caps,
                    _("rows that count"): shares["rows"].map(percent),
                    _("people who keep all their rows"): shares["people"].map(percent),
                    _("error of a count at epsilon 1"): [
                        f"± {number(off)}" for off in shares["off"]
                    ],
                },
            ),
            hide_index=True,
            alt=_("Rows and people that each maximum keeps"),
        )


def _ask_declared_cap(table: str, *, least: int, start: int) -> PrivacyUnit:
    """Ask for a number of rows per person that cannot be checked."""
    rows = st.number_input(
        _("Maximum number of rows that count per person"),
        least,
        value=start,
        key=f"unit-most-{table}",
        persist_state="session",
    )
    if rows > 1:
        st.caption(
            _(
                "Nobody checks this number. A person with more rows than this is "
                "protected less. A larger number protects more, but needs "
                "proportionally more noise."
            )
        )
    return PrivacyUnit(max_rows=rows)
