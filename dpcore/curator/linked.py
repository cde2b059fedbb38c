"""Two linked tables behind one account: people, and their events."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NoReturn

import pandas as pd

from dpcore.accounting.chain import plan_digests
from dpcore.accounting.ledger import Account, Balance, Ledger, source_dataset
from dpcore.accounting.loss import UNIT, AnyLoss, Loss
from dpcore.anonymization.apply import sort_by_content
from dpcore.anonymization.linked import LinkedPlan, LinkedRecoding, recode_linked
from dpcore.curator.curator import Curator, is_format_inferred
from dpcore.curator.found_cells import confirm_found_cells
from dpcore.curator.tabulating import count_exact_tables
from dpcore.engines.base import MAX_ROWS_IN_MEMORY, Engine, ignore_progress
from dpcore.engines.connect import look
from dpcore.engines.frame import FrameEngine
from dpcore.engines.linked import (
    LinkCounts,
    LinkedFiles,
    LinkedRows,
    ViewEngine,
    link_rows,
    read_linked_table,
)
from dpcore.engines.tuples.distinct import too_many_error
from dpcore.errors import (
    DisclosureError,
    InfeasibleError,
    SchemaError,
    UsageError,
    budget_exceeded_error,
)
from dpcore.progress import Compute, OnProgress, compute_here, ignore_stage_progress
from dpcore.release import AnonymizedPair, Guarantee, InternalReport
from dpcore.schema.linked import LinkedSchema
from dpcore.schema.schema import Schema
from dpcore.schema.source import Source
from dpcore.schema.table import normalize_table
from dpcore.schema.unit import PrivacyUnit
from dpcore.synthesis import Adaptive, Recipe
from dpcore.synthesis.discrete.recipes import TableRecipe, table_recipe_arguments
from dpcore.synthesis.quote import Quote
from dpcore.synthesis.release.linked import LinkedRelease
from dpcore.tables.digests import combine_tables, fingerprint, pseudonyms
from dpcore.tables.rows import PublicTable
from dpcore.text import Text

COUNTS_KIND = "linked rows"


@dataclass(frozen=True, kw_only=True)
class LinkedCurator:
    """The holder of two linked tables, as two curators of one account.

    Make one with `LinkedCurator.open`. Every recipe, quote and question works on either
    view; what both charge adds up, for a person with all rows in both tables.

    Attributes:
        linked: the public facts, with the number of events of a person that count.
        people: of the view of people.
        events: of the view of events.
    """

    linked: LinkedSchema
    people: Curator
    events: Curator
    _counts: LinkCounts = field(repr=False)
    _files: LinkedFiles = field(repr=False)
    _compute: Compute = field(repr=False)

    def __reduce__(self) -> NoReturn:
        raise DisclosureError(
            "a curator holds private rows and is never stored", remedy="release first"
        )

    @classmethod
    def open(
        cls,
        people: pd.DataFrame | Source,
        events: pd.DataFrame | Source,
        linked: LinkedSchema,
        *,
        budget: AnyLoss,
        ledger: Ledger,
        name: str = "linked tables",
        on_rows: Callable[[int], None] = ignore_progress,
        compute: Compute = compute_here,
    ) -> LinkedCurator:
        """Open two linked tables under one account, with a budget that never changes.

        The account is filed under a keyed digest of both contents, in no order; that of
        two connected sources under both names.

        Args:
            people: the private rows, or a connected source.
            events: likewise.
            linked: the public facts about both. If the unit of the events says that the
                number of rows a person is `found` privately, opening finds it, once for
                all, at that charge.
            budget: all that may ever be spent on these tables together.
            ledger: keeps the account.
            name: of the tables, for people.
            on_rows: called with how many rows of a source a pass has read.
            compute: as of `Curator.open`.

        Raises: SchemaError if tables and schema do not fit, or no event has a person;
            BudgetFixed if the tables have another budget or privacy unit on file;
            ParameterError for a source of Spark; RowsError if rows do not fit into
            memory.

        >>> import dpcore as dp
        >>> patients = dp.Schema(
        ...     columns=(dp.Categorical("sex", categories=("F", "M")),),
        ...     unit=dp.PrivacyUnit(max_rows=1, id_column="patient"),
        ... )
        >>> stays = dp.Schema(
        ...     columns=(dp.Integer("days", low=0, high=9),),
        ...     unit=dp.PrivacyUnit(max_rows=2, id_column="patient"),
        ... )
        >>> rules = dp.LinkRules(
        ...     orphans="leave out",
        ...     without_key="leave out",
        ...     repeated_people="keep one",
        ...     keys="as written",
        ... )
        >>> curator = LinkedCurator.open(
        ...     pd.DataFrame({"patient": range(500), "sex": ["F", "M"] * 250}),
        ...     pd.DataFrame({"patient": [*range(250)] * 3, "days": [*range(5)] * 150}),
        ...     dp.LinkedSchema(people=patients, events=stays, rules=rules),
        ...     budget=dp.PureDP(epsilon=8),
        ...     ledger=dp.MemoryLedger(),
        ... )
        >>> release = curator.synthesize(dp.PureDP(epsilon=8))
        >>> drawn_people, drawn_events = release.sample(100, seed=1)
        >>> list(drawn_people), list(drawn_events)
        (['patient', 'sex'], ['patient', 'days'])
        >>> set(drawn_events["patient"]) <= set(drawn_people["patient"])
        True
        >>> curator.balance().remaining_units
        0
        """
        tables = (people, events)
        linked = _with_origins(linked, *tables)
        frames = [
            read_linked_table(table, schema, key=ledger.key, on_rows=on_rows)
            for table, schema in zip(
                tables, (linked.people, linked.events), strict=True
            )
        ]
        rows = link_rows(frames[0], frames[1], linked, ledger.key)
        account = ledger.open(
            Account.for_budget(
                _identify(tables, frames, ledger.key, compute),
                linked.account_unit,
                budget,
            )
        )

        def make(engine: Engine, schema: Schema, view: str = "") -> Curator:
            return Curator(
                engine=engine,
                schema=confirm_found_cells(schema, ledger, account.dataset),
                account=account,
                ledger=ledger,
                name=name,
                compute=compute,
                linked=linked.facts_of_view(view),
            )

        if linked.events.unit.found:
            linked = linked.with_unit(_find_unit(rows, linked, ledger.key, make))
        of_people, of_events, counts = rows.views(linked, ledger.key)
        files = LinkedFiles(
            people=frames[0],
            events=frames[1],
            people_places=rows.people_places,
            event_places=rows.event_places,
            parents=rows.parents,
        )
        curators = [
            make(
                ViewEngine(view_rows, schema, files, linked, key=ledger.key),
                schema,
                view,
            )
            for view, view_rows, schema in (
                ("people", of_people, linked.people_view),
                ("events", of_events, linked.events_view),
            )
        ]
        return cls(
            linked=linked,
            people=curators[0],
            events=curators[1],
            _counts=counts,
            _files=files,
            _compute=compute,
        )

    @staticmethod
    def account_name(
        people: pd.DataFrame | Source, events: pd.DataFrame | Source, ledger: Ledger
    ) -> str:
        """Return the name under which the account of two tables is filed.

        The account need not exist.
        """
        tables = (people, events)
        frames = [
            normalize_table(table)
            for table in tables
            if isinstance(table, pd.DataFrame)
        ]
        return _identify(tables, frames, ledger.key, compute_here)

    @staticmethod
    def look_at_keys(
        source: Source, column: str, on_rows: Callable[[int], None] = ignore_progress
    ) -> pd.DataFrame:
        """Return one column of all rows of a source, for the owner before opening.

        Args:
            column: the key.
            on_rows: as of `open`.

        Raises: ReadError if the source cannot be read; RowsError if it has too many
            rows to be linked.
        """
        if not source.query and not source.joins:
            source = dataclasses.replace(source, columns=(column,))
        rows = look(source, MAX_ROWS_IN_MEMORY + 1, on_rows).frame
        if len(rows) > MAX_ROWS_IN_MEMORY:
            raise too_many_error("rows", MAX_ROWS_IN_MEMORY)
        return rows[[column]]

    def balance(self) -> Balance:
        """Return the spent, reserved and remaining budget of both views together."""
        return self.people.balance()

    def count_rows(self) -> InternalReport[LinkCounts]:
        """Return exact counts of what linking met, for the owner alone.

        The ledger notes it without a charge.
        """
        keys = [self.linked.people_key, self.linked.events_key]
        self.people.ledger.note(
            self.people.account.dataset,
            uuid.uuid4().hex,
            {"evaluation": COUNTS_KIND, "about": list(dict.fromkeys(keys))},
        )
        return InternalReport(kind=COUNTS_KIND, content=self._counts)

    def anonymize(
        self,
        plan: LinkedPlan,
        on_progress: OnProgress = ignore_stage_progress,
        *,
        smallest_group: int = 1,
    ) -> AnonymizedPair:
        """Generalize both tables by a plan, outside differential privacy.

        The ledger notes it. All events that the rules keep are published, whatever
        number of them counts in releases. A person gets a random name, by which both
        tables are sorted.

        Args:
            plan: what others may know, and how many people a group has.
            on_progress: called with the stage and the share done; what it raises ends
                the work.
            smallest_group: fewest people in a group of the tables that leave, whatever
                the plan allows.

        Raises: InfeasibleError if too many people would be left out, or a group is too
            small; SchemaError for a plan that publishes the key; the errors of
            `recode_linked`.
        """
        key = self.linked.people_key
        if key in (*plan.hierarchies, *plan.unchanged_columns):
            raise SchemaError(
                "{column} is the key, which a random name replaces",
                remedy="remove it from the plan",
                column=key,
            )
        ledger = self.people.ledger
        digest, _ = plan_digests(ledger.key, plan.to_json())
        schema = self.people.schema
        declared = {"declared_by": schema.declared_by} if schema.declared_by else {}
        noted = {"anonymized": digest, "about": [plan.model], **declared}
        ledger.note(self.people.account.dataset, uuid.uuid4().hex, noted)
        made: LinkedRecoding = self._compute(
            recode_linked,
            self._files.to_microdata(self.linked, ledger.key),
            plan,
            on_progress=on_progress,
        )
        if made.smallest_group(plan.known_events) < max(plan.k, smallest_group):
            raise InfeasibleError(
                "a group of the anonymized tables has fewer than {k} {whom}",
                remedy="raise k",
                k=max(plan.k, smallest_group),
                whom=Text("people"),
            )
        names = pseudonyms(
            pd.Series(range(len(made.people))), ledger.key, uuid.uuid4().hex
        ).to_numpy()
        people = made.people.copy(deep=False)
        people.insert(0, key, names)
        events = made.events.copy(deep=False)
        events.insert(0, self.linked.events_key, names[made.parents])
        guarantee = Guarantee.syntactic((plan.model,), counts="people", **declared)
        exact_tables = count_exact_tables(self.people.lines())
        return AnonymizedPair(
            people=PublicTable(sort_by_content(people)),
            events=PublicTable(sort_by_content(events)),
            guarantee=dataclasses.replace(guarantee, exact_tables=exact_tables),
            levels=made.levels,
            left_out_people=made.left_out_people,
        )

    def quote(
        self,
        loss: AnyLoss,
        *,
        people_recipe: TableRecipe | None = None,
        events_recipe: TableRecipe | None = None,
    ) -> tuple[Quote, Quote]:
        """Return the cost of `synthesize` for each view, as `Curator.quote` does.

        Reads no data.
        """
        of_people, of_events = self._plan(loss, people_recipe, events_recipe)
        return self.people.quote(*of_people), self.events.quote(*of_events)

    def synthesize(
        self,
        loss: AnyLoss,
        *,
        people_recipe: TableRecipe | None = None,
        events_recipe: TableRecipe | None = None,
        request_id: str | None = None,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> LinkedRelease:
        """Charge `loss`, measure both views, and publish what draws both tables.

        Each view is a request of its own in the ledger, with its share of the loss. If
        anything fails after a charge, the charge stays. Without a request id, a view
        that was released before at this loss is not charged again.

        Args:
            loss: what to spend on both views, all of it.
            people_recipe: Tree or Adaptive, for the view of people; `Adaptive` if left
                out.
            events_recipe: likewise, for the view of events.
            request_id: as of `Curator.run`; each view appends its name.
            on_progress: as of `Curator.run`.

        Raises: as `Curator.run`, before either view is charged.
        """
        plans = self._plan(loss, people_recipe, events_recipe)
        views = (("people", self.people), ("events", self.events))
        ids = [
            None if request_id is None else f"{request_id} {view}" for view, _ in views
        ]
        self._check_before_charge(plans, ids)
        released = [
            curator.run(*plan, request_id=own_id, on_progress=on_progress)
            for (_, curator), plan, own_id in zip(views, plans, ids, strict=True)
        ]
        order_by = self.linked.order_by
        return LinkedRelease(people=released[0], events=released[1], order_by=order_by)

    def split_loss(self, loss: AnyLoss) -> tuple[Loss, Loss]:
        """Return the shares of a loss for people and for events."""
        spend = self.people.rule.convert(loss)
        # whole units of the ledger: both charges add up to that of `loss`
        share = share_of_people(self.linked.events.unit.max_rows)
        units = int(spend.amount * UNIT * share)
        return (
            spend.share(Fraction(units, UNIT) / spend.amount),
            spend.share(1 - Fraction(units, UNIT) / spend.amount),
        )

    def _plan(
        self,
        loss: AnyLoss,
        people_recipe: TableRecipe | None,
        events_recipe: TableRecipe | None,
    ) -> tuple[tuple[Recipe, Loss], tuple[Recipe, Loss]]:
        """Return the recipe and the loss of each view.

        Raises: ParameterError for a recipe whose rows cannot be linked.
        """
        for recipe in (people_recipe, events_recipe):
            if not isinstance(recipe, TableRecipe | None):
                raise UsageError(
                    "this recipe does not draw events for given people",
                    remedy="use Tree or Adaptive, or run it on one of the views",
                )
        of_person = set(self.linked.people_view.domain.names)
        for rule in events_recipe.constraints.determines if events_recipe else ():
            if rule.target in of_person and rule.column not in of_person:
                raise UsageError(
                    f"a column of events ({rule.column!r}) cannot determine one of "
                    f"people ({rule.target!r}), since people are drawn first",
                    remedy="name the combinations that are impossible instead",
                )
        of_people, of_events = self.split_loss(loss)
        return (
            (people_recipe or propose_recipe(self.linked.people_view), of_people),
            (events_recipe or propose_recipe(self.linked.events_view), of_events),
        )

    def _check_before_charge(
        self,
        plans: Sequence[tuple[Recipe, Loss]],
        request_ids: Sequence[str | None],
    ) -> None:
        """Refuse what the budget or public facts refuse for either view.

        Stored releases are free.

        Raises: BudgetExceeded, LimitError, ParameterError.
        """
        rule = self.people.rule
        committed = {
            line.request_id for line in self.people.lines() if line.state == "committed"
        }
        units = 0
        for curator, plan, request_id in zip(
            (self.people, self.events), plans, request_ids, strict=True
        ):
            stored = request_id or curator.stored_request(*plan)
            if stored not in committed:
                if curator is self.events:  # `run` rehearses the people, who are first
                    curator.rehearse(*plan)
                units += rule.to_units(plan[1])
        remaining = self.balance().remaining_units
        if units > remaining:
            raise budget_exceeded_error(rule.unit, units / UNIT, remaining / UNIT)


def share_of_people(max_rows: int) -> Fraction:
    """Return the share of a loss for the view of people, from public facts.

    Gaussian noise of a share a is as 1 / sqrt(a) there and as m / sqrt(1 - a) in the
    view of events. Their sum is smallest at a = 1 / (1 + m^(2/3)).
    """
    return Fraction(round(100 / (1 + max_rows ** (2 / 3))), 100)


def propose_recipe(view: Schema) -> Adaptive:
    """Return the recipe of a view if none is given."""
    return Adaptive(**table_recipe_arguments(view.columns))


def _with_origins(
    linked: LinkedSchema, people: pd.DataFrame | Source, events: pd.DataFrame | Source
) -> LinkedSchema:
    """Return the schema with what each table says of who declared it, and its file.

    Raises: ParameterError for a frame and a source together.
    """
    if isinstance(people, Source) != isinstance(events, Source):
        raise UsageError(
            "of two linked tables, both are connected sources or none is",
            remedy="connect both, or read both from files",
        )

    def complete(schema: Schema, table: pd.DataFrame | Source) -> Schema:
        declared_by: str = getattr(table, "declared_by", "")
        return dataclasses.replace(
            schema,
            declared_by=declared_by,
            reading_from_data=is_format_inferred(table, schema),
        )

    return dataclasses.replace(
        linked,
        people=complete(linked.people, people),
        events=complete(linked.events, events),
    )


def _identify(
    tables: tuple[pd.DataFrame | Source, ...],
    frames: Sequence[pd.DataFrame],
    key: bytes,
    compute: Compute,
) -> str:
    """Return the name under which the account of both tables is filed."""
    sources = [table.name for table in tables if isinstance(table, Source)]
    if sources:
        return source_dataset(" + ".join(sorted(sources)))
    prints = [compute(fingerprint, frame, key) for frame in frames]
    return combine_tables(prints, key)


def _find_unit(
    rows: LinkedRows,
    linked: LinkedSchema,
    key: bytes,
    make: Callable[[Engine, Schema], Curator],
) -> PrivacyUnit:
    """Return the unit of the events, with the number of rows that was found privately."""
    names = linked.events
    one = dataclasses.replace(
        names, unit=PrivacyUnit(max_rows=1, id_column=names.unit.id_column)
    )
    engine = FrameEngine(rows.events, one, key=key, compute=None)
    return make(engine, names).find_unit()
