"""Every attack catches a planted copy, and none cries wolf; rate, baseline and control
come together.
"""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dpcore as dp
from dpcore.errors import DisclosureError, ParameterError, SchemaError
from dpcore.evaluation import (
    AttacksQuestion,
    AttacksReport,
    HeldOutAttacksQuestion,
    attack_release,
)
from dpcore.evaluation._records import read_records
from dpcore.evaluation.attacks._copies import (
    MAX_LINKED_PEOPLE,
    attack_by_closest_record,
    attack_by_one_to_one_linkage,
)
from dpcore.evaluation.attacks._rates import CONFIDENCE, rate_difference
from dpcore.evaluation.attacks.base import Scene
from dpcore.tables.rows import PublicTable
from tests.evaluation.people import SCHEMA, independent, people
from tests.statistical import laws

ATTACKS = [
    "exact copies",
    "closest record",
    "one-to-one linkage",
    "singling out by one column",
    "singling out by several columns",
    "linkability",
    "inference",
]
INSIDE = people(1_000, 1)
OUTSIDE = people(1_000, 2)


def attack(release: pd.DataFrame, **asked: object) -> AttacksReport:
    return attack_release(INSIDE, release, SCHEMA, **{"control": OUTSIDE, **asked})


def test_a_planted_copy_is_caught_by_every_attack() -> None:
    """A file that is the original itself would pass for safe."""
    found = attack(INSIDE.sample(frac=1, random_state=1))
    assert [each.attack for each in found.attacks] == ATTACKS
    for each in found.attacks:
        assert each.succeeds, each
        assert each.rate.value > each.control.value
        assert 0 < each.risk <= 1


def test_independent_columns_are_caught_by_none() -> None:
    """An attack would accuse a table that holds nobody's row."""
    assert attack(independent(INSIDE, 1_000, 3)).successful == ()


def test_another_sample_is_caught_by_none() -> None:
    """What is true of the whole population would count as a leak of these people."""
    found = attack(people(1_000, 4))
    assert found.successful == ()
    inference = found.attacks[-1]
    # it does teach about the population
    assert inference.rate.value > inference.baseline.value + 0.1


@pytest.mark.proof
def test_false_alarms_are_rare() -> None:
    """An attack would be called a success more often than its interval allows.

    Its lower end is above 0 by chance alone in (1 - LEVEL) / 2 of the cases, so one of
    seven attacks cries wolf in a run with a chance of seven times that at most, however
    the seven depend on each other. More runs with an alarm than one in a million allows
    are refused; intervals of 50 % must be.
    """
    runs = [
        attack_release(
            people(600, 10 + seed),
            people(600, 20 + seed),
            SCHEMA,
            control=people(600, 30 + seed),
        )
        for seed in range(5)
    ]
    chance = len(ATTACKS) * (1 - CONFIDENCE) / 2
    most = next(
        few
        for few in range(6)
        if stats.binom.sf(few, len(runs), chance) < laws.FALSE_ALARM
    )
    assert most < len(runs) - 1, "no number of alarms would be too many"

    def alarms(level: float) -> int:
        return sum(
            any(
                rate_difference(each.rate, each.control, level)[1] > 0
                for each in run.attacks
            )
            for run in runs
        )

    assert sum(bool(run.successful) for run in runs) == alarms(CONFIDENCE) <= most
    assert alarms(0.5) > most, "the twin: intervals that are too narrow are noticed"


def test_few_people_do_not_bring_false_alarms() -> None:
    """With ten people 23 of 100 independent samples were called copies: 1,000 rows met
    the same ten.
    """
    runs = 100
    false = 0
    for seed in range(runs):
        frames = [
            people(rows, 100 * part + seed) for part, rows in enumerate((10, 1_000, 10))
        ]
        tables = read_records(frames, SCHEMA)
        scene = Scene(
            original=tables[0],
            release=tables[1],
            control=tables[2],
            attempts=500,
            rng=np.random.default_rng(seed),
        )
        false += attack_by_closest_record(scene).succeeds
    assert laws.at_least(runs - false, runs, 0.95), false


