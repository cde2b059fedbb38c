"""The state of one browser tab; the only module that touches session state.

It ends with the tab.
"""

import dataclasses
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import pandas as pd
import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit.runtime.scriptrunner import ScriptRunContext, get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dpcore.curator import Curator, LinkedCurator
from dpcore.errors import DpcoreError
from dpcore.evaluation.base import Evaluation
from dpcore.evaluation.first_rows import FIRST_ROWS
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.release import InternalReport
from workbench.language.catalogues import ENGLISH, choose_language
from workbench.language.messages import set_language_of_tab
from workbench.server.web import guard, holders, tabs
from workbench.server.workers.callbacks import cancelled_by
from workbench.session.draft import Draft, LinkedDraft
from workbench.session.draft import TableChoice as TableChoice
from workbench.session.notes import LINKED_KIND as LINKED_KIND
from workbench.session.notes import AnonymizePairResult as AnonymizePairResult
from workbench.session.notes import AnonymizeResult as AnonymizeResult
from workbench.session.notes import BringPair as BringPair
from workbench.session.notes import BringTable as BringTable
from workbench.session.notes import DataSetState as DataSetState
from workbench.session.notes import GoTo as GoTo
from workbench.session.notes import JudgeAnonymizedTable as JudgeAnonymizedTable
from workbench.session.notes import OfferTable as OfferTable
from workbench.session.notes import OpenAsProposed as OpenAsProposed
from workbench.session.notes import PlanRelease as PlanRelease
from workbench.session.notes import ShowExactTable as ShowExactTable
from workbench.session.notes import ShowRelease as ShowRelease
from workbench.session.notes import TakeAdvice as TakeAdvice
from workbench.session.notes import TakePlan as TakePlan
from workbench.session.notes import TrySurvey as TrySurvey
from workbench.session.notes import UnreadFile as UnreadFile
from workbench.session.person import ledger as ledger
from workbench.session.run import Runs
from workbench.store import start
from workbench.store.ledger import datasets
from workbench.store.ledger.datasets import DataSet, Declaration
from workbench.store.settings import APP_FOLDER

# keep uploads in memory while they arrive, so that no temporary file holds rows
MultiPartParser.spool_max_size = 2**40
Result = TypeVar("Result")
Value = TypeVar("Value")
PAGES = APP_FOLDER / "pages"
"""The scripts of the pages.

`workbench/navigation.py` is not beside them: Streamlit takes a folder named pages/
beside the main script for its older way of making pages.
"""
ResultKey = tuple[Hashable, ...]
"""Under which a result is kept: what was computed, and of what."""


@dataclass(frozen=True, kw_only=True)
class OpenTable:
    """A table that is open in this tab, behind its curator.

    Attributes:
        size: bytes of its rows.
        linked: of two linked tables, of which `curator` is one view; None for one table.
    """

    curator: Curator
    size: int
    linked: LinkedCurator | None = None


@dataclass(kw_only=True)
class _FileFieldCounter:
    """Number of files read so far by the fields of this tab."""

    files_read: int = 0


