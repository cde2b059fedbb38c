"""The only module that touches session state. Everything here is of one browser tab, and ends with it."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import pandas as pd
import streamlit as st
from starlette.formparsers import MultiPartParser
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.evaluation.base import Evaluation
from dpcore.evaluation.first_rows import OnFirstRows
from dpcore.local import Question
from dpcore.release import Release
from dpcore.synthesis import Step
from dpcore.synthesis.constraints import Determines, Impossible
from workbench.apart import asking, line
from workbench.apart.listening import heard_by, until
from workbench.drafts import Draft, Run
from workbench.notes import Note
from workbench.notes import Offered as Offered
from workbench.notes import OpenSample as OpenSample
from workbench.notes import PlanRelease as PlanRelease
from workbench.notes import ShowRelease as ShowRelease
from workbench.notes import TakeColumns as TakeColumns
from workbench.person import ledger as ledger
from workbench.store import datasets, start
from workbench.store.datasets import DataSet, Declaration
from workbench.store.shares import Shares
from workbench.store.surveys import Surveys
from workbench.web import holders, tabs

MultiPartParser.spool_max_size = 2**40  # files on their way in stay in memory: no temporary file holds rows
Result = TypeVar("Result")


Value = TypeVar("Value")


@dataclass(kw_only=True, eq=False)
class Session:
    """What one tab holds.

    Attributes:
        data_sets: data sets that this tab works with, by fingerprint, with or without their rows.
        curators: those of them whose rows are here.
        current: fingerprint of the one that the pages work on.
        draft: a table on its way to being opened.
        running: the run that is going on or has just ended.
        shown: request id of the release that the synthesize page shows.
        kind: of the release that is planned there.
        facts: what every row of a data set must keep, by its fingerprint.
        tests: those of drawn rows against their table, by the request id of the release and by their own;
            None for one that is being computed.
        test_ids: minted for such tests before their click, by what is asked, until it is answered.
        request_id: minted for the next release, before its click.
        reports: internal reports that were computed, by what they were about.
        notices: an error to show, by the page that it happened on.
        choosing: whether another table is being chosen although one is open.
        declaring: fingerprint of the data set that is to be declared anew, once its file is brought.
        anonymization: choices of the Anonymize page for the current data set.
        tables: second tables, such as an attacker's list, by the field that read them.
        failed: why such a field has none.
        uploads: how many files were read.
        question: the last one designed on the page Local answers.
        survey_keys: the question of each survey made in this tab, by its owner's key.
        invitations: the key and tokens of the last one, or what went wrong with it.
        note: what one page left for another.
        address: what this tab last wrote into the address.
        about_rows: one digit of the rows that count of each table that this tab brought; internal.
        link: title and token of the last link that was made, shown once.
        offered: what the Anonymize page handed to the Links page, of the current data set.
        tab: id of the tab; empty outside of any.
        bytes: how large each open table is, by fingerprint.
        used: when somebody last did something here, on the monotonic clock.
        dropped: names of the tables that went from memory because nobody did.
        written: the name of each folder that was written here, and its rows, by the field that asked for it.
        on_first_rows: whether what needs rows that do not fit is asked about the first ones.
        is_another: whether the browser asked for an earlier session, which is no more.
    """

    data_sets: dict[str, DataSet] = field(default_factory=dict)
    curators: dict[str, Curator] = field(default_factory=dict)
    current: str | None = None
    draft: Draft | None = None
    running: Run | None = None
    shown: str | None = None
    kind: str = "histogram"
    facts: dict[str, tuple[Impossible | Determines, ...]] = field(default_factory=dict)
    tests: dict[str, dict[str, Step | None]] = field(default_factory=dict)
    test_ids: dict[tuple[Any, ...], str] = field(default_factory=dict)
    request_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    reports: dict[Any, Any] = field(default_factory=dict)
    notices: dict[str, Exception] = field(default_factory=dict)
    choosing: bool = False
    declaring: str | None = None
    tables: dict[str, tuple[str, pd.DataFrame]] = field(default_factory=dict)
    failed: dict[str, DpcoreError] = field(default_factory=dict)
    anonymization: Any = None
    uploads: int = 0
    question: Question | None = None
    survey_keys: dict[str, str] = field(default_factory=dict)
    invitations: tuple[str | DpcoreError, list[str]] | None = None
    note: OpenSample | PlanRelease | TakeColumns | ShowRelease | None = None
    address: dict[str, str] = field(default_factory=dict)
    about_rows: dict[str, int] = field(default_factory=dict)
    link: tuple[str, str] | None = None
    offered: Offered | None = None
    tab: str = ""
    bytes: dict[str, int] = field(default_factory=dict)
    used: float = field(default_factory=time.monotonic)
    dropped: tuple[str, ...] = ()
    written: dict[str, tuple[str, int]] = field(default_factory=dict)
    on_first_rows: bool = False
    is_another: bool = False

    @property
    def data_set(self) -> DataSet | None:
        """The data set that the pages work on, if there is one."""
        return self.data_sets.get(self.current or "")

    @property
    def curator(self) -> Curator | None:
        """The same with its rows, where they are here."""
        return self.curators.get(self.current or "")

    def add(self, curator: Curator, declaration: Declaration, *, size: int) -> None:
        """Keep what was declared of a data set that was opened, and make it the current one.

        Args: size: of its rows, in bytes.
        """
        dataset = curator.account.dataset
        datasets.keep(declaration, dataset, ledger())
        self.curators[dataset] = curator
        self.bytes[dataset] = size
        self.enter(DataSet(account=curator.account, declaration=declaration, ledger=ledger()))

    def enter(self, data_set: DataSet) -> None:
        """Work with a data set from now on, and forget what was on its way to being opened."""
        self.data_sets[data_set.id] = data_set
        self.choose(data_set.id)
        self.draft, self.choosing, self.declaring = None, False, None
        self.notices.clear()

    def leave(self, dataset: str) -> None:
        """Forget a data set that is no longer this person's."""
        self.curators.pop(dataset, None)
        self.bytes.pop(dataset, None)
        self.data_sets.pop(dataset, None)
        self.choose("")

    def choose(self, dataset: str) -> None:
        """Work on another data set of this tab; what was shown of the one before goes."""
        self.current, self.shown, self.running = dataset, None, None
        self.on_first_rows = False
        self.anonymization, self.offered = None, None
        self.reports = {}  # another one: the run that this click ends may still write into the last
        self.written.clear()

    def start(self, title: str, run: Callable[[Run], Release]) -> None:
        """Run in a thread. Its release is in the ledger whatever becomes of this tab."""
        running = Run(title=title, request_id=self.request_id)
        self.running = running
        self.request_id = uuid.uuid4().hex

        def work() -> None:
            try:
                with line.runs().turn(running.wait, running.stopped.is_set):
                    running.place = 0
                    running.release = run(running)
            except Exception as error:  # shown to the person by the page; the ledger has its own line
                running.error = error
            finally:
                running.done.set()

        threading.Thread(target=work, daemon=False).start()

    def take_first_rows(self, first: bool) -> None:
        """Ask what needs rows that do not fit about the first ones, or no more; what was asked goes."""
        self.on_first_rows = first
        self.reports = {}
        self.anonymization = None

    def sizes(self) -> list[int]:
        """Bytes of each table that this tab holds."""
        drafts = [self.draft.size + len(self.draft.data)] if self.draft else []
        return [*self.bytes.values(), *drafts]

    def is_busy(self) -> bool:
        """Whether a run is going on."""
        return self.running is not None and not self.running.done.is_set()

    def drop_tables(self) -> None:
        """Forget all rows, and what was computed from them; the ledger and its releases stay."""
        self.dropped = tuple(curator.name for curator in self.curators.values())
        if self.draft is not None:
            self.dropped += (self.draft.name,)
        self.draft = self.running = self.shown = self.anonymization = self.offered = None
        self.reports = {}
        for each in (self.curators, self.bytes, self.tables):
            each.clear()


