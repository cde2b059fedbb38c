"""The Anonymize page of two linked files: people, and some of their events."""

from dataclasses import dataclass, field, replace
from functools import partial

import pandas as pd
import streamlit as st

from dpcore.anonymization.linked import LinkedPlan
from dpcore.curator import LinkedCurator
from dpcore.errors import LimitError
from dpcore.evaluation.table.audit import AuditReport
from dpcore.evaluation.table.linked_audit import LinkedAuditQuestion, LinkedAuditReport
from dpcore.evaluation.table.linked_proposals import (
    LinkedHierarchiesQuestion,
    LinkedRoles,
)
from dpcore.io.export import to_csv, to_parquet
from dpcore.release import AnonymizedPair
from dpcore.risk.roles import SuggestedRole
from dpcore.schema.schema import Schema
from dpcore.tables.rows import LinkedMicrodata
from workbench import session
from workbench.anonymize import plans
from workbench.anonymize.outcomes import count_versions
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import _, join, ngettext
from workbench.language.wording import (
    escape_markdown,
    limit_words,
    people_words,
    percent,
)
from workbench.report.files import file_name
from workbench.server.workers.callbacks import cancelled_by
from workbench.session.notes import DataSetState
from workbench.store.ledger.datasets import public_name
from workbench.store.policy import read_policy
from workbench.ui import (
    file_view,
    known_events_view,
    progress_view,
    verdict,
    widgets,
)