@dataclass(kw_only=True, eq=False)
class Session:
    """State shared by the pages of one tab, with a slot for each page.

    Attributes:
        data_sets: data sets of this tab, by fingerprint, with or without rows.
        open_tables: the rows of those that are open, by fingerprint.
        current_dataset: fingerprint of the data set that the pages work on.
        draft: a table on its way to being opened.
        linked_draft: two tables on their way to being opened together, of which `draft`
            is one; None without a second.
        second_tables: second tables, such as an attacker's list, with their names, by the
            field that read them.
        runs: releases that this tab makes and shows.
        reports: internal reports computed so far, and results of public numbers.
        uses_first_rows: whether the first rows stand for all, if all do not fit.
        notices: errors to show, by the page or field where they happened.
        page: name in the address of the page that is shown.
        slots: states of pages, and notes from one page to another, one of each class.
        tab: id of the tab; empty outside of any.
        last_used: time of the last click here, on the monotonic clock.
        dropped_tables: names of the tables that were dropped from an idle tab; None for an
            earlier session that this browser requested, and that has ended.
        language: language of its pages.
    """

    data_sets: dict[str, DataSet] = field(default_factory=dict)
    open_tables: dict[str, OpenTable] = field(default_factory=dict)
    current_dataset: str | None = None
    draft: Draft | None = None
    linked_draft: LinkedDraft | None = None
    second_tables: dict[str, tuple[str, pd.DataFrame]] = field(default_factory=dict)
    runs: Runs = field(default_factory=Runs)
    reports: dict[ResultKey, object] = field(default_factory=dict)
    uses_first_rows: bool = False
    notices: dict[str, Exception] = field(default_factory=dict)
    page: str = ""
    slots: dict[type, object] = field(default_factory=dict)
    tab: str = ""
    last_used: float = field(default_factory=time.monotonic)
    dropped_tables: tuple[str, ...] | None = ()
    language: str = ENGLISH

    @property
    def data_set(self) -> DataSet | None:
        """Current data set; None if there is none."""
        return self.data_sets.get(self.current_dataset or "")

    @property
    def curator(self) -> Curator | None:
        """Curator of the current data set; None if its rows are not open in this
        tab.
        """
        table = self.open_tables.get(self.current_dataset or "")
        return None if table is None else table.curator

    @property
    def linked(self) -> LinkedCurator | None:
        """Curator of two linked tables, if these are the current data set and open."""
        table = self.open_tables.get(self.current_dataset or "")
        return None if table is None else table.linked

    def add_data_set(
        self,
        curator: Curator,
        declaration: Declaration,
        *,
        size: int,
        linked: LinkedCurator | None = None,
    ) -> None:
        """Store the declaration of an opened data set, and make the data set current.

        Args:
            size: bytes of its rows.
            linked: of two linked tables, of which `curator` is one view.
        """
        dataset = curator.account.dataset
        datasets.store_declaration(declaration, dataset, ledger())
        self.open_tables[dataset] = OpenTable(curator=curator, size=size, linked=linked)
        self.enter(
            DataSet(account=curator.account, declaration=declaration, ledger=ledger())
        )

    def look_at(self, view: str) -> None:
        """Work on the other view of two linked tables, "people" or "events"."""
        dataset = self.current_dataset or ""
        table = self.open_tables[dataset]
        assert table.linked is not None  # the switch is shown for linked tables alone
        curator = getattr(table.linked, view)
        self.open_tables[dataset] = dataclasses.replace(table, curator=curator)
        data_set = self.data_sets[dataset]
        assert data_set.declaration is not None
        self.data_sets[dataset] = dataclasses.replace(
            data_set,
            declaration=dataclasses.replace(
                data_set.declaration, schema=curator.schema
            ),
        )
        self._forget_results()

    def enter(self, data_set: DataSet) -> None:
        """Make a data set the current one, and drop the draft."""
        self.data_sets[data_set.id] = data_set
        self.choose(data_set.id)
        self.drop_draft()
        self.slots.pop(TableChoice, None)
        self.notices.clear()

    def drop_draft(self) -> None:
        """Forget the table that was declared, and a second one beside it."""
        self.draft = None
        self.linked_draft = None

    def remove(self, dataset: str) -> None:
        """Forget a data set that now belongs to somebody else."""
        self.open_tables.pop(dataset, None)
        self.data_sets.pop(dataset, None)
        self.choose("")

    def choose(self, dataset: str) -> None:
        """Work on another data set of this tab, and forget results of the last one."""
        self.current_dataset = dataset
        self.runs.show(None)
        self.uses_first_rows = False
        self._forget_results()

    def _forget_results(self) -> None:
        """Forget the results computed from the rows of the current data set."""
        # use a new dict: the page run that this click ends may still write into the old
        # one
        self.reports = {}
        self.slots = {
            kind: state
            for kind, state in self.slots.items()
            if not issubclass(kind, DataSetState)
        }

    def own(self, kind: type[Value]) -> Value:
        """Return a page's state in this tab, made at its first use.

        Args:
            kind: its class, which no other page uses; a subclass of `OfDataSet` ends
                with the data set.
        """
        if kind not in self.slots:
            self.slots[kind] = kind()
        return cast(Value, self.slots[kind])

    def use_first_rows(self, uses_first_rows: bool) -> None:
        """Set whether the first rows stand for all rows; forget earlier results."""
        self.uses_first_rows = uses_first_rows
        self._forget_results()

    def drop_second_table(self, key: str) -> None:
        """Forget the second table that an upload field has read."""
        self.second_tables.pop(key, None)

    def table_sizes(self) -> list[int]:
        """Return the bytes of each table in this tab."""
        drafts = [self.draft.memory_bytes()] if self.draft else []
        if self.linked_draft:
            drafts = self.linked_draft.memory_bytes()
        unread = self.slots.get(UnreadFile)
        files = [len(unread.data)] if isinstance(unread, UnreadFile) else []
        return [
            *(table.size for table in self.open_tables.values()),
            *drafts,
            *files,
        ]

    def is_busy(self) -> bool:
        """Return whether this tab is computing a release."""
        return self.runs.is_busy()

    def drop_tables(self) -> None:
        """Forget all rows and the results from them; the ledger and releases stay."""
        self.dropped_tables = tuple(
            table.curator.name for table in self.open_tables.values()
        )
        if self.draft is not None:
            self.dropped_tables += (self.draft.name,)
        self.drop_draft()
        self.slots.pop(UnreadFile, None)
        self.runs.show(None)
        self._forget_results()
        self.open_tables.clear()
        self.second_tables.clear()


