"""Rare pairs that the owner calls errors of coding block no table, and tell no count."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp

from dpcore.curator import Curator
from dpcore.errors import DpcoreError, InfeasibleError, ParameterError
from dpcore.suppression import PRESETS, HidingRule, PublishedTable, TablePlan
from dpcore.suppression.atoms import AtomBlocks
from tests.suppression.accounts import open_account, plan_by, publish, rows_of
from tests.suppression.fits import Fits, find_ends, regions_of
from tests.suppression.test_known_maps import TOWNS

CMS = PRESETS["cms"]
SMALL = HidingRule(threshold=5)
NAMES = ("town", "district", "sex")
PAIR = ("town", "district")
DISTRICTS = {"A": "D1", "B": "D1", "C": "D2", "E": "D2"}
LARGE = {
    (town, district, sex): 50 + 3 * at
    for at, ((town, district), sex) in enumerate(
        itertools.product(DISTRICTS.items(), "fm")
    )
}
WRONG = {("E", "D1", "m"): 1, ("C", "D1", "f"): 2}


def say_errors(plan: TablePlan, *pairs: tuple[str, str]) -> TablePlan:
    """Return a plan in which the owner says that rare pairs are errors."""
    return dataclasses.replace(plan, miscoded=pairs or (PAIR,))


@pytest.mark.parametrize("more", [(), ("sex",)])
@pytest.mark.parametrize("preset", ["cms", "nhs"])
def test_few_wrong_rows_block_no_table_if_the_owner_says_so(
    preset: str, more: tuple[str, ...]
) -> None:
    """Without the statement the table is refused, and the refusal names the columns."""
    curator = open_account(rows_of(LARGE | WRONG, *NAMES))
    rule = PRESETS[preset]
    publish(curator, plan_by(rule, "town", *more))
    plan = plan_by(rule, "district", *more)
    with pytest.raises(InfeasibleError, match="errors of coding") as refused:
        curator.exact_table(plan)
    assert refused.value.details["nestings"] == (PAIR,)
    assert "town × district" in str(refused.value)
    assert curator.count_rare_people([plan], PAIR).content == 3
    made = curator.exact_table(say_errors(plan)).content
    assert made.miscoded_people == 3
    table = publish(curator, say_errors(plan))
    assert None not in table.counts
    assert table.miscoded == (PAIR,)
    assert PublishedTable.from_record(table.to_record()) == table


def test_the_statement_is_in_the_plan_on_file() -> None:
    plan = say_errors(plan_by(CMS, "district"))
    assert TablePlan.from_json(plan.to_json()) == plan
    with pytest.raises(ParameterError, match="two different columns"):
        say_errors(plan, ("town", "town"))


def test_it_says_nothing_if_no_column_tells_the_other() -> None:
    """Small groups of two areas that cross are people, not errors."""
    cells = {("H1", "P1"): 3, ("H1", "P2"): 90, ("H2", "P1"): 130, ("H2", "P2"): 70}
    curator = open_account(rows_of(cells, "health", "police"))
    publish(curator, plan_by(CMS, "health"))
    plan = say_errors(plan_by(CMS, "police"), ("health", "police"))
    with pytest.raises(InfeasibleError, match="cannot all be errors"):
        curator.exact_table(plan)


def test_many_rare_pairs_are_no_errors() -> None:
    """A tenth of the people have a rare pair."""
    many = {
        (town, district, "m"): 10
        for town in DISTRICTS
        for district in ("D1", "D2")
        if DISTRICTS[town] != district
    }
    curator = open_account(rows_of(LARGE | many, *NAMES))
    publish(curator, plan_by(CMS, "town"))
    with pytest.raises(InfeasibleError, match="cannot all be errors"):
        curator.exact_table(say_errors(plan_by(CMS, "district")))


def test_a_missing_district_is_no_other_district() -> None:
    """The owner spoke of rows with another district. These stay protected."""
    cells = LARGE | {("E", None, "m"): 1}
    curator = open_account(rows_of(cells, *NAMES))  # type: ignore[arg-type]
    tables = [publish(curator, plan_by(CMS, "town"))]
    try:
        tables.append(publish(curator, say_errors(plan_by(CMS, "district"))))
    except InfeasibleError as refused:
        assert refused.details["tables"] == "town"  # noqa: PT017 - safe as well
    places = [*DISTRICTS.items(), ("E", "(missing)")]
    atoms = [dict(zip(PAIR, own, strict=True)) for own in places]
    ends = find_ends(tables, atoms, {"district": "(missing)"})
    assert ends[1] >= CMS.threshold


class Guess:
    """What readers can find out who know the map and its errors, by whole numbers.

    Args:
        most: people of each pair that breaks the map, at most.
        fewest: whether readers take these people to be as few as can be.
    """

    def __init__(
        self,
        tables: list[PublishedTable],
        most: dict[tuple[str, str], float],
        *,
        fewest: bool,
    ) -> None:
        self.atoms = [
            (town, district, sex)
            for town, district, sex in itertools.product(DISTRICTS, ("D1", "D2"), "fm")
            if DISTRICTS[town] == district or (town, district) in most
        ]
        self.is_error = np.array([DISTRICTS[own[0]] != own[1] for own in self.atoms])
        lines = []
        low: list[float] = []
        high: list[float] = []
        for table in tables:
            for region, count in zip(regions_of(table), table.counts, strict=True):
                if count is not None:
                    lines.append(self.weigh(**region))
                    low.append(count)
                    high.append(count)
        for (town, district), people in most.items():
            line = self.weigh(town=frozenset({town}), district=frozenset({district}))
            lines.append(line)
            low.append(0)
            high.append(people)
        self.limits = [LinearConstraint(np.array(lines), low, high)]
        if fewest:
            few = self.find_end(self.is_error.astype(float), -1)
            self.limits.append(LinearConstraint(self.is_error[None, :], -np.inf, few))

    def weigh(self, **region: frozenset[str]) -> np.ndarray:
        return np.array(
            [
                all(atom[NAMES.index(name)] in own for name, own in region.items())
                for atom in self.atoms
            ],
            dtype=float,
        )

    def find_end(self, weights: np.ndarray, sign: int) -> float:
        found = milp(
            -sign * weights,
            constraints=self.limits,
            integrality=np.ones(len(self.atoms)),
            options={"mip_rel_gap": 0.0},
        )
        if found.status in (3, 4):
            return sign * np.inf
        assert found.status == 0, found.message
        return round(-sign * found.fun)


def list_readers(
    tables: list[PublishedTable], wrong: dict[tuple[str, str, str], int]
) -> Iterator[Guess]:
    """Yield readers who know how many rows are wrong, or where some are, or trust."""
    numbers = Counter[tuple[str, str]]()
    for (town, district, _), people in wrong.items():
        numbers[town, district] += people
    for most in (dict(numbers), dict.fromkeys(numbers, np.inf)):
        for fewest in (False, True):
            yield Guess(tables, most, fewest=fewest)


def find_told(seed: int, tried: Counter[str]) -> list[tuple[str, ...]]:
    """Return small hidden counts of a random file that some readers find out."""
    draw = np.random.default_rng([58, seed])
    cells = {
        (town, DISTRICTS[town], sex): int(draw.choice([0, 1, 3, 6, 9, 30, 60]))
        for town in DISTRICTS
        for sex in "fm"
    }
    for place in (("B", "D1"), ("C", "D2")):  # no district is of one sex
        for sex in "fm":
            cells[*place, sex] += 100
    wrong = {}
    for _ in range(int(draw.integers(1, 4))):
        town = str(draw.choice(list(DISTRICTS)))
        if sum(people for own, people in cells.items() if own[0] == town) >= 12:
            other = "D2" if DISTRICTS[town] == "D1" else "D1"
            wrong[town, other, str(draw.choice(list("fm")))] = 1
    plans = [("town", "sex"), ("district", "sex"), ("town", "district"), ("district",)]
    curator: Curator = open_account(rows_of(cells | wrong, *NAMES))
    tables: list[PublishedTable] = []
    for at in draw.permutation(len(plans))[:3]:
        plan = say_errors(plan_by(SMALL, *plans[at]))
        try:
            tables.append(publish(curator, plan))
        except DpcoreError:
            tried["refused"] += 1
            continue
        tried["with errors"] += bool(tables[-1].miscoded)
    told = []
    people = cells | wrong
    for table in tables:
        for region, count in zip(regions_of(table), table.counts, strict=True):
            inside = sum(
                number
                for own, number in people.items()
                if all(
                    own[NAMES.index(name)] in group for name, group in region.items()
                )
            )
            if count is not None or not 0 < inside < SMALL.threshold:
                continue
            tried["small counts"] += 1
            for reader in list_readers(tables, wrong):
                weights = reader.weigh(**region)
                if reader.is_error[weights > 0].all():
                    continue  # they know that few are there
                if reader.find_end(weights, 1) < SMALL.threshold:
                    told.append(tuple(str(sorted(own)) for own in region.values()))
    return told


@pytest.mark.proof
def test_hidden_counts_stay_protected_against_readers_who_know_of_errors() -> None:
    tried = Counter[str]()
    assert [told for seed in range(60) for told in find_told(seed, tried)] == []
    assert tried["small counts"] > 60
    assert tried["with errors"] > 30


# readers of this rule do not know which cells hold somebody
EMPTY_TOO = HidingRule(threshold=5, hide_zeros=True)
EVEN = {("B", "D2", "m"): 4, ("C", "D1", "m"): 4}  # no total tells that rows are wrong


def find_most_women() -> float:
    """Return the most women of A, for the readers who find the fewest."""
    curator = open_account(rows_of(TOWNS | EVEN, *NAMES))
    tables = [publish(curator, plan_by(EMPTY_TOO, "town", "sex"))]
    try:
        tables.append(
            publish(curator, say_errors(plan_by(EMPTY_TOO, "district", "sex")))
        )
    except InfeasibleError as refused:
        assert refused.details["tables"]  # noqa: PT017 - safe as well
    women = {"town": frozenset("A"), "sex": frozenset("f")}
    return min(
        reader.find_end(reader.weigh(**women), 1)
        for reader in list_readers(tables, EVEN)
    )


def test_readers_who_trust_the_map_do_not_find_the_women_of_a_town() -> None:
    assert find_most_women() >= EMPTY_TOO.threshold


def test_without_readers_who_trust_the_map_they_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: nobody takes the errors to be as few as they can be.

    Nor does anybody ask why the first table hid cells, which protects the women, too.
    """
    monkeypatch.setattr(
        AtomBlocks, "find_errors", lambda _: np.zeros(0, dtype=np.int64)
    )
    monkeypatch.setattr(
        "dpcore.suppression._reader.find_hidden_components", lambda table: []
    )
    assert find_most_women() == 3