MAX_K = 1_000
MIN_UNIQUE_SHARE_SAID = 0.001  # of the people; fewer are not worth a warning
KNOWN_FIELD = known_events_view.ANONYMIZED_COLUMNS_FIELD


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a person asks for; the hierarchies of `known` are looked up later.

    Attributes:
        in_both_lists: columns that others may know, and that were to be left out.
    """

    known: tuple[str, ...]
    in_both_lists: tuple[str, ...] = field(compare=False)
    sensitive: tuple[str, ...]
    unchanged: tuple[str, ...]
    k: int
    known_events: int
    limit: float


@dataclass(kw_only=True)
class PairOutcome(DataSetState):
    """What is known of both anonymized tables; None until they are made.

    Attributes:
        asked: what was asked for.
        report: the risk of the people in the published tables, who are all audited.
    """

    asked: Asked | None = None
    report: AuditReport | None = None


@dataclass(kw_only=True)
class LeftOutProposal(DataSetState):
    """Columns that are proposed as not published, once known columns are chosen.

    Attributes:
        columns: the first proposal; None before it is made.
        known_before: columns that others may know, in the run before.
    """

    columns: list[str] | None = None
    known_before: list[str] = field(default_factory=list)


def show(linked: LinkedCurator) -> None:
    """Ask what others may know of people and events; make both tables k-anonymous."""
    st.badge(_("syntactic, no epsilon"), color="gray", icon=":material/blur_on:")
    roles = known_events_view.find_roles(linked)
    asked = _ask(linked, roles)
    for sentence in _publication_sentences(roles, asked, linked.linked.people_key):
        st.caption(sentence)
    st.button(
        _("Make both anonymized tables"),
        type="primary",
        disabled=not asked.known,
        on_click=_make,
        args=(linked, asked),
    )
    if not asked.known:
        st.info(_("Choose at least one column that others may know."))
    widgets.show_notice("anonymize")
    result = session.own(session.AnonymizePairResult)
    if result.made is not None and result.plan is not None:
        outcome = session.own(PairOutcome)
        if outcome.asked != asked:
            st.warning(
                _(
                    "These tables were made under earlier settings. Make them again, "
                    "or choose those settings again."
                )
            )
        _show_result(linked, outcome, result.made, result.plan)


def _ask(linked: LinkedCurator, roles: LinkedRoles) -> Asked:
    people_key = linked.linked.people_key
    columns = [role for role in roles.both if role.column != people_key]
    names = [role.column for role in columns]
    proposed = [name for name in roles.known if name != people_key]
    account = linked.people.account.dataset  # choices are for these files alone
    known = st.multiselect(
        _("What others may know about a person and about events"),
        names,
        proposed,
        key=KNOWN_FIELD.key,
        help=_(GLOSSARY["quasi-identifier"]),
        persist_state="session",
    )
    # Both lists keep all names as options: a name that is known for a while would be
    # lost from a list without it, and be published once it is not known any more.
    left_out_field = session.Widget[list[str]](f"anonymize-pair-left-out {account}")
    left_out_by_default = _propose_left_out(columns, known, left_out_field)
    left, right = st.columns(2)
    left_out = left.multiselect(
        _("Columns that are not published"),
        names,
        left_out_by_default,
        key=left_out_field.key,
        help=_(
            "Leave out names, and texts that may name people. A column that others "
            "may know is published instead, coarser if needed."
        ),
        persist_state="session",
    )
    sensitive = right.multiselect(
        _("What should stay unknown"),
        names,
        [role.column for role in columns if role.role == "sensitive"],
        key=f"anonymize-pair-sensitive {account}",
        help=_(GLOSSARY["sensitive attribute"]),
        persist_state="session",
    )
    number = known_events_view.ask_known_events(key="anonymize-pair-events")
    left, right = st.columns(2)
    k = left.number_input(
        _("Everybody is in a group of at least … (k)"),
        2,
        MAX_K,
        5,
        key="anonymize-pair-k",
        help=_(GLOSSARY["equivalence class"]),
    )
    limit = right.select_slider(
        _("People left out, at most"),
        plans.SUPPRESSION_LIMITS[:-1],
        0.02,
        format_func=limit_words,
        key="anonymize-pair-limit",
    )
    unchanged = [name for name in names if name not in (*known, *left_out)]
    return Asked(
        known=tuple(known),
        in_both_lists=tuple(name for name in left_out if name in known),
        sensitive=tuple(name for name in sensitive if name in unchanged),
        unchanged=tuple(unchanged),
        k=int(k),
        known_events=number,
        limit=float(limit),
    )


def _propose_left_out(
    columns: list[SuggestedRole], known: list[str], field: session.Widget[list[str]]
) -> list[str]:
    """Return the columns that are not published by default, unless others know them.

    A column that is not known any more is put into the field for left-out columns if it
    may name people.
    """
    proposal = session.own(LeftOutProposal)
    if_unknown = [
        role.column for role in columns if role.role in ("identifier", "undecided")
    ]
    if proposal.columns is None:
        proposal.columns = [name for name in if_unknown if name not in known]
    left_out = field.current_value()
    dropped = [
        name
        for name in if_unknown
        if name in proposal.known_before and name not in (*known, *(left_out or ()))
    ]
    if dropped and left_out is not None:
        field.put([*left_out, *dropped])
    proposal.known_before = known
    return proposal.columns


def _publication_sentences(
    roles: LinkedRoles, asked: Asked, people_key: str
) -> list[str]:
    """Return sentences on what both tables will hold, with the names of columns."""
    published = (*asked.known, *asked.unchanged, people_key)
    left_out = [role.column for role in roles.both if role.column not in published]
    lists = (
        (_("Published, coarser if needed: {columns}."), asked.known),
        (
            _("In both lists, so published, coarser if needed: {columns}."),
            asked.in_both_lists,
        ),
        (_("Published as they are: {columns}."), asked.unchanged),
        (_("Not published: {columns}."), left_out),
    )
    return [
        *(
            sentence.format(columns=join([*map(escape_markdown, names)]))
            for sentence, names in lists
            if names
        ),
        _(
            "How many events a person has is published too. A person gets a random "
            "name. Whoever would be in too small a group is left out with all events."
        ),
    ]


def _make(linked: LinkedCurator, asked: Asked) -> None:
    """Make both tables, and note them in the ledger."""
    result = session.own(session.AnonymizePairResult)
    outcome = session.own(PairOutcome)
    with session.keep_error("anonymize"):
        session.session().notices.pop("anonymize", None)
        hierarchies = session.evaluate_once(
            linked.people,
            ("hierarchies of both files", asked.known),
            partial(LinkedHierarchiesQuestion, columns=asked.known),
        )
        plan = LinkedPlan(
            hierarchies=hierarchies,
            unchanged_columns=asked.unchanged,
            k=asked.k,
            known_events=asked.known_events,
            limit=asked.limit,
        )
        smallest = read_policy().smallest_group(linked.people.schema.unit)
        with progress_view.wait_in_line(), cancelled_by(session.make_cancel_poll()):
            made = linked.anonymize(plan, smallest_group=smallest)
            outcome.report = _audit(linked, made, asked)
        outcome.asked = asked
        result.made, result.plan = made, plan


def _audit(linked: LinkedCurator, made: AnonymizedPair, asked: Asked) -> AuditReport:
    """Audit the published tables, which reads nothing private."""
    names = pd.Index(made.people.frame[linked.linked.people_key])
    rows = LinkedMicrodata(
        made.people.frame,
        events=made.events.frame.drop(columns=linked.linked.events_key),
        parents=names.get_indexer(made.events.frame[linked.linked.events_key]),
        left_out_rows=0,
    )
    question = LinkedAuditQuestion(
        quasi_identifiers=asked.known,
        sensitive=asked.sensitive,
        others=tuple(name for name in asked.unchanged if name not in asked.sensitive),
        known_events=asked.known_events,
        threshold=1 / asked.k,
        roles=LinkedRoles(people=(), events=()),
        hides_suppressed=False,  # no row is suppressed: `*` is the coarsest value
    )
    compute = partial(_compute_report, rows=rows, schema=linked.people.schema)
    try:
        return compute(question)
    except LimitError:  # events that differ in unchanged columns alone are too many
        pass
    try:
        return compute(replace(question, others=()))
    except LimitError:
        return compute(replace(question, others=(), sensitive=()))


def _compute_report(
    question: LinkedAuditQuestion, *, rows: LinkedMicrodata, schema: Schema
) -> AuditReport:
    found: LinkedAuditReport = progress_view.compute_in_worker(
        question.compute, rows, schema
    )
    return found.report


def _show_result(
    linked: LinkedCurator, outcome: PairOutcome, made: AnonymizedPair, plan: LinkedPlan
) -> None:
    """Show both tables, what they hold, and what they do not protect against."""
    asked, report = outcome.asked, outcome.report
    assert asked is not None
    assert report is not None
    st.success(_promise(asked, made, people_words(report.risk.k)))
    widgets.show_internal_badge()
    st.markdown(
        ngettext(
            "{number:,} person is left out, with all events.",
            "{number:,} people are left out, with all events.",
            made.left_out_people,
        )
    )
    widgets.show_table(_levels_table(plan, made), alt=_("How coarse each column is"))
    versions = count_versions(linked.people)
    for sentence in _warnings(asked, made, report, versions):
        st.warning(sentence, icon=":material/warning:")
    if report.secrets:
        st.dataframe(
            verdict.secrets_table(report),
            hide_index=True,
            alt=_("What groups give away"),
        )
    if st.button(_("Evaluate"), icon=":material/balance:"):
        session.leave_note(session.JudgeAnonymizedTable())
        st.switch_page(session.page_script("evaluate"))
    name = public_name(linked.people.lines())
    metadata = made.guarantee.as_metadata()
    for title, what, table in (
        (_("People"), "people", made.people),
        (_("Events"), "events", made.events),
    ):
        st.header(title)
        widgets.show_rows(table.frame.head(200), alt=title)
        file = f"anonymized {what} k {asked.k}"
        with st.container(horizontal=True):
            file_view.download(
                _("{table} (CSV)").format(table=title),
                partial(to_csv, table),
                file_name(name, file, "csv"),
            )
            file_view.download(
                _("{table} (Parquet)").format(table=title),
                partial(to_parquet, table, metadata),
                file_name(name, file, "parquet"),
            )


def _levels_table(plan: LinkedPlan, made: AnonymizedPair) -> pd.DataFrame:
    """Return how many values each column had, and has."""
    return pd.DataFrame(
        [
            {
                _("column"): name,
                _("values before"): len(hierarchy.values),
                _("values now"): len(hierarchy.labels(made.levels[name])),
            }
            for name, hierarchy in plan.hierarchies.items()
        ]
    )


def _known_of_events(asked: Asked, made: AnonymizedPair) -> list[str]:
    return [name for name in asked.known if name in made.events.frame]


def _promise(asked: Asked, made: AnonymizedPair, smallest: str) -> str:
    """Say who finds at least k people, and how many the smallest group has."""
    of_events = _known_of_events(asked, made)
    of_people = [name for name in asked.known if name not in of_events]
    known = [
        _("{columns} of a person").format(columns=join(of_people)) if of_people else "",
        ngettext(
            "{columns} of {number} event",
            "{columns} of {number} events",
            asked.known_events,
            columns=join(of_events),
        )
        if of_events
        else "",
    ]
    return _(
        "Whoever knows {known} finds a group of at least {k} people. The smallest "
        "group has {smallest}."
    ).format(
        known=escape_markdown(join([*filter(None, known)]), max_length=600),
        k=asked.k,
        smallest=smallest,
    )


def _warnings(
    asked: Asked, made: AnonymizedPair, report: AuditReport, versions: int
) -> list[str]:
    """Return sentences on what the tables do not protect against.

    Args:
        versions: how many different pairs were asked for, this one included.
    """
    sentences = [
        ngettext(
            "Whoever knows more than {number} event of a person may find fewer people.",
            "Whoever knows more than {number} events of a person may find fewer "
            "people.",
            asked.known_events,
        )
        if _known_of_events(asked, made)
        else _("Whoever knows something of a person's events may find fewer people.")
    ]
    revealed = [
        name for name, risk in report.secrets.items() if risk.homogeneous_classes
    ]
    if revealed:
        sentences.append(
            _("In some groups everybody has the same {columns}.").format(
                columns=escape_markdown(join(revealed), max_length=400)
            )
        )
    uniques = {
        name: report.uniques_after_change[name]
        for name in asked.unchanged
        if name in report.uniques_after_change
    }
    worst = max(uniques, key=lambda name: uniques[name], default="")
    if worst and uniques[worst] > MIN_UNIQUE_SHARE_SAID:
        sentences.append(
            _(
                "{share} of the people are unique for somebody who also knows "
                "{column}, which is published as it is."
            ).format(share=percent(uniques[worst]), column=escape_markdown(worst))
        )
    unmeasured = [
        name
        for name in asked.unchanged
        if name not in uniques and name not in report.secrets
    ]
    if unmeasured:
        sentences.append(
            _(
                "There are too many different events to say what {columns} would give "
                "away."
            ).format(columns=join([*map(escape_markdown, unmeasured)]))
        )
    if versions > 1:
        sentences.append(
            _(
                "Other versions of these tables were made before ({others} in all). "
                "Whoever has several can join them by columns that are published as "
                "they are, and may find fewer people. No budget accounts for that."
            ).format(others=versions - 1)
        )
    return sentences
