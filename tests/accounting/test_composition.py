"""How charges add up, and what other rules would say about them."""

from __future__ import annotations

import itertools
import json
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.accounting.composition import Rule, compare, optimal_epsilon, total_units
from dpcore.accounting.events import Event
from dpcore.accounting.ledger import Account, Charge
from dpcore.accounting.loss import (
    UNIT,
    AnyLoss,
    loss_fields,
    loss_from_fields,
    rho_of_epsilon,
)
from tests.contracts.ledger_kinds import balance

PARTS = (None, ("sex", "Female"), ("sex", "Male"), ("region", "north"))
charges = st.lists(
    st.tuples(st.integers(min_value=1, max_value=3 * 10**11), st.sampled_from(PARTS)),
    max_size=40,
)


def laplace(epsilon: Fraction | int, *, reads: int = 1) -> Event:
    return Event(
        mechanism="discrete laplace",
        reads=tuple((str(i),) for i in range(reads)),
        rows=1,
        noise_scale=float(reads / Fraction(epsilon)),
    )


@given(charges)
def test_an_accepted_sequence_fits_the_budget(
    asked: list[tuple[int, tuple[str, str] | None]],
) -> None:
    """Whatever is asked in whatever order, what the ledger accepts is at most the
    budget, to the unit.
    """
    ledger = dp.MemoryLedger()
    account = Account(dataset="d", rule=Rule.BASIC, units=UNIT)
    ledger.open(account)
    accepted = []
    for i, (units, part) in enumerate(asked):
        charge = Charge(units=units, part=part)
        growth = ledger.standing("d").extra_units(charge)
        before = balance(account, ledger.lines("d"))
        try:
            ledger.reserve("d", str(i), charge, {})
        except dp.BudgetExceeded:
            assert growth > before.remaining_units
            assert balance(account, ledger.lines("d")) == before
            continue
        accepted.append((units, part))
        assert (
            balance(account, ledger.lines("d")).remaining_units
            == before.remaining_units - growth
            >= 0
        )
        assert ledger.standing("d").balance == balance(account, ledger.lines("d"))
    assert total_units(accepted) <= UNIT
    whole = sum(units for units, part in accepted if part is None)
    by_sex = [
        sum(u for u, part in accepted if part == ("sex", sex))
        for sex in ("Female", "Male")
    ]
    north = sum(units for units, part in accepted if part == ("region", "north"))
    assert total_units(accepted) == whole + max(by_sex) + north


@given(charges)
def test_order_does_not_matter(asked: list[tuple[int, tuple[str, str] | None]]) -> None:
    """The total is a fact about the charges, not about when they came."""
    assert total_units(asked) == total_units(reversed(asked))
    assert all(total_units(asked[:i]) <= total_units(asked) for i in range(len(asked)))


def test_parts_of_one_column_cost_the_largest() -> None:
    """Parts of one column are disjoint; parts of two columns are not, and add up."""
    assert (
        total_units(
            [(3, ("sex", "Female")), (5, ("sex", "Male")), (4, ("sex", "Female"))]
        )
        == 7
    )
    assert total_units([(3, ("sex", "Female")), (5, ("region", "north"))]) == 8
    assert total_units([(3, ("sex", "Female")), (5, None)]) == 8


def test_rules_follow_from_the_budget() -> None:
    """A budget of pure epsilon must not be spent in rho; a budget of rho takes both."""
    assert Rule.for_budget(dp.PureDP(epsilon=1)) is Rule.BASIC
    assert (
        Rule.for_budget(dp.ApproxDP(epsilon=1, delta="1e-6"))
        is Rule.for_budget(dp.ZCDP(rho=1))
        is Rule.ZCDP
    )
    with pytest.raises(dp.ParameterError, match="pure"):
        Rule.BASIC.convert(dp.ApproxDP(epsilon=1, delta="1e-6"))
    with pytest.raises(dp.ParameterError, match="pure"):
        Rule.BASIC.convert(dp.ZCDP(rho=1))
    assert Rule.BASIC.to_units(dp.PureDP(epsilon=1)) == UNIT
    assert Rule.ZCDP.to_units(dp.PureDP(epsilon=1)) == math.ceil(math.tanh(0.5) * UNIT)
    approx = dp.ApproxDP(epsilon=1, delta="1e-6")
    assert Rule.ZCDP.to_units(Rule.ZCDP.convert(approx)) == approx.rho * UNIT


