"""The form of the Evaluate page, which chooses the table to judge.

That is a release of the open data set, its anonymized table, or a file made
elsewhere.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import streamlit as st

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.plan import Plan
from dpcore.curator import Curator, LinkedCurator
from dpcore.evaluation import HierarchiesQuestion
from dpcore.evaluation.declared import (
    DeclaredTable,
    LabeledColumn,
    Meanings,
    fit_to_schema,
    label_meanings,
)
from dpcore.evaluation.utility.event_pairs import (
    choose_event_pairs,
    columns_of_one_value,
    event_pair_schema,
    name_of_other_event,
)
from dpcore.release import AnonymizedPair, Release
from dpcore.schema.linked import NUMBER_OF_EVENTS
from dpcore.schema.values import as_text
from dpcore.synthesis.release.linked import LinkedRelease
from dpcore.tables.rows import PublicTable
from workbench import session
from workbench.language.columns import join_parts, split_parts
from workbench.language.messages import (
    _,
    capital,
    join_with_commas,
    name_and_text,
    translate_stored,
)
from workbench.language.wording import escape_markdown, percent
from workbench.server.workers import reading
from workbench.store.ledger.datasets import DataSet
from workbench.ui import file_view, releases, widgets

ANONYMIZED_KEY = "anonymized"
ANONYMIZED_PAIR_KEY = "anonymized pair"
FILE_KEY = "file"
MAX_UNKNOWN_SHARE = 0.05
"""Share of the rows with texts of unknown meaning up to which a file is judged."""
MAX_PEOPLE_DRAWN = 200_000
"""People of a pair that are drawn to compare with the original."""
MAX_LABELS_ASKED = 40
"""Labels of a column that are asked about, the most frequent ones."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """A table to judge.

    Attributes:
        key: text that changes with its rows.
        title: title for people.
        rows: the rows, unchanged.
        table: the columns and rows that fit the schema.
        release: source of the drawn rows; None for other tables.
        labels: its columns with labels of several values.
        notes: sentences about parts that are not compared.
    """

    key: str
    title: str
    rows: pd.DataFrame
    table: PublicTable
    release: Release | None = None
    labels: Mapping[str, LabeledColumn] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def columns_of_one_label(self) -> tuple[str, ...]:
        """Columns with the same label of several values in every row."""
        return tuple(name for name, own in self.labels.items() if own.is_one_label)


@dataclass(frozen=True, kw_only=True, eq=False)
class PairCandidate:
    """Two linked tables to judge: both tables of one drawing, or both anonymized ones.

    Attributes:
        key: id of the release of both, or `ANONYMIZED_PAIR_KEY` and a digest.
        title: title for people.
        release: source of both tables; None for anonymized ones.
        people: the people, with their number of events.
        events: the events that count, with the columns of their people.
        event_pairs: two events of each person, as `choose_event_pairs` returns them.
        broken_links: as `count_broken_links` says.
        left_out_share: share of the people who were left out. Private.
    """

    key: str
    title: str
    release: LinkedRelease | None
    people: Candidate
    events: Candidate
    event_pairs: PublicTable
    broken_links: int
    left_out_share: float

    @property
    def columns_of_one_label(self) -> tuple[str, ...]:
        """Columns of both tables with the same label of several values in every row."""
        columns = (*self.people.columns_of_one_label, *self.events.columns_of_one_label)
        return tuple(dict.fromkeys(columns))


@dataclass(kw_only=True)
class EvaluateState(session.DataSetState):
    """The state of the Evaluate page.

    Attributes:
        drawn_rows: by the field that chose a release, its request id and number of rows, and
            these rows.
        drawn_pair: the last pair that was chosen.
        judged_pair: the last anonymized tables that were chosen as a pair.
        meanings: by the key of a file, what its labels stand for, as a person said.
        read_tables: by the digest of a table from elsewhere and what its labels stand for,
            this table read by the schema.
    """

    drawn_rows: dict[str, tuple[tuple[str, int], PublicTable]] = field(
        default_factory=dict
    )
    drawn_pair: PairCandidate | None = None
    judged_pair: AnonymizedPair | None = None
    meanings: dict[str, dict[str, dict[str, list[str | None]]]] = field(
        default_factory=dict
    )
    read_tables: dict[tuple[str, str, tuple[str, ...]], DeclaredTable] = field(
        default_factory=dict
    )


def choose_candidate(curator: Curator) -> Candidate | PairCandidate | None:
    """Ask for the table or the pair to judge; return None until there is one."""
    made = releases.list_releases(curator)
    shown = session.session().runs.shown_request_id
    data_set = session.session().data_set
    linked = session.session().linked
    if session.take_note(session.JudgeAnonymizedTable) is not None:
        shown = ANONYMIZED_KEY if linked is None else ANONYMIZED_PAIR_KEY
    pairs = releases.list_pairs(data_set) if data_set and linked else []
    titles = (
        _release_titles(pairs) | _anonymized_pair_titles() | _candidate_titles(made)
    )
    of_parts = sum(bool(line["part"]) for line in made)
    if of_parts:
        st.caption(
            _(
                "Releases of only a part of the table are not offered here "
                "({count}). Compared with the whole original, they would look "
                "wrong although they are right."
            ).format(count=of_parts)
        )
    if len(titles) == 1 and not of_parts:
        st.info(_("There is no release of this data set yet."))
        st.page_link(session.page_script("synthesize"), icon=":material/arrow_forward:")
    index = list(titles).index(shown) if shown in titles else 0
    field = f"evaluate-release-{session.table_key(curator)}-{len(titles)}"
    key = widgets.ask_by_title(
        st.selectbox, capital("release"), titles, index=index, key=field
    )
    if linked is not None and key == ANONYMIZED_PAIR_KEY:
        return _read_anonymized_pair(linked, titles[key])
    if data_set is not None and any(line["request_id"] == key for line in pairs):
        return _draw_pair(data_set, key, titles[key])
    return _ask_for_candidate(
        curator, key, titles[key], field="evaluate-file", asks_rows=True
    )


def _draw_pair(data_set: DataSet, key: str, title: str) -> PairCandidate:
    """Draw both tables of a release once, and keep them while it is chosen."""
    state = session.own(EvaluateState)
    if state.drawn_pair is None or state.drawn_pair.key != key:
        release = releases.load_pair(data_set, key)
        people = min(max(0, round(release.people.model.total)), MAX_PEOPLE_DRAWN)
        with st.spinner(_("Drawing rows of this release"), show_time=True):
            drawn = release.draw_tables(people, seed=0)
        halves = {
            view: Candidate(
                key=f"{key} {view} of both",
                title=title,
                rows=frame,
                table=PublicTable(frame),
                release=release.halves[view],
            )
            for view, frame in (
                ("people", drawn.people_view),
                ("events", drawn.events_view),
            )
        }
        state.drawn_pair = PairCandidate(
            key=key,
            title=title,
            release=release,
            event_pairs=PublicTable(
                choose_event_pairs(
                    drawn.events,
                    pd.factorize(drawn.events.iloc[:, 0])[0],
                    columns_of_one_value(release.events.schema),
                )
            ),
            broken_links=count_broken_links(release, drawn.people, drawn.events),
            left_out_share=0.0,
            people=halves["people"],
            events=halves["events"],
        )
    return state.drawn_pair


def _read_anonymized_pair(linked: LinkedCurator, title: str) -> PairCandidate:
    """Return both anonymized tables as the two views, once while they are chosen.

    Of each person as many events are taken, by chance, as count in releases.
    """
    result = session.own(session.AnonymizePairResult)
    state = session.own(EvaluateState)
    made, plan = result.made, result.plan
    assert made is not None
    assert plan is not None
    if (
        state.judged_pair is made
        and state.drawn_pair is not None
        and state.drawn_pair.release is None
    ):
        return state.drawn_pair
    digests = [digest(table.frame) for table in (made.people, made.events)]
    key = "-".join([ANONYMIZED_PAIR_KEY, *digests])
    unit = linked.linked.events.unit
    people = made.people.frame.drop(columns=linked.linked.people_key)
    owner = pd.Index(made.people.frame[linked.linked.people_key]).get_indexer(
        made.events.frame[linked.linked.events_key]
    )
    events = made.events.frame.drop(columns=linked.linked.events_key)
    order = np.random.default_rng(0).permutation(len(events))
    counts = np.bincount(owner, minlength=len(people)).clip(max=unit.max_rows)
    people = people.assign(**{NUMBER_OF_EVENTS: counts})
    places = pd.Series(owner[order]).groupby(owner[order]).cumcount().to_numpy()
    counted = np.sort(order[places < unit.max_rows])
    of_person = people.iloc[owner[counted]].reset_index(drop=True)
    events = events.iloc[counted].reset_index(drop=True)
    meanings = label_meanings(plan.hierarchies)
    frames = {
        "people": (linked.people, people),
        "events": (linked.events, pd.concat([of_person, events], axis="columns")),
    }
    halves = {
        view: candidate_of_table(
            f"{key} {view}",
            title,
            frame,
            _read_once(curator, f"{key} {view}", frame, meanings, left_out_columns=()),
        )
        for view, (curator, frame) in frames.items()
    }
    columns = columns_of_one_value(linked.linked.events)
    pairs = choose_event_pairs(events, owner[counted], columns)
    again = {name_of_other_event(name): own for name, own in meanings.items()}
    declared = fit_to_schema(
        pairs,
        event_pair_schema(linked.events.schema, columns),
        {**meanings, **again},
    )
    state.drawn_pair = PairCandidate(
        key=key,
        title=title,
        release=None,
        event_pairs=PublicTable(declared.frame),
        broken_links=int(
            made.people.frame[linked.linked.people_key].duplicated().sum()
            + (owner < 0).sum()
        ),
        left_out_share=made.left_out_people / (len(people) + made.left_out_people),
        people=halves["people"],
        events=halves["events"],
    )
    state.judged_pair = made
    return state.drawn_pair


def count_broken_links(
    release: LinkedRelease, people: pd.DataFrame, events: pd.DataFrame
) -> int:
    """Count rows that do not fit together: keys twice, or events too many or of nobody.

    Args:
        release: names the keys, and says how many events a person has at most.
        people: drawn people with their key.
        events: drawn events with the key of the person.
    """
    unit = release.events.schema.unit
    owners = people[release.people.schema.unit.id_column]
    keys = events[unit.id_column]
    too_many = (keys.value_counts() - unit.max_rows).clip(lower=0).sum()
    return int(owners.duplicated().sum() + (~keys.isin(owners)).sum() + too_many)


def choose_other(curator: Curator, candidate: Candidate) -> Candidate | None:
    """Ask for another table to show side by side; return None until one is chosen."""
    every = _candidate_titles(releases.list_releases(curator)).items()
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
        else _ask_for_candidate(curator, key, titles[key], field="evaluate-other-file")
    )


def short_titles(first: Candidate, second: Candidate) -> tuple[str, str]:
    """Return distinct titles of two candidates, short enough for one chart."""
    return (
        f"A: {escape_markdown(first.title, max_length=80)}",
        f"B: {escape_markdown(second.title, max_length=80)}",
    )


def _candidate_titles(listed_releases: list[dict[str, str]]) -> dict[str, str]:
    """Return the titles of all candidates, by key.

    Args:
        listed_releases: releases, as listed by `releases.list_releases`.
    """
    titles = _release_titles(listed_releases)
    table = session.own(session.AnonymizeResult).table
    if table is not None:
        titles[ANONYMIZED_KEY] = name_and_text(
            _("Anonymized table"), translate_stored(*table.guarantee.models)
        )
    titles[FILE_KEY] = _("A file made elsewhere")
    return titles


def _anonymized_pair_titles() -> dict[str, str]:
    """Return the title of both anonymized tables, if they are made."""
    made = session.own(session.AnonymizePairResult).made
    if made is None:
        return {}
    title = name_and_text(
        _("Both anonymized tables"), translate_stored(*made.guarantee.models)
    )
    return {ANONYMIZED_PAIR_KEY: title}


def _release_titles(listed_releases: list[dict[str, str]]) -> dict[str, str]:
    """Return the titles of releases of the whole table, by request id."""
    return {
        line["request_id"]: f"{line['what']} · {line['when']} UTC · {line['cost']}"
        for line in listed_releases
        if not line["part"]
    }


def _ask_for_candidate(
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
    made = session.own(session.AnonymizeResult).table
    if key == FILE_KEY:
        frame = file_view.table_uploader(
            _(
                "The synthetic or anonymized table, with the column names of the "
                "original"
            ),
            key=field,
        )
        if frame is None:
            return None
        content = digest(frame)
        if made is not None and digest(made.table.frame) == content:
            plan: Plan | None = Plan.from_json(made.plan)
        else:
            plan = _ask_for_plan(f"{field}-plan-{content}")
        return _ask_about_labels(curator, content, title, frame, plan)
    if key == ANONYMIZED_KEY and made is not None:
        frame = made.table.frame
        plan = Plan.from_json(made.plan)
        content = digest(frame)
        declared = _read_once(
            curator,
            content,
            frame,
            label_meanings(plan.hierarchies),
            left_out_columns=(),
        )
        return candidate_of_table(f"{ANONYMIZED_KEY}-{content}", title, frame, declared)
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
    """Draw the rows of a release once, and keep them while it is chosen.

    Args:
        field: key of the field of the choice.
    """
    of = (release.request_id, rows)
    drawn = session.own(EvaluateState).drawn_rows
    if field not in drawn or drawn[field][0] != of:
        with st.spinner(_("Drawing rows of this release"), show_time=True):
            drawn[field] = of, release.sample_table(rows, seed=0)
    return drawn[field][1]


def _ask_for_plan(key: str) -> Plan | None:
    """Ask for the plan by which a file was anonymized; None without one."""
    with st.expander(_("Was the file anonymized with a plan of this program?")):
        file = file_view.file_uploader(
            _("Plan (JSON, internal)"), type=["json"], key=key
        )
        if file is None:
            st.caption(
                _("The plan says what labels such as “Secondary” or “*” stand for.")
            )
            return None
        with widgets.catch_and_show_errors():
            return reading.read_plan(file.getvalue())


def _read_once(
    curator: Curator,
    content: str,
    frame: pd.DataFrame,
    meanings: Meanings,
    *,
    left_out_columns: tuple[str, ...],
) -> DeclaredTable:
    """Read a table from elsewhere by the schema; keep it while the data set is open.

    Args:
        content: digest of the table.
        meanings: what its labels stand for.
        left_out_columns: columns that are left out as a whole.
    """
    read = session.own(EvaluateState).read_tables
    key = (content, json.dumps(meanings, sort_keys=True), left_out_columns)
    if key not in read:
        with st.spinner(_("Reading the table"), show_time=True):
            read[key] = fit_to_schema(
                frame, curator.schema, meanings, excluded=left_out_columns
            )
    return read[key]


def _ask_about_labels(
    curator: Curator, content: str, title: str, frame: pd.DataFrame, plan: Plan | None
) -> Candidate | None:
    """Return a file as a candidate, or None until its unknown labels are explained.

    A verdict about the rows that were not changed would be one about another table.

    Args:
        content: digest of the file's table.
    """
    key = f"{FILE_KEY}-{content}"
    said = dict(label_meanings(plan.hierarchies)) if plan is not None else {}
    declared = _read_once(curator, content, frame, said, left_out_columns=())
    if declared.unknown_row_share > MAX_UNKNOWN_SHARE:
        answered = session.own(EvaluateState).meanings
        if key not in answered:
            _show_label_question(curator, key, frame, declared)
            return None
        said = {
            name: {**said.get(name, {}), **answered[key].get(name, {})}
            for name in {*said, *answered[key]}
        }
        told = _read_once(curator, content, frame, said, left_out_columns=())
        # Leave out columns with unexplained labels: their other rows are not a fair
        # sample of the column.
        declared = _read_once(
            curator, content, frame, said, left_out_columns=tuple(told.unknown_texts)
        )
    # The key depends on how the file was read: read in another way, it is another
    # table.
    key = f"{key}-{digest(declared.frame)}"
    return candidate_of_table(key, title, frame, declared)


def _show_label_question(
    curator: Curator,
    key: str,
    frame: pd.DataFrame,
    declared: DeclaredTable,
) -> None:
    """Ask what the unknown labels of a file stand for."""
    shown = [
        (name, label)
        for name, labels in declared.unknown_texts.items()
        for label in labels[:MAX_LABELS_ASKED]
    ]
    names = tuple(name for name in declared.unknown_texts if name in frame)
    hierarchies: dict[str, Hierarchy] = session.evaluate_once(
        curator, ("hierarchies", names), lambda: HierarchiesQuestion(columns=names)
    )
    suggested = label_meanings(hierarchies)
    st.warning(
        _(
            "{share} of the rows contain a text that is not a value of its column. "
            "To get a verdict, say what these texts stand for: without these rows, "
            "only the unchanged part of the table would be judged."
        ).format(share=percent(declared.unknown_row_share))
    )
    lines = pd.DataFrame(
        [
            {
                _("column"): name,
                _("text"): label,
                _("stands for (values, separated by |)"): join_parts(
                    str(leaf)
                    for leaf in suggested.get(name, {}).get(label, ())
                    if leaf is not None
                ),
            }
            for name, label in shown
        ]
    )
    edited = st.data_editor(
        lines,
        hide_index=True,
        disabled=list(lines.columns[:2]),
        key=f"labels-{key[:24]}",
        width="stretch",
        alt=_("Values that each label stands for"),
    )
    st.caption(
        _(
            "The meanings from the suggested levels of *Anonymize* are filled in. A "
            "column with an unexplained text is left out of the comparison."
        )
    )
    if st.button(_("Use these meanings"), type="primary"):
        meanings: dict[str, dict[str, list[str | None]]] = {}
        for (name, label), text in zip(shown, edited.iloc[:, 2], strict=True):
            values = split_parts(str(text or ""))
            if values:
                meanings.setdefault(name, {})[label] = [*values]
        session.own(EvaluateState).meanings[key] = meanings
        st.rerun()


def candidate_of_table(
    key: str, title: str, frame: pd.DataFrame, declared: DeclaredTable
) -> Candidate:
    """Return a table from elsewhere as a candidate, with notes on what does not fit."""
    notes = []
    if declared.left_out_columns:
        notes.append(
            _(
                "These columns are not compared, because most of their values were "
                "not declared: {columns}."
            ).format(
                columns=join_with_commas(
                    escape_markdown(name) for name in declared.left_out_columns
                ),
            ),
        )
    if declared.has_spread_labels or declared.left_out_row_share:
        notes.append(
            capital(
                _(
                    "Rows with a label for several values, such as an interval or "
                    "*, were spread evenly over these values. {share} of the rows "
                    "have a value that was not declared and are not compared."
                ).format(share=percent(declared.left_out_row_share))
            )
        )
    return Candidate(
        key=key,
        title=title,
        rows=frame,
        table=PublicTable(declared.frame),
        labels=declared.labels,
        notes=tuple(notes),
    )


def digest(frame: pd.DataFrame) -> str:
    """Return a digest of the rows that does not depend on their order or types."""
    texts = pd.DataFrame(
        {str(name): as_text(frame[name]) for name in sorted(frame, key=str)}
    )
    return f"{pd.util.hash_pandas_object(texts, index=False).sum():x}-{len(frame)}"