def test_rows_are_linked_one_to_one_where_the_nearest_row_misleads() -> None:
    """A stranger who is close to all rows would take them all, and the people in it
    would seem safe.
    """
    schema = dp.Schema(
        columns=(dp.Real("x", low=0, high=100, bin_width=1),),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    own = pd.DataFrame({"x": 50 + np.arange(40) / 100})
    stranger = pd.DataFrame({"x": [50.6, *np.zeros(39)]})
    original, release, control = read_records([own, own + 1.0, stranger], schema)
    scene = Scene(
        original=original,
        release=release,
        control=control,
        attempts=500,
        rng=np.random.default_rng(1),
    )
    assert attack_by_closest_record(scene).rate.value < 0.5
    linked = attack_by_one_to_one_linkage(scene)
    assert (linked.rate.successes, linked.rate.attempts) == (39, 40)
    assert linked.succeeds


def test_at_most_two_thousand_people_are_matched() -> None:
    """A table of a million rows would take days."""
    tables = read_records(
        [people(3_000, 1), people(3_000, 2), people(3_000, 3)], SCHEMA
    )
    scene = Scene(
        original=tables[0],
        release=tables[1],
        control=tables[2],
        attempts=500,
        rng=np.random.default_rng(1),
    )
    result = attack_by_one_to_one_linkage(scene)
    assert result.control is not None
    assert result.rate.attempts == result.control.attempts == MAX_LINKED_PEOPLE // 2
    assert result.rate.successes + result.control.successes == MAX_LINKED_PEOPLE // 2


def test_a_few_copied_rows_are_seen_as_copies() -> None:
    """One row in ten that is somebody's own would go unnoticed."""
    release = pd.concat([INSIDE.iloc[:100], independent(INSIDE, 900, 3)])
    assert "exact copies" in [each.attack for each in attack(release).successful]


def test_columns_copied_value_by_value_are_singled_out() -> None:
    """Shuffled columns keep every rare value: exact numbers of people leak though no
    relation does.
    """
    rng = np.random.default_rng(5)
    release = pd.DataFrame(
        {name: rng.permutation(INSIDE[name].to_numpy()) for name in INSIDE}
    )
    assert [each.attack for each in attack(release).successful] == [
        "singling out by one column"
    ]


def test_generalized_rows_of_the_original_are_found() -> None:
    """A file of intervals made elsewhere would be safe because it could not be read."""
    release = INSIDE.copy()
    release["weight"] = [
        f"[{low}, {low}.97)" for low in (INSIDE["weight"] // 1).astype(int)
    ]
    release["age"] = INSIDE["age"].astype(str)
    found = {each.attack: each for each in attack(release).attacks}
    assert not found["exact copies"].rate.successes
    assert found["closest record"].succeeds
    assert found["inference"].succeeds


def test_a_release_of_ours_is_caught_by_none() -> None:
    """Noise at epsilon 1 would leave traces of single people."""
    curator = dp.Curator.open(
        INSIDE, SCHEMA, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    rng = np.random.default_rng(
        7,
    )  # the right law, with a seed: a verdict is wrong more than once in a million
    with laws.broken_noise(
        lambda counts, scale: counts + laws.fast_laplace(counts.shape, scale, rng)
    ):
        release = curator.run(
            dp.Independent(columns=SCHEMA.domain.names), dp.PureDP(epsilon=1)
        )
    assert attack(release.sample(1_000, seed=1)).successful == ()


def test_without_a_control_there_is_no_verdict() -> None:
    """What the release teaches about everybody would be taken for a leak, or the other
    way round.
    """
    for each in attack(INSIDE, control=None).attacks:
        assert each.control is None
        assert each.succeeds is each.risk is None
        # the figures are there all the same
        assert each.rate.value > each.baseline.value


def test_tables_are_cut_to_one_size() -> None:
    """A larger original would be met by chance more often than a small control."""
    found = attack(people(1_000, 4), control=OUTSIDE.iloc[:300])
    assert found.people == found.control == 300
    assert found.successful == ()


def test_figures_are_repeatable() -> None:
    """The same file would get another verdict at every look."""
    assert attack(people(300, 4)) == attack(people(300, 4))


def test_one_secret() -> None:
    """The person could not ask about the one column that matters."""
    found = attack(INSIDE, secret="income").attacks[-1]
    assert found.succeeds
    assert found.rate.value > 0.95


@pytest.mark.parametrize(
    ("release", "asked", "said"),
    [
        (INSIDE[["age"]], {}, "too few columns"),
        (INSIDE, {"secret": "shoe"}, "shoe"),
        (INSIDE, {"attempts": 3}, "at least 10"),
        (INSIDE.rename(columns=str.upper), {}, "in common"),
        (INSIDE.iloc[:0], {}, "no rows"),
    ],
)
def test_bad_input_gets_a_sentence(
    release: pd.DataFrame, asked: dict[str, object], said: str
) -> None:
    """Somebody's file would end in a traceback."""
    with pytest.raises((ParameterError, SchemaError), match=said):
        attack(release, **asked)


def test_tables_of_a_single_value() -> None:
    """A constant table would divide by zero."""
    frame = pd.DataFrame({name: [INSIDE[name].iloc[0]] * 20 for name in INSIDE})
    assert attack_release(frame, frame, SCHEMA, control=frame).successful == ()


def test_held_out_half() -> None:
    """A recipe that copies its input must be caught without any control table, one that
    does not must not.
    """
    curator = dp.Curator.open(
        INSIDE, SCHEMA, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    copying = curator.evaluate(
        HeldOutAttacksQuestion(make_release=lambda frame: frame)
    ).content
    assert len(copying.successful) == len(ATTACKS)
    assert copying.people == copying.control == 500
    honest = curator.evaluate(
        HeldOutAttacksQuestion(
            make_release=lambda frame: independent(frame, len(frame), 3)
        )
    ).content
    assert honest.successful == ()
    assert curator.balance().spent == 0


def test_half_of_the_people_not_of_the_rows() -> None:
    """A person with rows on both sides would be known to the control."""
    frame = pd.concat([INSIDE.iloc[:100]] * 3).assign(person=lambda each: each.index)
    schema = dp.Schema(
        columns=SCHEMA.columns, unit=dp.PrivacyUnit(max_rows=3, id_column="person")
    )
    seen: list[set[int]] = []

    def make(half: pd.DataFrame) -> pd.DataFrame:
        seen.append(set(half["person"]))
        return half

    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    assert (
        curator.evaluate(
            HeldOutAttacksQuestion(make_release=make, attempts=20)
        ).content.people
        == 150
    )
    assert len(seen[0]) == 50
    with pytest.raises(ParameterError, match="too few rows"):
        HeldOutAttacksQuestion(make_release=make).compute(
            dp.tables.rows.Microdata(frame.iloc[:5]), schema
        )


def test_reports_stay_inside() -> None:
    """Figures from raw rows would be stored or sent."""
    curator = dp.Curator.open(
        INSIDE, SCHEMA, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    stages: list[float] = []
    report = curator.evaluate(
        AttacksQuestion(table=PublicTable(people(100, 4)), control=OUTSIDE),
        lambda stage, share: stages.append(share),
    )
    assert stages == sorted(stages)
    assert len(stages) == len(ATTACKS)
    with pytest.raises(DisclosureError):
        pickle.dumps(report)
    assert curator.lines()[-1].state == "outside"