def find_ends_of_small_town(preset: str) -> list[float]:
    """Return the fewest and most people of town C.

    One person of E is coded in the other district. Readers have the public map, and
    know that at most this row is wrong. C is alone in its district and zone.
    """
    more = 2 if preset == "cms" else 1
    people = {
        ("A", "D1", "Z1"): 12 * more,
        ("B", "D1", "Z2"): 40 * more,
        ("C", "D2", "Z1"): 2 * more,
        ("E", "D2", "Z2"): 20 * more - 1,
        ("E", "D1", "Z2"): 1,
    }
    values = {"town": "ABCE", "district": ("D1", "D2"), "zone": ("Z1", "Z2")}
    curator = open_account(rows_of(people, *values), values)
    tables = []
    for name in ("district", "town", "zone"):
        with contextlib.suppress(InfeasibleError):
            tables.append(publish(curator, plan_by(PRESETS[preset], name)))
    fits = Fits(
        tables,
        [
            ("district", "town", {"A": "D1", "B": "D1", "C": "D2", "E": "D2"}),
            ("zone", "town", {"A": "Z1", "B": "Z2", "C": "Z1", "E": "Z2"}),
        ],
        errors={("district", "D1", "town", "E"): 1},
    )
    weights = fits.weigh({"town": frozenset("C")})
    return [fits.find_end(weights, sign) for sign in (-1, 1)]


@pytest.mark.parametrize("preset", ["nhs", "cms"])
def test_one_row_coded_wrong_does_not_give_a_small_town_away(preset: str) -> None:
    """Its readers knew the number of all rare pairs, the town among them, or of none."""
    assert find_ends_of_small_town(preset)[1] >= PRESETS[preset].threshold