def test_rules_are_stored_as_their_text() -> None:
    """Ledgers that were written before rules were objects would not open, or their
    digests would differ.
    """
    account = Account(dataset="d", rule="zcdp", units=1)  # type: ignore[arg-type]
    assert account == Account(dataset="d", rule=Rule.ZCDP, units=1)
    assert account.rule is Rule.ZCDP
    assert json.dumps(account.to_dict()["rule"]) == '"zcdp"'
    with pytest.raises(ValueError, match="other"):
        Account(dataset="d", rule="other", units=1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "loss",
    [
        dp.PureDP(epsilon="1/3"),
        dp.ZCDP(rho="0.25"),
        dp.ApproxDP(epsilon=1, delta="1e-6"),
        dp.ApproxDP(epsilon=1, delta="1e-6", threshold_delta="1e-8"),
    ],
)
def test_a_loss_is_read_back(loss: AnyLoss) -> None:
    """A table on file would be opened again with another budget than its own."""
    assert loss_from_fields(loss_fields(loss)) == loss


def test_costs_of_events() -> None:
    """The record of a draw must say the same loss as the charge that paid for it."""
    assert laplace(Fraction(1, 2)).epsilon == Fraction(1, 2)
    assert laplace(Fraction(1, 2), reads=4).epsilon == Fraction(1, 2)
    assert laplace(Fraction(1, 2)).rho == rho_of_epsilon(Fraction(1, 2))
    gaussian = Event(
        mechanism="discrete gaussian", reads=(("a",), ("b",)), rows=3, noise_scale=6.0
    )
    assert gaussian.epsilon is None
    assert gaussian.rho == Fraction(9 * 2, 2 * 36)
    chosen = {"reads": (("a",), ("b",)), "rows": 2, "noise_scale": 8.0}
    assert Event(mechanism="permute and flip", **chosen).epsilon == Fraction(1, 2)
    assert Event(mechanism="permute and flip", **chosen).rho == rho_of_epsilon(
        Fraction(1, 2)
    )
    assert Event(mechanism="exponential", **chosen).rho == Fraction(1, 32)


@pytest.mark.parametrize("noise_scale", [0.0, -1.0, math.nan, math.inf])
def test_events_need_noise(noise_scale: float) -> None:
    """An event without noise has no loss that can be stated."""
    with pytest.raises(dp.ParameterError):
        Event(
            mechanism="discrete laplace",
            reads=(("a",),),
            rows=1,
            noise_scale=noise_scale,
        )


@given(
    st.builds(
        Event,
        mechanism=st.sampled_from(
            ["discrete laplace", "discrete gaussian", "exponential", "threshold"]
        ),
        reads=st.lists(
            st.lists(st.text(max_size=5), max_size=3).map(tuple), min_size=1, max_size=3
        ).map(
            tuple,
        ),
        rows=st.integers(1, 9),
        noise_scale=st.floats(min_value=1e-6, max_value=1e12),
        delta=st.fractions(min_value=0, max_value=Fraction(1, 1000)),
        part=st.sampled_from(PARTS),
    ),
)
def test_events_survive_the_ledger(event: Event) -> None:
    """A loss recomputed from a ledger line must be the loss of the draw, to the last
    bit.
    """
    assert Event.from_dict(event.to_dict()) == event


def test_comparison_with_other_rules() -> None:
    """The information shown beside the total must agree with dp-accounting, and with
    itself.
    """
    from dp_accounting.pld import privacy_loss_distribution

    events = [laplace(Fraction(1, 10)) for _ in range(50)]
    shown = compare(events, delta=1e-6)
    assert shown.basic_epsilon == pytest.approx(5)
    # eps tanh(eps / 2) is just below eps^2 / 2
    assert shown.zcdp_epsilon == pytest.approx(3.542, abs=0.01)
    # randomized response: the worst law with epsilon 0.1
    noise_parameter = 2 / (1 + math.exp(0.1))
    worst = privacy_loss_distribution.from_randomized_response(
        noise_parameter, 2
    ).self_compose(50)
    assert shown.tight_epsilon == pytest.approx(
        worst.get_epsilon_for_delta(1e-6), rel=5e-3
    )
    assert shown.tight_epsilon == pytest.approx(3.173, abs=0.005)
    assert shown.tight_epsilon <= shown.zcdp_epsilon