def session() -> Session:
    """Return the state of this tab.

    Streamlit ends a run here if another one is waiting.
    """
    state: Session | None = st.session_state.get(holders.SESSION_KEY)
    if state is None:
        _need_guard()
        context = get_script_run_ctx(suppress_warning=True)
        tab = context.session_id if context else ""
        lost = None if tabs.LOST_HEADER in st.context.headers else ()
        language = choose_language(
            st.query_params.get("lang"), st.context.headers.get("Accept-Language", "")
        )
        state = st.session_state[holders.SESSION_KEY] = Session(
            tab=tab, dropped_tables=lost, language=language
        )
        holders.register_holder(state)
    state.last_used = time.monotonic()
    return state


def table_key(curator: Curator, linked: LinkedCurator | None = None) -> str:
    """Return what the keys of a table's widgets hold: its fingerprint, and its view if
    it is one of two linked tables.

    Args:
        linked: the linked tables; those of this tab if left out.
    """
    dataset = curator.account.dataset
    linked = linked or session().linked
    view = view_of(curator, linked)
    return f"{dataset} {view}" if view else dataset


def view_of(curator: Curator | None, linked: LinkedCurator | None) -> str:
    """Return which view of linked tables a curator holds, or "" for none."""
    if linked is None or curator is None:
        return ""
    return {linked.people: "people", linked.events: "events"}.get(curator, "")


def own(kind: type[Value]) -> Value:
    """Return a page's state in this tab; see `Session.own`."""
    return session().own(kind)


def page_script(name: str) -> Path:
    """Return the script of a page, for `st.switch_page` and `st.page_link`."""
    return PAGES / f"{name}.py"


def leave_note(note: object) -> None:
    """Leave a note for another page; it replaces an earlier note of the same class."""
    session().slots[type(note)] = note


def take_note(kind: type[Value]) -> Value | None:
    """Remove the note of this class and return it; None if there is none."""
    return cast("Value | None", session().slots.pop(kind, None))


def read_note(kind: type[Value]) -> Value | None:
    """Return the note of this class without removing it; None if there is none."""
    return cast("Value | None", session().slots.get(kind))


def _need_guard() -> None:
    """Stop the page if nothing checks hosts and origins: any site could reach it."""
    if not guard.guard_is_active.is_set():
        st.error(
            "Nothing guards these pages, so they take no files and open no tables. "
            "Start them with "
            "`make app`, or `streamlit run app.py`.",
        )
        st.stop()


def evaluate_once(
    curator: Curator,
    key: ResultKey,
    evaluation: Callable[[], Evaluation[Any, Result]],
    on_progress: OnProgress = ignore_stage_progress,
) -> Result:
    """Compute an internal report once per session.

    It leaves a line in the ledger, outside the total.
    """
    draft = session().draft
    audit = None if draft is None else draft.audit
    reports = (
        session().reports
        if audit is None or audit.curator is not curator
        else audit.reports
    )
    if key not in reports:
        first_rows = FIRST_ROWS if session().uses_first_rows else 0
        with cancelled_by(make_cancel_poll()):
            reports[key] = curator.evaluate(
                evaluation(), on_progress, first_rows=first_rows
            )
    return cast("InternalReport[Result]", reports[key]).content


