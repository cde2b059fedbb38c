"""People who are exchanged fit the same counts, and attacks find the same with them.

Direct tests take tables of three columns of which two pairs are shown. There, as many
people are possible in a cell as in the smaller one of both sums around it, and
exchanges reach all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse

from dpcore.suppression._exchange import PeopleExchange
from dpcore.suppression._programs import Programs
from tests.suppression.test_memory import list_told, run_versions

SIDE = 4  # values of each column

Floats = npt.NDArray[np.float64]


def show_two_pairs() -> Any:
    """Return the sums of a first with a second column, and of this with a third."""
    one = np.eye(SIDE)
    total = np.ones((1, SIDE))
    return sparse.csr_array(
        np.vstack(
            [np.kron(np.kron(one, one), total), np.kron(total, np.kron(one, one))]
        )
    )


def draw_people(seed: int) -> Floats:
    draw = np.random.default_rng([7, seed])
    people = draw.integers(0, 4, SIDE**3) * draw.integers(0, 2, SIDE**3)
    return people.astype(np.float64)


def prepare(people: Floats, needed: int, occupied: Any = None) -> PeopleExchange:
    """Return exchanges if so many people are demanded of each atom.

    Args:
        occupied: (sums, atoms) each of which has somebody.
    """
    if occupied is None:
        occupied = sparse.csr_array((0, len(people)))
    return PeopleExchange(
        show_two_pairs(),
        occupied,
        np.ones(occupied.shape[0]),
        np.full(len(people), np.inf),
        sparse.eye_array(len(people)).tocsr(),
        np.full(len(people), needed),
    )


@pytest.mark.parametrize("seed", range(5))
def test_exchanges_reach_what_is_possible_and_keep_all_counts(seed: int) -> None:
    people = draw_people(seed)
    equations = show_two_pairs()
    cells = people.reshape(SIDE, SIDE, SIDE)
    most = np.minimum(
        cells.sum(axis=2)[:, :, np.newaxis], cells.sum(axis=0)[np.newaxis]
    ).ravel()
    for needed in (2, 4):
        for atom in range(len(people)):
            other = prepare(people, needed).meet_demands(
                people, np.arange(len(people)) == atom
            )
            assert (equations @ other == equations @ people).all()
            assert (other >= 0).all()
            assert (other[atom] >= needed) == (most[atom] >= needed)


def test_several_demands_are_met_at_once() -> None:
    people = draw_people(1)
    other = prepare(people, 3).meet_demands(people, np.ones(len(people), dtype=bool))
    assert (show_two_pairs() @ other == show_two_pairs() @ people).all()
    assert (other >= 3).sum() > (people >= 3).sum()


@pytest.mark.parametrize("seed", range(5))
def test_what_readers_know_besides_still_holds(seed: int) -> None:
    """Cells that are known to hold people keep one; without that, some lose all."""
    people = draw_people(seed)
    is_single = people == 1
    occupied = sparse.eye_array(len(people)).tocsr()[is_single]
    asked = np.ones(len(people), dtype=bool)
    kept = prepare(people, 3, occupied).meet_demands(people, asked)
    assert (occupied @ kept >= 1).all()
    assert (show_two_pairs() @ kept == show_two_pairs() @ people).all()
    lost = prepare(people, 3).meet_demands(people, asked)
    assert (occupied @ lost < 1).any()


def list_all_told() -> list[Any]:
    return [
        list_told(tables, maps)
        for seed in range(12)
        for tables, maps in run_versions(seed)
    ]


def test_attacks_find_the_same_without_exchanges(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used = []
    meet = PeopleExchange.meet_demands

    def meet_and_count(self: PeopleExchange, *args: Any) -> Floats:
        used.append(1)
        return meet(self, *args)

    monkeypatch.setattr(PeopleExchange, "meet_demands", meet_and_count)
    told = list_all_told()
    assert any(told)
    assert not all(told)
    assert used
    monkeypatch.setattr(
        Programs, "list_better_solutions", lambda self, people, seen, exchange: ()
    )
    assert list_all_told() == told


def test_people_who_do_not_fit_are_no_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    """One person too many changes nothing; the twin, unchecked, hides what is told."""
    told = list_all_told()
    monkeypatch.setattr(
        PeopleExchange, "meet_demands", lambda self, people, is_open: people + 9
    )
    assert list_all_told() == told
    monkeypatch.setattr(Programs, "check_whole", lambda self, people: people)
    assert list_all_told() != told
