"""Anonymize an engine's rows by a plan, in memory or into a folder of files."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from dpcore.anonymization.apply import publishable_table, sort_by_content
from dpcore.anonymization.levels import read_distinct
from dpcore.anonymization.plan import Plan
from dpcore.anonymization.streamed import ExpectedClasses, RowRecoder, check_can_stream
from dpcore.engines.base import Engine
from dpcore.io.folder import write_folder, write_shuffled
from dpcore.progress import Compute, OnProgress
from dpcore.release import AnonymizedTable, Guarantee
from dpcore.schema.values import as_text
from dpcore.tables.digests import pseudonyms
from dpcore.tables.rows import Microdata, PublicTable


@dataclass(frozen=True)
class AnonymizationRun:
    """A plan noted in the ledger, with its rows.

    Attributes:
        declared: what the guarantee says of the word of a source's operator.
        key: of the ledger, for pseudonyms.
        smallest_group: fewest people in a group of rows that leave.
        max_rows: most rows of a person, as declared.
        exact_tables: how many were published from the account.
    """

    engine: Engine
    plan: Plan
    declared: Mapping[str, str]
    key: bytes
    smallest_group: int
    max_rows: int
    exact_tables: int
    compute: Compute
    on_progress: OnProgress

    def make_table(self) -> AnonymizedTable:
        """Anonymize rows in memory.

        Raises: RowsError if they do not fit; the errors of the plan.
        """
        rows = self.engine.rows()
        original = rows.frame.reset_index(drop=True)
        table = Microdata(original, rows.key)
        frame, models = self.compute(
            publishable_table,
            table,
            self.plan,
            self.smallest_group,
            self.max_rows,
            on_progress=self.on_progress,
        )
        column = self.plan.pseudonym
        follow_up = ""
        if column is not None:
            values = original.loc[frame.index, column]
            frame = frame.assign(
                **{column: pseudonyms(values, self.key, self.plan.series)}
            )
            of_values = sorted(
                set(zip(frame[column].dropna(), as_text(values).dropna(), strict=True))
            )
            follow_up = json.dumps(
                {
                    "column": column,
                    "series": self.plan.series,
                    "values": dict(of_values),
                }
            )
        return AnonymizedTable(
            table=PublicTable(sort_by_content(frame)),
            plan=self.plan.to_json(),
            guarantee=self._guarantee(models),
            follow_up=follow_up,
        )

    def write(self, folder: Path) -> int:
        """Anonymize rows into a new folder; return how many were written.

        Raises: as `make_table`; RowsError for a plan that needs all rows at once;
            ParameterError if nothing can be written; ReadError.
        """
        if self.engine.in_memory:
            made = self.make_table()
            return write_folder([made.table], folder, made.guarantee.as_metadata())
        check_can_stream(self.plan)
        with self.engine.hold_state():
            distinct = read_distinct(self.engine.tuples, self.plan)
            recoding = self.compute(
                RowRecoder.from_tuples,
                distinct,
                self.plan,
                self.smallest_group,
                on_progress=self.on_progress,
            )
            tally = ExpectedClasses(recoding, distinct)

            def hand_over(put: Callable[[pd.DataFrame], str]) -> Sequence[str]:
                published = self.engine.apply(tally.make_writer(put))
                tally.check(published)
                return published.locations

            metadata = self._guarantee(recoding.models).as_metadata()
            return write_shuffled(
                hand_over,
                folder,
                rows=recoding.row_count,
                spread=self.engine.map_numbers,
                metadata=metadata,
            )

    def _guarantee(self, models: tuple[str, ...]) -> Guarantee:
        promise = Guarantee.syntactic(
            models, counts=self.plan.counted_unit, **self.declared
        )
        return replace(promise, exact_tables=self.exact_tables)