def compute_once(key: ResultKey, make: Callable[[], Value]) -> Value:
    """Compute a result of public numbers once per session."""
    reports = session().reports
    if key not in reports:
        reports[key] = make()
    return cast(Value, reports[key])


class _LanguageLookup(threading.local):
    """State whose language this thread asked for last, and the run it belongs to.

    Both by weak references: a thread that stays must not keep a closed tab.
    """

    context: weakref.ref[ScriptRunContext] | None = None
    state: weakref.ref[Session] | None = None


_last_lookup = _LanguageLookup()


def language() -> str:
    """Return the language of this tab; English outside of any tab.

    Each sentence on a page asks for it, and Streamlit's lookup takes long, so a run
    looks its tab up once.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return ENGLISH
    looked_up = _last_lookup.context
    state = _last_lookup.state() if _last_lookup.state is not None else None
    if state is None or looked_up is None or looked_up() is not context:
        state = session()
        _last_lookup.context = weakref.ref(context)
        _last_lookup.state = weakref.ref(state)
    return state.language


def browser_language() -> str:
    """Return the preferred language of this tab's browser."""
    return choose_language(None, st.context.headers.get("Accept-Language", ""))


def is_dark() -> bool:
    """Return whether this tab uses a dark theme."""
    return st.context.theme.type == "dark"


@dataclass(frozen=True)
class Widget(Generic[Value]):
    """Key and type of a widget that other code reads or sets."""

    key: str

    def current_value(self) -> Value | None:
        """Return the value in this run; None before the widget is first drawn."""
        value: Value | None = st.session_state.get(self.key)
        return value

    def put(self, value: Value) -> None:
        """Set the value from a callback, before the widget is drawn."""
        st.session_state[self.key] = value


@dataclass(frozen=True)
class Selection:
    """Selection in a clickable chart: key of the chart, and name of the selection."""

    key: str
    name: str

    def clicked_marks(self) -> list[dict[str, Any]]:
        """Return the fields of the clicked marks."""
        state = st.session_state.get(self.key) or {}
        return list(state.get("selection", {}).get(self.name) or [])


def file_field(name: str) -> Widget[UploadedFile]:
    """Return an upload field, which is replaced by a new one after each file read.

    So the server forgets the file before.
    """
    return Widget(f"{name}-{own(_FileFieldCounter).files_read}")


def renew_file_fields() -> None:
    """Replace all upload fields by new ones, after one of them has read a file."""
    own(_FileFieldCounter).files_read += 1


@contextmanager
def keep_error(page: str) -> Iterator[None]:
    """Catch a library error in the block, and keep it for a page to show."""
    # look up the notices first: another click may end this page run during the block
    notices = session().notices
    try:
        yield
    except DpcoreError as error:
        notices[page] = error


def address_parameters() -> dict[str, str]:
    """Return the parameters in the browser's address."""
    return st.query_params.to_dict()


def is_history_navigation() -> bool:
    """Return whether the browser's Back or Forward button led to this page."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation


def set_address_parameters(parameters: dict[str, str]) -> None:
    """Replace all parameters in the browser's address."""
    st.query_params.from_dict(parameters)


def make_cancel_poll() -> Callable[[], bool]:
    """Return a function that tells whether the tab of this run was closed.

    Where the person did something else meanwhile, the poll raises what ends the run.
    """
    context = get_script_run_ctx()
    session_id = "" if context is None else context.session_id

    def poll() -> bool:
        session()  # Streamlit raises here if another page run is waiting
        return tabs.is_tab_closed(session_id)

    return poll


def drop_uploads() -> None:
    """Forget the bytes of every file that this tab has uploaded."""
    context = get_script_run_ctx()
    if context is not None:
        tabs.forget_uploads(context.session_id)


def clear_tab() -> None:
    """Forget everything in this tab."""
    drop_uploads()
    _last_lookup.state = None
    st.session_state.clear()


shares = start.shares
surveys = start.surveys
"""Return those that all tabs of this server share.

Raises: LedgerError, ParameterError.
"""

# the lambda looks `language` up at each call, so that a test can replace it
set_language_of_tab(lambda: language())