def test_comparison_of_gaussian_noise() -> None:
    """Gaussian noise has no pure epsilon; the tight figure is below the one of zCDP."""
    events = [
        Event(mechanism="discrete gaussian", reads=(("a",),), rows=1, noise_scale=10.0)
    ] * 200
    shown = compare(events, delta=1e-6)
    assert shown.basic_epsilon is None
    assert shown.zcdp_epsilon == pytest.approx(7.766, abs=0.001)
    assert shown.tight_epsilon == pytest.approx(7.286, abs=0.01)
    mixed = compare([*events, laplace(1)], delta=1e-6)
    assert mixed.basic_epsilon is None
    assert shown.tight_epsilon < mixed.tight_epsilon <= mixed.zcdp_epsilon


def test_comparison_without_dp_accounting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The app must run without dp-accounting: the tight figure is then left out."""
    monkeypatch.setitem(__import__("sys").modules, "dp_accounting", None)
    assert compare([laplace(1)], delta=1e-6).tight_epsilon is None


def test_filter_figures() -> None:
    """Queries at 0.1 that fit a budget at delta 1e-6: the figures of the guide to the
    two rules.
    """
    for budget, basic, zcdp in (
        (1, 10, 4),
        (2, 20, 17),
        (3, 30, 37),
        (5, 50, 92),
        (10, 100, 307),
    ):
        charge = {rule: rule.to_units(dp.PureDP(epsilon="0.1")) for rule in Rule}
        assert budget * UNIT // charge[Rule.BASIC] == basic
        rho = dp.ApproxDP(epsilon=budget, delta="1e-6").rho * UNIT
        assert math.floor(rho / charge[Rule.ZCDP]) == pytest.approx(zcdp, abs=1)


def test_every_pair_of_parts() -> None:
    """Brute force over the people who may be added: nobody's loss is above the
    total.
    """
    asked = [
        (2, None),
        (3, ("sex", "F")),
        (4, ("sex", "M")),
        (5, ("region", "n")),
        (1, ("region", "s")),
    ]
    for sex, region in itertools.product("FM", "ns"):
        hers = sum(
            u for u, part in asked if part in (None, ("sex", sex), ("region", region))
        )
        assert hers <= total_units(asked)
    assert total_units(asked) == 2 + 4 + 5


def worst_delta(epsilon: float, times: int, at: float) -> Decimal:
    """Delta of randomized response, `times` in a row, over all numbers of lies, to 50
    digits.
    """
    with localcontext(prec=50):
        power = Decimal(epsilon).exp()
        chances = [
            (
                math.comb(times, lies) * power ** (times - lies) / (1 + power) ** times,
                math.comb(times, lies) * power**lies / (1 + power) ** times,
            )
            for lies in range(times + 1)
        ]
        return sum(
            max(Decimal(0), with_you - Decimal(at).exp() * without)
            for with_you, without in chances
        )


def test_optimal_composition_is_the_smallest() -> None:
    """C1: the lesson would call a bound the best possible that is 0.2 too large, or
    that does not hold.
    """
    from dp_accounting.pld.privacy_loss_distribution import from_randomized_response

    for epsilon, times in (
        (0.5, 1),
        (0.1, 50),
        (0.1, 7),
        (0.5, 10),
        (0.02, 100),
        (0.5, 100),
    ):
        ours = optimal_epsilon(epsilon, times, delta=1e-6)
        assert (
            worst_delta(epsilon, times, ours + 1e-9)
            <= Decimal("1e-6")
            < worst_delta(epsilon, times, ours - 1e-9)
        )
        one = from_randomized_response(
            2 / (1 + math.exp(epsilon)), 2, value_discretization_interval=1e-4
        )
        rounded_up = one.self_compose(times).get_epsilon_for_delta(1e-6)
        assert rounded_up - times * 1.01e-4 <= ours <= rounded_up
    # so little is hidden that nothing needs to be
    assert optimal_epsilon(0.1, 2, delta=0.5) == 0