def session() -> Session:
    """The state of this tab."""
    if holders.KEY not in st.session_state:
        _through_app()
        context = get_script_run_ctx(suppress_warning=True)
        tab = context.session_id if context else ""
        st.session_state[holders.KEY] = Session(tab=tab, is_another=tabs.LOST in st.context.headers)
        holders.register(st.session_state[holders.KEY])
    found: Session = st.session_state[holders.KEY]
    found.used = time.monotonic()
    return found


def _through_app() -> None:
    """Go through app.py even when the first address that a new server is asked for is that of a page.

    Until st.navigation was called once, Streamlit takes a folder named pages/ for its older way of making
    pages, and would run the page alone, without header and navigation, for everybody. Only a new session
    is sent back: in an older one this would swallow a click.
    """
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()


def once(curator: Curator, key: tuple[Any, ...], evaluation: Callable[[], Evaluation[Any, Result]]) -> Result:
    """An internal report, computed once per session; it leaves a line in the ledger, outside the total."""
    draft = session().draft
    reports = session().reports if draft is None or draft.auditor is not curator else draft.reports
    if key not in reports:
        asked: Evaluation[Any, Result] = asking.Apart(evaluation(), unwanted())
        with heard_by(until(unwanted())):
            reports[key] = curator.evaluate(OnFirstRows(asked) if session().on_first_rows else asked)
    result: Result = reports[key].content
    return result


