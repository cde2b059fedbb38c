"""All attacks on one release, or on a file made elsewhere.

Attacks can only refute. If they find nothing, that proves nothing; a proof is in the
mechanism.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from dpcore.errors import UsageError, missing_column_error, no_common_columns_error
from dpcore.evaluation._records import (
    EVALUATION_SEED,
    Records,
    mark_random_people,
    read_records,
)
from dpcore.evaluation.attacks._copies import (
    attack_by_closest_record,
    attack_by_exact_copies,
    attack_by_one_to_one_linkage,
)
from dpcore.evaluation.attacks._knowledge import attack_by_inference, attack_by_linkage
from dpcore.evaluation.attacks._singling_out import (
    single_out_by_one_column,
    single_out_by_several_columns,
)
from dpcore.evaluation.attacks.base import AttackResult, Scene
from dpcore.evaluation.base import RowsEvaluation
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.schema.schema import Schema
from dpcore.tables.rows import Microdata, PublicTable

MAX_ATTACKED_ROWS = 50_000
"""Most rows of each table that take part, chosen at random."""


@dataclass(frozen=True, kw_only=True)
class AttacksReport:
    """The results of all attacks on one table.

    Attributes:
        attacks: one entry per attack.
        columns: used by the attacks.
        people, control: rows of the original and of the control; 0 without one.
    """

    attacks: tuple[AttackResult, ...]
    columns: tuple[str, ...]
    people: int
    control: int

    @property
    def successful(self) -> tuple[AttackResult, ...]:
        """The attacks that work better on people in the release than on others."""
        return tuple(attack for attack in self.attacks if attack.succeeds)


def attack_release(
    original: pd.DataFrame,
    release: pd.DataFrame,
    schema: Schema,
    *,
    control: pd.DataFrame | None = None,
    secret: str | None = None,
    attempts: int = 500,
    on_progress: OnProgress = ignore_stage_progress,
) -> AttacksReport:
    """Run all attacks on `release`, which may reveal people of `original`.

    Internal, as it reads both.

    Args:
        original: people whose rows are behind the release.
        release: visible to everybody.
        schema: of both.
        control: people of the same kind outside the release. The original is cut to as
            many rows, so that chance has the same part in both. Without it no attack
            has a verdict.
        secret: the column to infer; None for all in turn.
        attempts: people, or guesses, of each attack; from 10.
        on_progress: called with the stage and the share done.

    Raises: ParameterError if the tables share fewer than two columns, or `secret` is
        none of them.
    """
    if attempts < 10:
        raise UsageError(
            f"attempts ({attempts}) must be at least 10", remedy="ask for 500"
        )
    frames = [original, release] + ([] if control is None else [control])
    rng = np.random.default_rng(EVALUATION_SEED)
    tables = [
        _sample_rows(sample, MAX_ATTACKED_ROWS, rng)
        for sample in read_records(frames, schema)
    ]
    names = tables[0].names
    if len(names) < 2:
        raise no_common_columns_error()
    if secret is not None and secret not in names:
        raise missing_column_error(secret)
    people = tables[0]
    others = tables[2] if control is not None else None
    if others is not None:
        size = min(len(people), len(others))
        people = _sample_rows(people, size, rng)
        others = _sample_rows(others, size, rng)
    scene = Scene(
        original=people, release=tables[1], control=others, attempts=attempts, rng=rng
    )
    attacks: list[Callable[[Scene], AttackResult]] = [
        attack_by_exact_copies,
        attack_by_closest_record,
        attack_by_one_to_one_linkage,
        single_out_by_one_column,
        single_out_by_several_columns,
        attack_by_linkage,
        lambda scene: attack_by_inference(scene, secret),
    ]
    results = []
    for number, attack in enumerate(attacks):
        on_progress("attacking", number / len(attacks))
        results.append(attack(scene))
    return AttacksReport(
        attacks=tuple(results),
        columns=names,
        people=len(people),
        control=len(others) if others else 0,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class AttacksQuestion(RowsEvaluation[AttacksReport]):
    """Evaluation that attacks a release or a table made elsewhere.

    Attributes:
        table: visible to everybody.
        control: people of the same kind who are not in it.
        secret: as in `attack_release`.
    """

    kind = "attacks"
    counted_rows_only = True

    table: PublicTable
    control: pd.DataFrame | None = field(default=None, repr=False)
    secret: str | None = None

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> AttacksReport:
        """Return the results of all attacks."""
        return attack_release(
            original.frame,
            self.table.frame,
            schema,
            control=self.control,
            secret=self.secret,
            on_progress=on_progress,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldOutAttacksQuestion(RowsEvaluation[AttacksReport]):
    """Evaluation that makes a release anew from half of the people, and attacks it.

    The other half is the control. Nothing it makes leaves the report, so it charges
    nothing.

    Attributes:
        make_release: from the rows of half of the people to a released table.
    """

    kind = "attacks with half held out"
    counted_rows_only = True

    make_release: Callable[[pd.DataFrame], pd.DataFrame] = field(repr=False)
    secret: str | None = None
    attempts: int = 500

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> AttacksReport:
        """Return the results of all attacks on the new release.

        Raises: what `make_release` raises; ParameterError for fewer than 20 people.
        """
        frame = original.frame
        inside = mark_random_people(
            frame, schema.unit.id_column, 2, seed=EVALUATION_SEED, min_people=20
        )
        on_progress("making it again", 0.0)
        release = self.make_release(frame[inside].reset_index(drop=True))
        return attack_release(
            frame[inside],
            release,
            schema,
            control=frame[~inside],
            secret=self.secret,
            attempts=self.attempts,
            on_progress=on_progress,
        )


def _sample_rows(table: Records, rows: int, rng: np.random.Generator) -> Records:
    return (
        table
        if len(table) <= rows
        else table.take(np.sort(rng.permutation(len(table))[:rows]))
    )
