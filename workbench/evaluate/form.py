"""The form of the Evaluate page, which chooses the table to judge.

That is a release of the open data set, its anonymized table, or a file made
elsewhere.
"""

from dataclasses import dataclass, field

import pandas as pd
import streamlit as st

from dpcore.anonymization.plan import Plan
from dpcore.curator import Curator
from dpcore.evaluation.declared import fit_to_schema, meanings_of
from dpcore.release import Release
from dpcore.tables.rows import PublicTable
from workbench import session
from workbench.language.messages import (
    _,
    capital,
    commas,
    name_and_text,
    translate_stored,
)
from workbench.language.wording import percent, plain
from workbench.ui import file_view, releases, widgets

ANONYMIZED_KEY = "anonymized"
FILE_KEY = "file"


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """A table to judge.

    Attributes:
        key: text that changes with its rows.
        title: title for people.
        rows: the rows, unchanged.
        table: the columns and rows that fit the schema.
        release: source of the drawn rows; None for other tables.
        notes: sentences about parts that are not compared.
    """

    key: str
    title: str
    rows: pd.DataFrame
    table: PublicTable
    release: Release | None = None
    notes: tuple[str, ...] = ()


@dataclass(kw_only=True)
class EvaluateState(session.OfDataSet):
    """The state of the Evaluate page.

    Attributes:
        drawn: by the field that chose a release, its request id and number of rows, and
            these rows.
    """

    drawn: dict[str, tuple[tuple[str, int], PublicTable]] = field(default_factory=dict)


def choose(curator: Curator) -> Candidate | None:
    """Ask for the table to judge; None while there is none."""
    made = releases.list_releases(curator)
    shown = session.session().runs.shown
    if session.take_note(session.Judge) is not None:
        shown = ANONYMIZED_KEY
    titles = _titles(made)
    of_parts = sum(bool(line["part"]) for line in made)
    if of_parts:
        st.caption(
            _(
                "{count} releases of a part of the table are not offered here: next "
                "to the whole original they would look wrong where they are right."
            ).format(count=of_parts)
        )
    if len(titles) == 1 and not of_parts:
        st.info(_("There is no release of this data set yet."))
        st.page_link(session.page_script("synthesize"), icon=":material/arrow_forward:")
    index = list(titles).index(shown) if shown in titles else 0
    field = f"evaluate-release-{curator.account.dataset}-{len(titles)}"
    key = widgets.ask_by_title(
        st.selectbox, capital("release"), titles, index=index, key=field
    )
    return _candidate(curator, key, titles[key], field="evaluate-file", asks_rows=True)


def choose_other(curator: Curator, candidate: Candidate) -> Candidate | None:
    """Ask for another table to show next to it; None while none is chosen."""
    every = _titles(releases.list_releases(curator)).items()
    titles = {
        key: title
        for key, title in every
        if not candidate.key.startswith(key) or key == FILE_KEY
    }
    field = f"evaluate-other-{candidate.key[:16]}-{len(titles)}"
    key = widgets.ask_by_title(
        st.selectbox, _("Side by side"), titles, index=None, key=field
    )
    return (
        None
        if key is None
        else _candidate(curator, key, titles[key], field="evaluate-other-file")
    )


def short_titles(first: Candidate, second: Candidate) -> tuple[str, str]:
    """Return different names of two candidates, for one chart."""
    return (
        f"A: {plain(first.title, at_most=80)}",
        f"B: {plain(second.title, at_most=80)}",
    )


def _titles(made: list[dict[str, str]]) -> dict[str, str]:
    """Return the titles of all candidates, by key.

    Args:
        made: releases, as listed by `releases.list_releases`.
    """
    titles = {
        line["request_id"]: f"{line['what']} · {line['when']} UTC · {line['cost']}"
        for line in made
        if not line["part"]
    }
    table = session.own(session.AnonymizeResult).table
    if table is not None:
        titles[ANONYMIZED_KEY] = name_and_text(
            _("Anonymized table"), translate_stored(*table.guarantee.models)
        )
    titles[FILE_KEY] = _("A file made elsewhere")
    return titles


def _candidate(
    curator: Curator,
    key: str,
    title: str,
    *,
    field: str,
    asks_rows: bool = False,
) -> Candidate | None:
    """Return the chosen candidate.

    Args:
        field: key of the field for a file.
        asks_rows: whether to ask for the rows to draw.
    """
    if key == FILE_KEY:
        frame = file_view.table_uploader(
            _("The synthetic or anonymized table, with the headers of the original"),
            key=field,
        )
        return (
            None
            if frame is None
            else uploaded_candidate(
                curator, f"{FILE_KEY}-{digest(frame)}", title, frame
            )
        )
    made = session.own(session.AnonymizeResult).table
    if key == ANONYMIZED_KEY and made is not None:
        frame = made.table.frame
        return uploaded_candidate(
            curator,
            f"{ANONYMIZED_KEY}-{digest(frame)}",
            title,
            frame,
            Plan.from_json(made.plan),
        )
    release = curator.release(key)
    if not release.model.columns:
        st.info(_("This release has no columns to compare: it holds numbers only."))
        return None
    own = rows = max(0, round(release.model.total))
    if asks_rows:
        rows = st.number_input(
            capital("rows"),
            0,
            1_000_000,
            min(own, 1_000_000),
            key=f"evaluate-rows-{key[:16]}",
        )
    table = _draw_rows(release, int(rows), field)
    key = key if rows == own else f"{key}-{rows}"
    return Candidate(
        key=key, title=title, rows=table.frame, table=table, release=release
    )


def _draw_rows(release: Release, rows: int, field: str) -> PublicTable:
    """Draw the candidate's rows once, and keep them while it is chosen.

    Args:
        field: key of the field of the choice.
    """
    of = (release.request_id, rows)
    drawn = session.own(EvaluateState).drawn
    if field not in drawn or drawn[field][0] != of:
        with st.spinner(_("Computing"), show_time=True):
            drawn[field] = of, release.sample_table(rows, seed=0)
    return drawn[field][1]


def uploaded_candidate(
    curator: Curator,
    key: str,
    title: str,
    frame: pd.DataFrame,
    plan: Plan | None = None,
) -> Candidate:
    """Return a candidate for a table from elsewhere, if it fits the schema."""
    declared = fit_to_schema(
        frame, curator.schema, meanings_of(plan.hierarchies) if plan else None
    )
    notes = []
    if declared.left_out:
        notes.append(
            _(
                "Not compared, because most values are none of those declared: "
                "{columns}."
            ).format(
                columns=commas(plain(name) for name in declared.left_out),
            ),
        )
    if declared.spread or declared.rows_left_out:
        notes.append(
            capital(
                _(
                    "A label that stands for several values, such as an interval or "
                    "*, was read as these values, evenly spread; {share} of the rows "
                    "have another value that is not declared, and are not compared."
                ).format(share=percent(declared.rows_left_out))
            )
        )
    return Candidate(
        key=key,
        title=title,
        rows=frame,
        table=PublicTable(declared.frame),
        notes=tuple(notes),
    )


def digest(frame: pd.DataFrame) -> str:
    """Return a digest of the rows that ignores their order."""
    return f"{pd.util.hash_pandas_object(frame, index=False).sum():x}-{len(frame)}"
