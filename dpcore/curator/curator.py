"""The curator: it charges first, and only then reads private rows."""

from __future__ import annotations

import dataclasses
import json
import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pandas as pd

from dpcore.accounting.chain import committed_request, plan_digests, request_id_for_plan
from dpcore.accounting.ledger import Account, Charge, Ledger, source_dataset
from dpcore.accounting.loss import DELTA_UNIT, AnyLoss, Loss, PureDP, loss_fields
from dpcore.accounting.own import derive_key
from dpcore.anonymization.plan import Plan
from dpcore.curator._anonymizing import AnonymizationRun
from dpcore.curator._withstood import DrawnTables, Withstood
from dpcore.curator.found_cells import confirm_found_cells
from dpcore.curator.measuring import (
    build_measurer,
    build_rehearsal,
    list_events,
    schema_for_release,
)
from dpcore.curator.on_file import TableOnFile
from dpcore.curator.tabulating import (
    LEDGER_KEY,
    count_exact_tables,
    list_published_tables,
    note_other_outputs,
    tabulate,
)
from dpcore.engines.base import Engine, ignore_progress
from dpcore.engines.connect import engine_of, look
from dpcore.engines.sql.duckdb_source import tables_in
from dpcore.engines.work import Part
from dpcore.errors import DisclosureError, UsageError
from dpcore.evaluation.base import Evaluation, PrivateEvaluation, Result
from dpcore.evaluation.first_rows import FirstRows
from dpcore.evaluation.table.rows_of_people import (
    RowsPerPersonQuestion,
    measurer_of_people,
    read_privacy_unit,
)
from dpcore.mechanisms.measurer import Measurer
from dpcore.progress import Compute, OnProgress, compute_here, ignore_stage_progress
from dpcore.release import (
    AnonymizedTable,
    InternalReport,
    PrivateReport,
    Release,
    check_earlier_releases,
    guarantee_of,
)
from dpcore.schema.schema import Schema
from dpcore.schema.source import Source
from dpcore.schema.unit import PrivacyUnit
from dpcore.schema.values import READING_FROM_DATA
from dpcore.suppression.maps import find_errors
from dpcore.suppression.plan import TablePlan
from dpcore.suppression.protect import (
    attack_all,
    count_versions,
    protect_tables,
)
from dpcore.suppression.published import ExactTable, PublishedTable
from dpcore.synthesis import Recipe
from dpcore.synthesis.quote import Quote, smallest_loss
from dpcore.tables.digests import fingerprint

Answer = TypeVar("Answer", Release, PrivateReport)


