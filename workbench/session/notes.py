"""Notes from one page to another; see `workbench.session.leave_note`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dpcore.anonymization.linked import LinkedPlan
from dpcore.anonymization.plan import Plan
from dpcore.io.options import ReadOptions
from dpcore.release import AnonymizedPair, AnonymizedTable
from dpcore.suppression import PublishedTable

_DEFAULT_READ_OPTIONS = ReadOptions()
LINKED_KIND = "linked"
"""Kind of the release of both views of linked tables; see `PlanRelease`."""


class DataSetState:
    """Base of page states that are dropped together with the data set or its rows."""


@dataclass(kw_only=True)
class AnonymizeResult(DataSetState):
    """The anonymized table made from the current data set; None until it is made."""

    table: AnonymizedTable | None = None


@dataclass(kw_only=True)
class AnonymizePairResult(DataSetState):
    """Both anonymized tables of the current data set; None until they are made.

    Attributes:
        plan: what they were made by.
    """

    made: AnonymizedPair | None = None
    plan: LinkedPlan | None = None


@dataclass(frozen=True, kw_only=True)
class BringTable:
    """A note to the Data page: read this table, for another page.

    Attributes:
        page: page that wants the table; "upload" for the Data page itself.
        sample: key of a sample; empty for a file.
        name, data: name and bytes of the file.
        options: how it is read.
    """

    page: str
    sample: str = ""
    name: str = ""
    data: bytes = field(default=b"", repr=False)
    options: ReadOptions = _DEFAULT_READ_OPTIONS


@dataclass(frozen=True, kw_only=True)
class BringPair:
    """A note to the Data page: read these two files about the same people.

    Attributes:
        files: name and bytes of each.
    """

    files: tuple[tuple[str, bytes], ...] = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class UnreadFile:
    """A file that could not be read, kept to be read with other options.

    Attributes:
        name, data: name and bytes of the file.
        options: how it was read.
        page: page that wants the table.
    """

    name: str
    data: bytes = field(repr=False)
    options: ReadOptions
    page: str


@dataclass(frozen=True, kw_only=True)
class GoTo:
    """A note to the Data page: go on to this page."""

    page: str


@dataclass(frozen=True)
class TrySurvey:
    """A note to the Local answers page: try out a survey on a sample."""


@dataclass(frozen=True)
class OpenAsProposed:
    """A note to the Data page: open the draft as proposed if there are no open
    questions, then go on to a page.

    Attributes:
        max_rows: rows of one person that count, as answered on the page before; None
            if it did not ask.
    """

    page: str
    max_rows: int | None = None


@dataclass(frozen=True, kw_only=True)
class PlanRelease:
    """A note to the Synthesize page: plan a release of this kind.

    Attributes:
        epsilon: proposed epsilon; None for no proposal.
        columns: proposed columns; empty for all of them.
    """

    kind: str
    epsilon: float | None = None
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TakeAdvice:
    """A note to the Anonymize page: use the advice of an audit.

    Attributes:
        known, secret: columns that others may know, and that should stay unknown.
        k: the fewest people of a group in which nobody counts as exposed.
        min_different_values: the fewest different sensitive values of a group; 1 for no demand.
        left_out_columns: columns that are not published.
        max_labels: column -> largest number of different values.
    """

    known_columns: tuple[str, ...]
    secret_columns: tuple[str, ...]
    k: int = 5
    min_different_values: int = 1
    left_out_columns: tuple[str, ...] = ()
    max_labels: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class TakePlan:
    """A note to the Anonymize page: take the plan of the file, if it has one.

    Attributes: notes: sentences about the plan for a person.
    """

    plan: Plan | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class JudgeAnonymizedTable:
    """A note to the Evaluate page: judge the anonymized table first."""


@dataclass(frozen=True, kw_only=True)
class ShowRelease:
    """A note to the Links page: share this release."""

    request_id: str


@dataclass(frozen=True, kw_only=True)
class ShowExactTable:
    """A note to the Links page: share this published table."""

    table: PublishedTable


@dataclass(frozen=True, kw_only=True)
class OfferTable(DataSetState):
    """A note to the Links page: offer this anonymized table.

    Attributes:
        not_promised: sentences that have to be read first, as Markdown.
    """

    anonymized_table: AnonymizedTable
    not_promised: tuple[str, ...]