def kept(key: tuple[Any, ...], make: Callable[[], Value]) -> Value:
    """What was made of public numbers, made once per session."""
    reports = session().reports
    if key not in reports:
        reports[key] = make()
    found: Value = reports[key]
    return found


def language() -> str:
    """The language that the browser of this tab asks for; English outside of any tab."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return "en"
    return st.context.locale or "en"


def is_dark() -> bool:
    """Whether this tab is shown light on dark."""
    return st.context.theme.type == "dark"


@dataclass(frozen=True)
class Widget(Generic[Value]):
    """A widget whose value other code reads or sets than the line that draws it: its key, and a type."""

    key: str

    def value(self) -> Value | None:
        """What it has or will have in this run; None before it is drawn for the first time."""
        value: Value | None = st.session_state.get(self.key)
        return value

    def put(self, value: Value) -> None:
        """Set it from a callback, before it is drawn."""
        st.session_state[self.key] = value


@dataclass(frozen=True)
class Selection:
    """A chart in which something can be clicked: its key, and the name of the selection."""

    key: str
    name: str

    def points(self) -> list[dict[str, Any]]:
        """The fields of what is clicked."""
        state = st.session_state.get(self.key) or {}
        return list(state.get("selection", {}).get(self.name) or [])


def uploader() -> Widget[UploadedFile]:
    """The uploader of the Data page; another one with every file that was read."""
    return Widget(f"upload-{session().uploads}")


def rows_field() -> Widget[UploadedFile]:
    """The field that asks for the rows of a data set on file; another one with every file that was read."""
    return Widget(f"bring-{session().uploads}")


def codebook_field() -> Widget[UploadedFile]:
    """The field for the codebook of a table that is being declared."""
    return Widget(f"codebook-{session().uploads}")


def address() -> dict[str, str]:
    """The parameters in the browser's address."""
    return st.query_params.to_dict()


def set_address(parameters: dict[str, str]) -> None:
    """Write parameters into the browser's address, and take others out of it."""
    st.query_params.from_dict(parameters)


def take(kind: type[Note]) -> Note | None:
    """The note of this kind that another page left, once."""
    held = session()
    if not isinstance(held.note, kind):
        return None
    note, held.note = held.note, None
    return note


def is_gone() -> Callable[[], bool]:
    """Says later, from this run, whether its tab was closed meanwhile."""
    context = get_script_run_ctx()
    session_id = "" if context is None else context.session_id
    return lambda: tabs.is_gone(session_id)


def unwanted() -> Callable[[], bool]:
    """Says later whether this run's tab was closed; where the person did something else meanwhile, it raises
    what ends the run."""
    gone = is_gone()

    def ask() -> bool:
        session()  # here Streamlit ends a run that another one waits for
        return gone()

    return ask


def table_in(key: str) -> tuple[str, pd.DataFrame] | None:
    """Name and rows of a second table that a field has read."""
    return session().tables.get(key)


def drop_table(key: str) -> None:
    """Forget the second table that a field has read."""
    session().tables.pop(key, None)


def drop_uploads() -> None:
    """Forget the bytes of every file that this tab has sent."""
    context = get_script_run_ctx()
    if context is not None:
        tabs.forget_uploads(context.session_id)


def forget_person() -> None:
    """Drop everything that this tab holds."""
    drop_uploads()
    st.session_state.clear()


def shares() -> Shares:
    """The links that all tabs of this server share. Raises: LedgerError, ParameterError."""
    return start.shares()


def surveys() -> Surveys:
    """The surveys that all tabs of this server share. Raises: LedgerError, ParameterError."""
    return start.surveys()