class Curator(TableOnFile):
    """The holder of a table: charges the ledger, then answers from private rows.

    Make one with `Curator.open`.
    """

    def __init__(
        self,
        *,
        engine: Engine,
        schema: Schema,
        account: Account,
        ledger: Ledger,
        name: str,
        compute: Compute,
        linked: Mapping[str, Any] | None = None,
    ) -> None:
        """Hold rows behind an account; `open` finds what each argument says.

        Args:
            linked: of a view of two tables, what decides which rows it has. Other facts
                are another request, and lines in the ledger hold them.
        """
        self._engine = engine
        self._compute = compute
        self.ledger = ledger
        self.schema = schema
        self._declared = (
            {"declared_by": schema.declared_by} if schema.declared_by else {}
        )
        self._linked = linked
        self.account = account
        self.name = name
        self._rehearsed: set[tuple[str, Loss, Part | None]] = set()
        # the last exact tables that an attack told nothing about
        self._withstood: Withstood | None = None
        self._drawn: list[DrawnTables] = []

    def __repr__(self) -> str:
        return f"Curator({self.name!r}, {self.schema.domain})"

    def __reduce__(self) -> NoReturn:
        raise DisclosureError(
            "a curator holds private rows and is never stored", remedy="release first"
        )

    @property
    def reading_from_data(self) -> bool:
        return self.schema.reading_from_data

    @classmethod
    def open(
        cls,
        table: pd.DataFrame | Engine | Source,
        schema: Schema,
        *,
        budget: AnyLoss,
        ledger: Ledger,
        name: str = "table",
        identity: str | None = None,
        on_rows: Callable[[int], None] = ignore_progress,
        compute: Compute = compute_here,
    ) -> Curator:
        """Open a table under a schema and a budget that never changes.

        The account is filed under a keyed fingerprint of the content, so that the same
        table finds what was spent on it before; that of a connected source under its
        name. PureDP opens a ledger of pure epsilon.

        Args:
            table: the private rows, a connected source, or an engine under this schema
                and the ledger's key.
            schema: the public facts, and who is protected. Where its unit says that the
                number of rows a person is `found` privately, opening finds it, once for
                all, at that charge.
            budget: all that may ever be spent on this table.
            ledger: keeps the account.
            name: of the table, for people.
            identity: the name of the source that an engine is connected to.
            on_rows: called with how many rows of a source a pass has read; what it
                raises ends the pass.
            compute: calls recipes, evaluations and plans, and takes the fingerprint,
                perhaps in other processes.

        Raises: SchemaError when table and schema do not fit; BudgetFixed when the table
            has another budget or privacy unit on file; BudgetExceeded where it cannot
            pay for finding the number.

        >>> import dpcore as dp
        >>> sex = dp.Categorical("sex", categories=("Female", "Male"))
        >>> schema = dp.Schema(columns=(sex,), unit=dp.PrivacyUnit(max_rows=1))
        >>> people = pd.DataFrame({"sex": ["Female", "Male"] * 500})
        >>> curator = Curator.open(people, schema, budget=dp.PureDP(epsilon=3), ledger=dp.MemoryLedger())
        >>> curator.quote(dp.Histogram("sex"), dp.PureDP(epsilon=1)).affordable_repeats
        3
        >>> release = curator.run(dp.Histogram("sex"), dp.PureDP(epsilon=1))
        >>> release.marginals["sex",].values.shape, curator.balance().remaining_units / 10**12
        ((2,), 2.0)
        """
        engine = engine_of(
            table, schema, key=ledger.key, on_rows=on_rows, compute=compute
        )
        identity = table.name if isinstance(table, Source) else identity
        # The operator's declaration, if the table is a source or an engine on one
        declared_by: str = getattr(table, "declared_by", "")
        schema = dataclasses.replace(
            schema,
            declared_by=declared_by,
            reading_from_data=is_format_inferred(table, schema),
        )
        if engine.domain != schema.domain or not schema.columns:
            raise UsageError(
                "the table was declared with other columns than the schema, or none",
                remedy="declare the same columns for both",
            )
        dataset = engine.fingerprint if identity is None else source_dataset(identity)
        account = ledger.open(
            Account.for_budget(dataset, schema.unit.to_account(), budget)
        )
        schema = confirm_found_cells(schema, ledger, dataset)
        curator = cls(
            engine=engine,
            schema=schema,
            account=account,
            ledger=ledger,
            name=name,
            compute=compute,
        )
        if schema.unit.found:
            complete = dataclasses.replace(schema, unit=curator.find_unit())
            if complete != schema and engine is table:
                raise UsageError(
                    "an engine keeps to another number of rows", remedy="make it anew"
                )
            if complete != schema:
                return cls.open(
                    table,
                    complete,
                    budget=budget,
                    ledger=ledger,
                    name=name,
                    on_rows=on_rows,
                    compute=compute,
                )
        return curator

    tables_in = staticmethod(tables_in)
    # Reads the first rows of a source, before anything is declared or computed
    look = staticmethod(look)

    @staticmethod
    def account_fingerprint(frame: pd.DataFrame, ledger: Ledger) -> str:
        """Return the keyed fingerprint under which a table's account is filed.

        The account need not exist.
        """
        return fingerprint(frame, ledger.key)

    def quote(
        self,
        recipe: Recipe,
        loss: AnyLoss,
        *,
        part: Mapping[str, str] | None = None,
        table_rows: float = 0,
    ) -> Quote:
        """Return the cost of `run`, the remaining budget and the expected error.

        Reads no data.

        Args:
            recipe: what to measure, and the model to learn.
            loss: what to spend.
            part: {column: category} of one publicly declared part; None for the whole
                table.
            table_rows: about how many rows count, from public knowledge; see
                `Recipe.expect`.
        """
        recipe.check(self.schema.domain)
        spend = self.rule.convert(loss)
        rows = self.schema.unit.max_rows
        cell = self.schema.check_part(part)
        charge = Charge(
            units=self.rule.to_units(spend), part=self._part_to_charge(cell)
        )
        error = recipe.expect(self.schema.domain, spend, rows, table_rows)
        return Quote.for_charge(
            charge, self.ledger.standing(self.account.dataset), error
        )

    def find_smallest_loss(
        self,
        recipe: Recipe,
        half_width: float,
        *,
        pure: bool,
        level: float = 0.95,
        table_rows: float = 0,
    ) -> Loss:
        """Return the smallest loss for an error of at most `half_width` rows per cell.

        Each cell is within it with probability `level`. Reads no data.

        Args:
            pure: whether the loss is epsilon (Laplace noise) or rho (Gaussian noise).
            table_rows: approximate number of rows, as of `quote`; 0 if unknown.

        Raises: ParameterError if no loss up to 10,000 brings that, or the recipe's
            error is not known.
        """
        return smallest_loss(
            recipe,
            self.schema.domain,
            self.schema.unit.max_rows,
            half_width,
            is_pure=pure,
            level=level,
            table_rows=table_rows,
        )

    def run(
        self,
        recipe: Recipe,
        loss: AnyLoss,
        *,
        part: Mapping[str, str] | None = None,
        request_id: str | None = None,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> Release:
        """Charge `loss`, then measure and publish.

        Without a request id, a recipe that was run before at this loss returns its
        stored release and charges nothing. With a request id, that id's stored release
        is returned, and a new id is a new draw at a new charge. If anything fails after
        the charge, the charge stays.

        Args:
            recipe: what to measure, and the model to learn.
            loss: what to spend, all of it.
            part: {column: category} to read, and charge, one publicly declared part
                only.
            request_id: minted before the click, so that a repeated click is the same
                request.
            on_progress: called with the stage and the share done, first when the charge
                is on file; what it raises ends the run, and the charge stays.

        Raises: BudgetExceeded, RequestConflict, LimitError, ParameterError, all before
            the charge.
        """
        if not isinstance(request_id, str | None):
            raise UsageError(
                "a request id must be a text",
                remedy="mint one, such as uuid.uuid4().hex",
            )
        cell = self.schema.check_part(part)
        self._check_recipe(recipe)
        delta = recipe.threshold_delta

        def rehearse(spend: Loss) -> Measurer:
            self._rehearse(recipe, spend, cell)
            return build_measurer(self._engine, self.schema, spend, cell, delta)

        def release(measurer: Measurer, request_id: str) -> Release:
            on_progress("measuring", 0.0)
            marginals, model = self._compute(
                recipe.fit, measurer, on_progress=on_progress
            )
            schema = schema_for_release(self.schema, measurer, *model.columns)
            return Release(
                request_id=request_id,
                recipe=recipe.to_dict(),
                schema=schema,
                guarantee=self.update_guarantee(
                    guarantee_of(
                        schema,
                        loss,
                        self.rule,
                        delta,
                        recipe.stands_on,
                        recipe.facts_from_data,
                    )
                ),
                marginals=marginals,
                model=model,
                created=datetime.now(UTC).isoformat(timespec="seconds"),
                part=cell,
            )

        return self._pay_then_answer(
            recipe, loss, cell, request_id, self.release, rehearse, release
        )

    def rehearse(self, recipe: Recipe, loss: AnyLoss) -> None:
        """Refuse what public facts can refuse, as `run` does before its charge.

        Reads and charges nothing.

        Raises: LimitError, ParameterError.
        """
        self._check_recipe(recipe)
        self._rehearse(recipe, self.rule.convert(loss), None)

    def _check_recipe(self, recipe: Recipe) -> None:
        recipe.check(self.schema.domain)
        check_earlier_releases(recipe.stands_on, self.schema)

    def _rehearse(self, recipe: Recipe, spend: Loss, cell: Part | None) -> None:
        """Run a recipe on public facts alone, once: they do not change."""
        asked = (json.dumps(recipe.to_dict(), sort_keys=True), spend, cell)
        if asked not in self._rehearsed:
            self._compute(
                recipe.fit,
                build_rehearsal(self.schema, spend, cell, recipe.threshold_delta),
                on_progress=ignore_stage_progress,
            )
            self._rehearsed.add(asked)

    @staticmethod
    def stored_release(
        source: Source,
        schema: Schema,
        recipe: Recipe,
        loss: AnyLoss,
        *,
        budget: AnyLoss,
        ledger: Ledger,
        part: Mapping[str, str] | None = None,
    ) -> Release | None:
        """Return an earlier release of `run` on a source, without reading the source.

        None if nothing is stored: then the source must be opened. The arguments are
        those of `open` and `run`.

        Raises: BudgetFixed, LedgerError, ParameterError, as `open` does.
        """
        dataset = source_dataset(source.name)
        if ledger.account(dataset) is None:
            return None
        schema = dataclasses.replace(
            schema, declared_by=source.declared_by, reading_from_data=False
        )
        account = ledger.open(
            Account.for_budget(dataset, schema.unit.to_account(), budget)
        )
        schema = confirm_found_cells(schema, ledger, dataset)
        if schema.unit.found:
            unit = read_privacy_unit(account, ledger)
            if unit is None:
                return None
            schema = dataclasses.replace(schema, unit=unit)
        spend = account.rule.convert(loss)
        plan = _digest_request(
            recipe, spend, schema.check_part(part), schema, ledger.key
        )
        request_id = committed_request(ledger.lines(dataset), None, plan)
        text = None if request_id is None else ledger.release(dataset, request_id)
        if text is None:
            return None
        stored = Release.from_json(text)
        tables = count_exact_tables(ledger.lines(dataset))
        guarantee = dataclasses.replace(stored.guarantee, exact_tables=tables)
        return dataclasses.replace(stored, guarantee=guarantee)

    def stored_request(
        self, recipe: Recipe, loss: AnyLoss, *, part: Mapping[str, str] | None = None
    ) -> str | None:
        """Return the request id of an earlier release of this recipe at this loss.

        Using it again is free.
        """
        cell = self.schema.check_part(part)
        return committed_request(
            self.lines(),
            None,
            self._request_digests(recipe, self.rule.convert(loss), cell),
        )

    def anonymize(
        self,
        plan: Plan,
        on_progress: OnProgress = ignore_stage_progress,
        *,
        smallest_group: int = 1,
    ) -> AnonymizedTable:
        """Generalize and suppress by a plan, outside differential privacy.

        The ledger notes it. If the schema names people by an id column, the plan counts
        people, whatever it said. Rows come in the order of what is published, so that
        their positions tell nothing about the original.

        Args:
            plan: with a role for every column.
            on_progress: called with the stage and the share done; what it raises ends
                the work.
            smallest_group: fewest people in a group of the table that leaves, whatever
                the plan allows.

        Raises: InfeasibleError, SchemaError and the other errors of a plan; RowsError
            if rows do not fit.
        """
        return self._note_plan(plan, smallest_group, on_progress).make_table()

    def anonymize_to(
        self,
        folder: Path,
        plan: Plan,
        on_progress: OnProgress = ignore_stage_progress,
        *,
        smallest_group: int = 1,
    ) -> int:
        """Anonymize rows into a new folder of Parquet files; return the row count.

        Rows that do not fit into memory are written in a random order.

        Args:
            folder: must not exist; the others as of `anonymize`.

        Raises: as `anonymize`, RowsError for a plan that needs all rows at once;
            ParameterError if nothing can be written; ReadError.
        """
        return self._note_plan(plan, smallest_group, on_progress).write(folder)

    def _note_plan(
        self, plan: Plan, smallest_group: int, on_progress: OnProgress
    ) -> AnonymizationRun:
        """Note the plan in the ledger; return the object that executes it."""
        plan = plan.with_person_column(self.schema.unit.id_column)
        if plan.pseudonym is not None and not plan.series:
            plan = dataclasses.replace(plan, series=uuid.uuid4().hex)
        digest, _ = plan_digests(self.ledger.key, plan.to_json())
        noted = {"anonymized": digest, "about": list(plan.about), **self._declared}
        self.ledger.note(self.account.dataset, uuid.uuid4().hex, noted)
        return AnonymizationRun(
            engine=self._engine,
            plan=plan,
            declared=self._declared,
            key=self.ledger.key,
            smallest_group=smallest_group,
            max_rows=self.schema.unit.max_rows,
            exact_tables=count_exact_tables(self.lines()),
            compute=self._compute,
            on_progress=on_progress,
        )

    def exact_table(
        self,
        plan: TablePlan,
        on_progress: OnProgress = ignore_stage_progress,
        *,
        others: Sequence[PublishedTable] = (),
    ) -> InternalReport[ExactTable]:
        """Make a single exact table, see `make_exact_tables`."""
        made = self.make_exact_tables([plan], on_progress, others=others)
        return InternalReport(kind=LEDGER_KEY, content=made.content[0])

    def make_exact_tables(
        self,
        plans: Sequence[TablePlan],
        on_progress: OnProgress = ignore_stage_progress,
        *,
        others: Sequence[PublishedTable] = (),
    ) -> InternalReport[tuple[ExactTable, ...]]:
        """Count people in tables, and hide or round counts, outside differential privacy.

        The tables are protected together, so each one may show what the others allow.
        The same rounded tables asked again are the same draft.
        The ledger notes it. The result is internal until `publish_tables` accepts it.

        Args:
            plans: columns, hierarchies and the rule of each table; a column without a
                hierarchy shows each of its values.
            on_progress: called with the stage and the share done; what it raises ends
                the work.
            others: exact tables of other accounts about the same people, as their
                owner says. They are attacked together with these if their counts
                are those of these people, and compared with them if some people came
                or left.

        Raises: InfeasibleError if the tables cannot be protected, together or with
            exact tables on file, which are named; HierarchyError, LimitError,
            SchemaError, ParameterError.
        """
        columns = dict.fromkeys(name for plan in plans for name in plan.about)
        about = {"evaluation": LEDGER_KEY, "about": list(columns)}
        self.ledger.note(self.account.dataset, uuid.uuid4().hex, about)
        tabulated = tabulate(
            self._engine,
            plans,
            self.schema,
            list_published_tables(self.lines()),
            others,
        )
        drawn = (one.tables for one in self._drawn if one.are_of(tabulated))
        tables = next(drawn, None)
        if tables is None:
            tables = self._compute(
                protect_tables,
                tabulated.plans,
                tabulated.counts,
                tabulated.earlier,
                tabulated.maps,
                on_progress=on_progress,
            )
            if tabulated.plans[0].rounding_base:
                facts = Withstood.describe([], tabulated)
                self._drawn.append(
                    DrawnTables(plans=tabulated.plans, facts=facts, tables=tables)
                )
        lines = self.lines()
        content = tuple(
            dataclasses.replace(
                table, published=note_other_outputs(table.published, lines)
            )
            for table in tables
        )
        published = [table.published for table in content]
        self._withstood = Withstood.describe(published, tabulated)
        return InternalReport(kind=LEDGER_KEY, content=content)

    def count_rare_people(
        self,
        plans: Sequence[TablePlan],
        pair: tuple[str, str],
        *,
        others: Sequence[PublishedTable] = (),
    ) -> InternalReport[int]:
        """Count people with a rare pair of values, outside differential privacy.

        The ledger notes it.

        Args:
            plans: of exact tables that such people keep from being published.
            pair: an inner and an outer column, such as town and district.
            others: as of `exact_table`.
        """
        about = {"evaluation": LEDGER_KEY, "about": list(pair)}
        self.ledger.note(self.account.dataset, uuid.uuid4().hex, about)
        earlier = list_published_tables(self.lines())
        tabulated = tabulate(self._engine, plans, self.schema, earlier, others)
        people = sum(
            sum(find_errors(known).values())
            for known in tabulated.maps
            if {*known.columns} == {*pair}
        )
        return InternalReport(kind=LEDGER_KEY, content=people)

    def publish_table(
        self,
        report: InternalReport[ExactTable],
        on_progress: OnProgress = ignore_stage_progress,
        *,
        others: Sequence[PublishedTable] = (),
    ) -> PublishedTable:
        """Publish the result of `exact_table`, see `publish_tables`."""
        bundle: tuple[ExactTable, ...] = (report.content,)
        reports = InternalReport(kind=LEDGER_KEY, content=bundle)
        return self.publish_tables(reports, on_progress, others=others)[0]

    def publish_tables(
        self,
        report: InternalReport[tuple[ExactTable, ...]],
        on_progress: OnProgress = ignore_stage_progress,
        *,
        others: Sequence[PublishedTable] = (),
    ) -> tuple[PublishedTable, ...]:
        """Publish exact tables, and note all in the ledger.

        They are attacked together with every exact table on file by now, unless they
        were the last to be made and nothing that an attack sees is new since. From
        then on, every guarantee of this account says that they were published. Either
        all are noted or none.

        Args:
            report: the result of `make_exact_tables`.
            on_progress: called with the stage and the share done.
            others: as of `make_exact_tables`, by now.

        Raises: DisclosureError if the attack tells a hidden count, or the people are
            others by now; RequestConflict if another table is published meanwhile.
        """
        made = report.content
        tables = [one.published for one in made]
        lines = self.lines()
        earlier = list_published_tables(lines)
        plans = [one.plan for one in made]
        tabulated = tabulate(self._engine, plans, self.schema, earlier, others)
        counts = [tuple(own.tolist()) for own in tabulated.counts]
        if counts != [one.true_counts for one in made]:
            raise DisclosureError(
                "this data set holds other people than when the table was made",
                remedy="make the table again",
            )
        on_file = sorted({before.key for before, _ in tabulated.earlier})
        if any(table.rounding_base and [*table.known] != on_file for table in tables):
            raise DisclosureError(
                "another exact table about the same people was published since this one "
                "was rounded, and equal counts may be rounded differently",
                remedy="make the table again",
            )
        if self._withstood != Withstood.describe(tables, tabulated):
            outcome = self._compute(
                attack_all,
                tables,
                tabulated.counts,
                tabulated.earlier,
                tabulated.maps,
                on_progress=on_progress,
            )
            if outcome.revealed_cells:
                raise DisclosureError(
                    "together with the exact tables on file, this one gives hidden "
                    "counts away: {tables}",
                    remedy="make the table again, so that more cells are hidden, or "
                    "counts are rounded in another way",
                    tables=", ".join(outcome.blamed),
                )
        bundle = uuid.uuid4().hex if len(tables) > 1 else ""
        published = tuple(
            dataclasses.replace(
                note_other_outputs(
                    count_versions(
                        table, tabulated.earlier, len(tables), tabulated.maps
                    ),
                    self.lines(),
                ),
                bundle=bundle,
            )
            for table in tables
        )
        # The running number keeps two tables from being published at once, unattacked
        # together
        notes = {
            f"{LEDGER_KEY} {number}": {
                LEDGER_KEY: table.to_record(),
                "about": list(table.layout.columns),
                **self._declared,
            }
            for number, table in enumerate(published, start=len(earlier) + 1)
        }
        self.ledger.note_all(self.account.dataset, notes)
        return published

    def evaluate(
        self,
        evaluation: Evaluation[Any, Result],
        on_progress: OnProgress = ignore_stage_progress,
        *,
        first_rows: int = 0,
    ) -> InternalReport[Result]:
        """Answer a question about the original, outside differential privacy.

        The ledger notes it without a charge.

        Args:
            evaluation: the question.
            on_progress: called with the stage and the share done; what it raises ends
                the work.
            first_rows: rows that stand for all of them where these are needed and do
                not fit; 0 for none.

        Raises: RowsError where rows are needed and do not fit; the errors of the
            evaluation.
        """
        about = {"evaluation": evaluation.kind, "about": list(evaluation.ledger_names)}
        self.ledger.note(self.account.dataset, uuid.uuid4().hex, about)
        with self._engine.hold_state():
            table = FirstRows(self._engine, first_rows) if first_rows else self._engine
            original = evaluation.read(table, self.schema)
            content = self._compute(
                evaluation.compute, original, self.schema, on_progress=on_progress
            )
        return InternalReport(kind=evaluation.kind, content=content)

    def evaluate_privately(
        self,
        evaluation: PrivateEvaluation,
        loss: AnyLoss,
        *,
        request_id: str | None = None,
    ) -> PrivateReport:
        """Answer a question about the original with noise, at a charge.

        The answer may be shared. As with `run`, the same question at the same loss
        returns its stored answer, a new request id is a new draw, and a charge stays
        whatever happens after it.

        Raises: BudgetExceeded, RequestConflict, ParameterError; none of them charges.
        """
        evaluation.check(self.schema)
        check_earlier_releases(evaluation.source_guarantees, self.schema)

        def rehearse(spend: Loss) -> Measurer:
            if evaluation.counts_people:  # which public facts cannot refuse
                return measurer_of_people(
                    evaluation.ledger_names[0], self._engine.people, spend
                )
            evaluation.measure(build_rehearsal(self.schema, spend), self.schema)
            return build_measurer(self._engine, self.schema, spend)

        def report(measurer: Measurer, request_id: str) -> PrivateReport:
            content = evaluation.measure(measurer, self.schema)
            schema = schema_for_release(self.schema, measurer)
            return PrivateReport(
                request_id=request_id,
                kind=evaluation.kind,
                about=evaluation.ledger_names,
                content=content,
                guarantee=self.update_guarantee(
                    guarantee_of(
                        schema, loss, self.rule, stands_on=evaluation.source_guarantees
                    )
                ),
                created=datetime.now(UTC).isoformat(timespec="seconds"),
            )

        return self._pay_then_answer(
            evaluation, loss, None, request_id, self.report, rehearse, report
        )

    def find_request_id(self, evaluation: PrivateEvaluation, loss: AnyLoss) -> str:
        """Return the id of the request that has answered, or is answering, a question.

        Question and loss identify it. If there is none, it is a new id, the same for
        all callers until one of them has paid and failed.
        """
        plan = self._request_digests(evaluation, self.rule.convert(loss), None)
        return request_id_for_plan(self.ledger.key, self.lines(), plan)

    def find_unit(self) -> PrivacyUnit:
        """Return the privacy unit with `max_rows`, found privately if it must be.

        The search is charged once; later calls find its result on file.
        """
        unit = self.schema.unit
        name = self.schema.unit.id_column or ""
        if read_privacy_unit(self.account, self.ledger) is None:
            search = Curator(
                engine=self._engine,
                schema=dataclasses.replace(
                    self.schema, unit=PrivacyUnit(max_rows=1, id_column=name)
                ),
                account=self.account,
                ledger=self.ledger,
                name=self.name,
                compute=self._compute,
            )
            question = RowsPerPersonQuestion(column=name)
            loss = PureDP(epsilon=unit.found)
            search.evaluate_privately(
                question, loss, request_id=search.find_request_id(question, loss)
            )
        return read_privacy_unit(self.account, self.ledger) or unit

    def _pay_then_answer(
        self,
        question: Recipe | PrivateEvaluation,
        loss: AnyLoss,
        part: Part | None,
        request_id: str | None,
        load_stored: Callable[[str], Answer],
        rehearse: Callable[[Loss], Measurer],
        answer: Callable[[Measurer, str], Answer],
    ) -> Answer:
        """Return a stored answer, or check, reserve the charge, answer, and commit.

        A charge stays.

        Args:
            question: what is paid for.
            loss: as in `run`.
            part: (column, category), or None.
            request_id: as in `run`.
            load_stored: loads the answer of an earlier request.
            rehearse: refuses what public facts can refuse, and returns the measurer of
                the rows.
            answer: spends the measurer's loss, for a request id.
        """
        dataset = self.account.dataset
        spend = self.rule.convert(loss)
        plan = self._request_digests(question, spend, part)
        if earlier := committed_request(self.lines(), request_id, plan):
            return load_stored(earlier)
        request_id = request_id or uuid.uuid4().hex
        measurer = rehearse(spend)
        delta = (
            0 if isinstance(question, PrivateEvaluation) else question.threshold_delta
        )
        units = self.rule.to_units(spend)
        charge = Charge(
            units=units,
            threshold_units=math.ceil(delta * DELTA_UNIT),
            part=self._part_to_charge(part),
        )
        report = {"report": True} if isinstance(question, PrivateEvaluation) else {}
        asked = {
            "plan": plan[0],
            "recipe": question.to_dict(),
            "loss": loss_fields(loss),
            **report,
            **({"linked": self._linked} if self._linked else {}),
        }
        with self._engine.hold_state():
            self.ledger.reserve(dataset, request_id, charge, asked | self._declared)
            try:
                content = answer(measurer, request_id)
                text = content.to_json()
            except BaseException as error:
                self.ledger.fail(
                    dataset,
                    request_id,
                    {"error": type(error).__name__, **list_events(measurer)},
                )
                raise
        self.ledger.commit(dataset, request_id, list_events(measurer), text)
        return content

    def _request_digests(
        self, recipe: Recipe | PrivateEvaluation, spend: Loss, part: Part | None
    ) -> tuple[str, str]:
        """Return the keyed digests that identify a request, see `plan_digests`.

        Equal plans on equal schemas are the same request.
        """
        return _digest_request(
            recipe, spend, part, self.schema, self.ledger.key, self._linked
        )

    def _part_to_charge(self, part: Part | None) -> Part | None:
        """Return the part in the form that the ledger charges.

        A source in which rows may move keeps all rows.
        """
        if part is None or self.account.source:
            return None
        now, older = self.schema.part_in_ledger(
            part, derive_key(self.ledger.key, "parts")
        )
        charged = self.ledger.standing(self.account.dataset).reserved
        partitions = {partition for partition, _ in filter(None, charged)}
        return older if older[0] in partitions else now


def _digest_request(
    question: Recipe | PrivateEvaluation,
    spend: Loss,
    part: Part | None,
    schema: Schema,
    key: bytes,
    linked: Mapping[str, Any] | None = None,
) -> tuple[str, str]:
    content = [
        question.to_dict(),
        spend.name,
        str(spend.amount),
        part,
        schema.plan_text,
        *([linked] if linked else []),
    ]
    return plan_digests(key, json.dumps(content, sort_keys=True))


def is_format_inferred(table: pd.DataFrame | Engine | Source, schema: Schema) -> bool:
    """Return whether the format of a table's file was inferred from the file."""
    if isinstance(table, Source):
        return False
    if isinstance(table, pd.DataFrame):
        return bool(table.attrs.get(READING_FROM_DATA, schema.reading_from_data))
    return schema.reading_from_data or table.reading_from_data
