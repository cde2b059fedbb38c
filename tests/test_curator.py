"""The one door: charge first, read after, and nothing private in what is kept or
said.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.accounting.events import Event
from dpcore.accounting.ledger import NO_CHARGE, Account
from dpcore.anonymization.hierarchies.builders import build_flat
from dpcore.anonymization.models import KAnonymity
from dpcore.anonymization.plan import Plan
from dpcore.engines.frame import FrameEngine
from dpcore.errors import UsageError
from dpcore.evaluation import CountsQuestion, RangeErrorsQuestion, SimilarityQuestion
from dpcore.evaluation.base import RowsEvaluation
from dpcore.evaluation.utility.private import PrivateMarginalErrorQuestion
from dpcore.io import read_table, to_parquet
from dpcore.mechanisms.measurer import Measurer
from dpcore.mechanisms.rehearsal import Rehearsal
from dpcore.progress import compute_here
from dpcore.release import Guarantee, Release
from dpcore.schema import Domain
from dpcore.synthesis import Categories, FoundCategories, Tree
from dpcore.synthesis.base import Recipe
from dpcore.synthesis.closeness import Closeness
from dpcore.synthesis.discrete.constraints import Constraints, FunctionalDependency
from dpcore.tables.counts import Counts
from dpcore.tables.rows import Microdata, PublicTable

AGE = dp.Integer("age", low=0, high=99)
SEX = dp.Categorical("sex", categories=("Female", "Male"))
SCHEMA = dp.Schema(columns=(AGE, SEX), unit=dp.PrivacyUnit(max_rows=1))
ONE = dp.PureDP(epsilon=1)
HISTOGRAM = dp.Histogram("age")


def table(rows: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {"age": rng.integers(0, 100, rows), "sex": rng.choice(["Female", "Male"], rows)}
    )


def opened(
    frame: pd.DataFrame | None = None, schema: dp.Schema = SCHEMA, **kinds: Any
) -> dp.Curator:
    kinds = {"budget": dp.PureDP(epsilon=10), "ledger": dp.MemoryLedger(), **kinds}
    return dp.Curator.open(table() if frame is None else frame, schema, **kinds)


@dataclass(frozen=True)
class Does(Recipe):
    """A recipe that does as it is told with its measurer."""

    step: Callable[[Measurer], Any]
    kind = "does"

    def check(self, domain: Domain) -> None:
        pass

    def expect(
        self, domain: Domain, loss: Any, max_rows: int, table_rows: float = 0
    ) -> tuple[()]:
        return ()

    def fit(self, measurer: Measurer, on_progress: Any) -> Any:
        self.step(measurer)
        return HISTOGRAM.fit(measurer, on_progress)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "does"}


class Looks(Does):
    """A recipe that does as it is told, and no more."""

    def fit(self, measurer: Measurer, on_progress: Any) -> Any:
        self.step(measurer)
        return {}, FoundCategories(column="", counts={})


class Spy:
    """An engine and a ledger in one that note the order in which they are used."""

    def __init__(self, *, blind: bool = False) -> None:
        self.calls: list[str] = []
        self.ledger = dp.MemoryLedger()
        self.engine = FrameEngine(table(), SCHEMA, key=self.ledger.key)
        for name in ("reserve", "commit", "fail", "note"):
            setattr(self.ledger, name, self._noted(name, getattr(self.ledger, name)))
        for name in ("counts", "rows"):
            setattr(
                self.engine,
                name,
                self._noted(name, self._blind if blind else getattr(self.engine, name)),
            )
        account = self.ledger.open(
            Account.for_budget("spied", SCHEMA.unit.to_dict(), dp.PureDP(epsilon=10))
        )
        self.curator = dp.Curator(
            engine=self.engine,
            schema=SCHEMA,
            account=account,
            ledger=self.ledger,
            name="spied",
            compute=compute_here,
        )

    def _noted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, **named: Any) -> Any:
            self.calls.append(name)
            return function(*arguments, **named)

        return noted

    @staticmethod
    def _blind(*arguments: Any, **named: Any) -> Any:
        raise AssertionError("the rows were read")


def test_charge_comes_before_reading() -> None:
    """A count read before the charge is on file could leave without one."""
    spy = Spy()
    spy.curator.run(HISTOGRAM, ONE)
    spy.curator.evaluate(
        CountsQuestion(cliques=(("age",),), table=PublicTable(table()))
    )
    assert spy.calls == ["reserve", "counts", "commit", "note", "counts"]


def test_parts_of_a_connected_source_add_up() -> None:
    """Its rows may move from part to part between two charges, and a person would lose
    both for one.
    """
    curator = dp.Curator.open(
        table(),
        SCHEMA,
        budget=dp.PureDP(epsilon=10),
        ledger=dp.MemoryLedger(),
        identity="visits",
    )
    for category in ("Male", "Female"):
        assert curator.quote(HISTOGRAM, ONE, part={"sex": category}).charge == 10**12
        curator.run(HISTOGRAM, ONE, part={"sex": category})
    assert curator.balance().spent == 2 * 10**12


def test_quote_reads_no_data() -> None:
    """A quote is shown for nothing, so it must come from public facts alone."""
    curator = Spy(blind=True).curator
    quote = curator.quote(HISTOGRAM, ONE, part={"sex": "Male"})
    assert quote.charge == 10**12
    assert (
        quote.is_affordable,
        quote.remaining_units_after,
        quote.affordable_repeats,
    ) == (True, 9 * 10**12, 10)
    curator.find_smallest_loss(HISTOGRAM, 20, pure=True)
    assert curator.stored_request(HISTOGRAM, ONE) is None
    with pytest.raises(AssertionError):
        curator.run(HISTOGRAM, ONE)


@pytest.mark.parametrize(
    ("budget", "loss"),
    [
        (dp.PureDP(epsilon=10), dp.PureDP(epsilon="0.3")),
        (dp.ApproxDP(epsilon=10, delta="1e-6"), dp.ApproxDP(epsilon=1, delta="1e-6")),
        (dp.ApproxDP(epsilon=10, delta="1e-6"), dp.PureDP(epsilon="0.3")),
    ],
    ids=["laplace", "gaussian", "laplace under zcdp"],
)
@pytest.mark.parametrize(
    "recipe",
    [
        HISTOGRAM,
        dp.Marginals(cliques=[("age",), ("sex", "age"), ()], weights=(1, 2, "0.5")),
        dp.Independent(columns=("age", "sex")),
        dp.Joint(columns=("age", "sex")),
    ],
    ids=lambda recipe: recipe.kind,
)
def test_quote_keeps_its_word(
    recipe: Recipe, budget: dp.PureDP, loss: dp.PureDP
) -> None:
    """What a person sees before paying must be what the release says, and what the
    ledger takes.
    """
    curator = opened(budget=budget)
    quote = curator.quote(recipe, loss)
    release = curator.run(recipe, loss)
    assert curator.balance().spent == quote.charge
    for expected in quote.expected:
        marginal = release.marginals[expected.clique]
        assert marginal.half_width() == expected.half_width()
        assert marginal.variance == pytest.approx(expected.variance)
        assert marginal.values.size == expected.cells
    if isinstance(loss, dp.PureDP) and budget != dp.ApproxDP(epsilon=10, delta="1e-6"):
        events = curator.lines()[-1].content["events"]
        assert sum(dp_event_epsilon(event) for event in events) <= loss.epsilon


def dp_event_epsilon(event: dict[str, Any]) -> Fraction:
    from dpcore.accounting.events import Event

    epsilon = Event.from_dict(event).epsilon
    assert epsilon is not None
    return epsilon


@pytest.mark.parametrize("pure", [True, False])
def test_loss_for_a_wanted_error(pure: bool) -> None:
    """The inverse of a quote: that loss suffices, and 2 % less does not."""
    curator = opened(budget=dp.ApproxDP(epsilon=10, delta="1e-6"))
    recipe = dp.Marginals(cliques=[("age",), ("age", "sex")])
    loss = curator.find_smallest_loss(recipe, 50, pure=pure)
    assert all(each.half_width() <= 50 for each in curator.quote(recipe, loss).expected)
    less = loss.share(Fraction(98, 100))
    assert any(each.half_width() > 50 for each in curator.quote(recipe, less).expected)


def test_the_loss_for_a_wanted_error_depends_on_the_rows() -> None:
    """The error of a quote, asked for, would cost a multiple of its loss."""
    curator = opened(budget=dp.ApproxDP(epsilon=10, delta="1e-6"))
    recipe = dp.Adaptive()
    loss = dp.ZCDP(rho="0.1")
    quote = curator.quote(recipe, loss, table_rows=5_000)
    worst = max(each.half_width() for each in quote.expected)
    found, without_rows = (
        curator.find_smallest_loss(recipe, worst, pure=False, table_rows=rows)
        for rows in (5_000, 0)
    )
    assert float(found.amount) == pytest.approx(0.1, rel=0.1)
    assert float(without_rows.amount) != pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize("half_width", [0, -1, float("nan")])
def test_wanted_error_is_checked(half_width: float) -> None:
    """No loss brings an error of nothing."""
    with pytest.raises(dp.ParameterError):
        opened().find_smallest_loss(HISTOGRAM, half_width, pure=True)


def test_unknown_error_has_no_inverse() -> None:
    """A recipe that cannot say its error in advance must not be priced by it."""
    with pytest.raises(dp.ParameterError, match="not known"):
        opened().find_smallest_loss(Does(lambda measurer: None), 50, pure=True)


def test_a_recipe_cannot_spend_more() -> None:
    """The measurer holds the reserved loss and gives nothing beyond it."""
    curator = opened()
    with pytest.raises(dp.BudgetExceeded, match="is left"):
        curator.run(
            Does(
                lambda measurer: measurer.measure(
                    [("age",)], ONE.share(Fraction(1, 10**9))
                )
            ),
            ONE,
        )
    assert curator.balance().spent == 0  # a dry run met the refusal first
    with pytest.raises(dp.ParameterError, match="rho"):
        curator.run(
            Does(lambda measurer: measurer.measure([("age",)], dp.ZCDP(rho="0.1"))),
            ONE,
            request_id="b",
        )


def fails(error: BaseException) -> Callable[[Measurer], Any]:
    def step(measurer: Measurer) -> None:
        if isinstance(measurer, Rehearsal):
            return  # a failure that no public fact foretells
        measurer.measure([("sex",)], measurer.loss.share(Fraction(1, 2)))
        raise error

    return step


@pytest.mark.parametrize(
    "error", [ValueError("a cell value: 42"), KeyboardInterrupt(), MemoryError()]
)
def test_a_failed_run_stays_charged(error: BaseException) -> None:
    """Refunds after noise was drawn would let a person draw until they like the
    answer.
    """
    curator = opened()
    with pytest.raises(type(error)):
        curator.run(Does(fails(error)), ONE, request_id="mine")
    last = curator.lines()[-1]
    assert last.state == "failed"
    assert last.content["error"] == type(error).__name__
    assert "42" not in str(last.content)
    assert [event["reads"] for event in last.content["events"]] == [[["sex"]]]
    assert curator.balance().spent == 10**12
    with pytest.raises(dp.RequestConflict):
        curator.run(Does(fails(error)), ONE, request_id="mine")
    assert curator.balance().spent == 10**12
    curator.verify()


def test_progress_that_fails_stays_charged() -> None:
    """A page that is torn down in mid-run fails the run like any other error."""

    def torn_down(stage: str, share: float) -> None:
        raise RuntimeError(stage)

    curator = opened()
    with pytest.raises(RuntimeError):
        curator.run(HISTOGRAM, ONE, on_progress=torn_down)
    assert curator.lines()[-1].state == "failed"


def test_a_result_that_is_not_noisy_is_refused() -> None:
    """A recipe that hands out exact counts must be stopped at the door."""
    curator = opened()

    @dataclass(frozen=True)
    class Leaky(Does):
        def fit(self, measurer: Measurer, on_progress: Any) -> Any:
            _, model = HISTOGRAM.fit(measurer, on_progress)
            if isinstance(measurer, Rehearsal):
                return {}, model
            return {("age",): measurer._counts([("age",)])[0]}, model

    with pytest.raises(dp.DisclosureError, match="noisy"):
        curator.run(Leaky(lambda measurer: None), ONE)
    assert curator.lines()[-1].state == "failed"


def test_the_same_request_is_the_same_release() -> None:
    """A double click must not spend twice, nor draw twice."""
    curator = opened()
    first = curator.run(HISTOGRAM, ONE, request_id="click")
    again = curator.run(HISTOGRAM, ONE, request_id="click")
    assert (again.marginals[("age",)].values == first.marginals[("age",)].values).all()
    assert again.to_json() == first.to_json()
    assert len(curator.lines()) == 3


def test_another_plan_under_the_same_request_is_refused() -> None:
    """A request id stands for one step: another recipe, loss or part under it is a
    mistake.
    """
    curator = opened()
    curator.run(HISTOGRAM, ONE, request_id="click")
    for recipe, loss, where in (
        (dp.Histogram("sex"), ONE, None),
        (HISTOGRAM, dp.PureDP(epsilon=2), None),
        (HISTOGRAM, ONE, {"sex": "Male"}),
    ):
        with pytest.raises(dp.RequestConflict):
            curator.run(recipe, loss, part=where, request_id="click")
    assert curator.balance().spent == 10**12


def test_the_same_plan_is_free_without_a_request() -> None:
    """What was paid for once is shown again; only a new request draws again, and
    pays.
    """
    curator = opened()
    first = curator.run(HISTOGRAM, ONE)
    assert (
        curator.run(HISTOGRAM, dp.PureDP(epsilon="1.0")).request_id == first.request_id
    )
    assert curator.stored_request(HISTOGRAM, ONE) == first.request_id
    drawn = curator.run(HISTOGRAM, ONE, request_id="again")
    assert drawn.request_id == "again"
    assert (drawn.marginals[("age",)].values != first.marginals[("age",)].values).any()
    assert curator.balance().spent == 2 * 10**12
    assert (
        curator.run(HISTOGRAM, ONE, part={"sex": "Male"}).request_id != first.request_id
    )


def test_what_was_asked_is_known_by_a_keyed_digest_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever reads the database finds the declared categories by trying; or releases
    of older lines, whose digest had no key, are paid for again.
    """
    ledger = dp.MemoryLedger()
    curator = opened(ledger=ledger)
    first = curator.run(HISTOGRAM, loss=ONE)
    keyed, plain = curator._request_digests(HISTOGRAM, curator.rule.convert(ONE), None)
    assert [
        line.content["plan"] for line in curator.lines() if "plan" in line.content
    ] == [keyed]
    assert opened()._request_digests(HISTOGRAM, curator.rule.convert(ONE), None) != (
        keyed,
        plain,
    ), "another ledger's key"
    assert plain not in json.dumps([line.content for line in curator.lines()])

    real = dp.Curator._request_digests
    with monkeypatch.context() as before:  # as the program wrote lines before
        before.setattr(
            dp.Curator, "_request_digests", lambda *asked: (real(*asked)[1],) * 2
        )
        older = curator.run(HISTOGRAM, loss=dp.PureDP(epsilon=2), request_id="older")
    assert curator.run(HISTOGRAM, loss=ONE).request_id == first.request_id
    assert curator.stored_request(HISTOGRAM, dp.PureDP(epsilon=2)) == older.request_id
    again = curator.run(HISTOGRAM, loss=dp.PureDP(epsilon=2), request_id="older")
    assert (again.marginals[("age",)].values == older.marginals[("age",)].values).all()
    assert curator.balance().spent == 3 * 10**12


def test_stored_releases_survive_a_new_curator() -> None:
    """The same table opened again, rows and columns in another order, finds what was
    spent and made.
    """
    ledger = dp.MemoryLedger()
    first = opened(ledger=ledger).run(HISTOGRAM, ONE)
    shuffled = table().sample(frac=1, random_state=1)[["sex", "age"]]
    curator = opened(shuffled, ledger=ledger)
    assert curator.balance().spent == 10**12
    assert curator.run(HISTOGRAM, ONE).to_json() == first.to_json()
    other = table()
    other.loc[0, "age"] = 99 - other.loc[0, "age"]
    assert opened(other, ledger=ledger).balance().spent == 0


def test_a_budget_never_changes() -> None:
    """A second opening with a larger budget, another rule or another unit must be
    refused.
    """
    ledger = dp.MemoryLedger()
    opened(ledger=ledger)
    with pytest.raises(dp.BudgetFixed, match="budget"):
        opened(ledger=ledger, budget=dp.PureDP(epsilon=11))
    with pytest.raises(dp.BudgetFixed, match="budget"):
        opened(ledger=ledger, budget=dp.ApproxDP(epsilon=10, delta="1e-6"))
    with pytest.raises(dp.BudgetFixed, match="privacy unit"):
        opened(
            schema=dp.Schema(columns=(AGE, SEX), unit=dp.PrivacyUnit(max_rows=2)),
            ledger=ledger,
        )


def test_more_than_is_left_is_refused() -> None:
    """The last charge may use up the budget to the unit, and not one more."""
    curator = opened(budget=dp.PureDP(epsilon=1))
    assert not curator.quote(
        HISTOGRAM, dp.PureDP(epsilon="1.000000000001")
    ).is_affordable
    with pytest.raises(dp.BudgetExceeded):
        curator.run(HISTOGRAM, dp.PureDP(epsilon="1.000000000001"))
    assert len(curator.lines()) == 1
    curator.run(HISTOGRAM, ONE)
    with pytest.raises(dp.BudgetExceeded):
        curator.run(HISTOGRAM, dp.PureDP(epsilon="1e-30"))


def test_refusals_before_the_charge() -> None:
    """What cannot be done must cost nothing."""
    curator = opened()
    for recipe, where in (
        (dp.Histogram("height"), None),
        (HISTOGRAM, {"sex": "Other"}),
        (HISTOGRAM, {"height": "tall"}),
        (HISTOGRAM, {"sex": "Male", "age": "3"}),
    ):
        with pytest.raises(dp.ParameterError):
            curator.run(recipe, ONE, part=where)
    assert len(curator.lines()) == 1


def test_what_public_facts_refuse_is_refused_before_the_charge() -> None:
    """A refusal after the charge takes budget for nothing."""
    names = [f"c{i}" for i in range(15)]
    schema = dp.Schema(
        columns=tuple(dp.Integer(name, low=0, high=1) for name in names),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    curator = opened(
        pd.DataFrame({name: [0, 1] for name in names}),
        schema,
        budget=dp.ApproxDP(epsilon=10, delta="1e-9", threshold_delta="1e-6"),
    )
    overlapping = [tuple(names[:14]), (*names[:13], names[14])]
    for recipe, loss, error in (
        (dp.Marginals(cliques=overlapping), ONE, dp.LimitError),
        (
            Categories("c0", delta="1e-40"),
            dp.PureDP(epsilon="1e-9"),
            dp.InfeasibleError,
        ),
        (Categories("c0", delta="1e-5"), ONE, dp.BudgetExceeded),
        (
            dp.SomeColumns(columns=("c1",), recipe=Categories("c0", delta="1e-7")),
            ONE,
            dp.ParameterError,
        ),
    ):
        with pytest.raises(error):
            curator.run(recipe, loss)
    assert len(curator.lines()) == 1
    release = curator.run(
        dp.SomeColumns(columns=("c0",), recipe=Categories("c0", delta="1e-7")), ONE
    )
    assert release.guarantee.loss["threshold_delta"] == "1/10000000"
    charged = len(curator.lines())
    with pytest.raises(dp.ParameterError, match="earlier model"):
        curator.run(dp.Adaptive(earlier=release), ONE)
    assert len(curator.lines()) == charged


def test_a_view_of_some_columns_hides_the_others() -> None:
    """A recipe kept to some columns must not be able to name, count or add up any
    other.
    """
    curator = opened(
        budget=dp.ApproxDP(epsilon=10, delta="1e-9", threshold_delta="1e-6")
    )
    seen: list[str] = []

    def look(measurer: Measurer) -> None:
        seen.append(" ".join(measurer.domain.names))
        share = measurer.loss.share(Fraction(1, 10))
        for verb in (
            lambda: measurer.measure([("age",)], share),
            lambda: measurer.measure_gaps({("age",): np.zeros(100)}, share),
            lambda: measurer.select_clique({("age",): np.zeros(100)}, share),
            lambda: measurer.measure_sums(("age",), [{}], share),
            lambda: measurer.measure_sums(
                (), [{"age": np.zeros(100, dtype=np.int64)}], share
            ),
            lambda: measurer.choose_quantile_cell(
                "age", Fraction(1, 2), share, cells=5
            ),
            lambda: measurer.find_common_texts("age", share, Fraction(1, 10**9)),
            lambda: measurer.count_by_rule(
                lambda rows: np.zeros(len(rows)), 1, ("age",), share
            ),
        ):
            with pytest.raises(dp.ParameterError, match="'age'"):
                verb()
        assert not measurer.events

    curator.run(dp.SomeColumns(columns=("sex",), recipe=Looks(look)), ONE)
    assert seen == ["sex", "sex"]


def test_a_part_is_all_that_any_verb_reads() -> None:
    """A verb that read the whole table under the charge of a part would be paid by
    nobody.
    """
    frame = pd.DataFrame({"age": [1, 1, 2, 2, 2], "sex": ["Female"] * 2 + ["Male"] * 3})
    big = dp.ApproxDP(epsilon=90, delta="1e-9", threshold_delta="1e-3")
    found: dict[str, Any] = {}

    def look(measurer: Measurer) -> None:
        share = measurer.loss.share(Fraction(1, 10))
        found["measure"] = measurer.measure([()], share)[0].values
        found["sums"] = measurer.measure_sums((), [{}], share).values
        found["quantile"] = measurer.choose_quantile_cell(
            "age", Fraction(1, 2), share, cells=100
        )
        with pytest.raises(dp.ParameterError, match="rules"):
            measurer.count_by_rule(lambda rows: np.zeros(len(rows)), 1, (), share)

    curator = opened(frame, budget=dp.PureDP(epsilon=10_000))
    curator.run(Looks(look), dp.PureDP(epsilon=5_000), part={"sex": "Female"})
    assert found["measure"] == 2
    assert found["sums"].round() == 2
    assert found["quantile"] == 1
    texts = opened(pd.concat([frame] * 200), budget=big)
    named = texts.run(
        Categories("sex", delta="1e-4"), dp.PureDP(epsilon=1), part={"sex": "Female"}
    )
    assert list(named.model.counts) == ["Female"]


def test_parts_of_two_columns_add_up() -> None:
    """Charged to one column's declaration, parts of two that overlap would cost their
    maximum.
    """
    young = dp.Categorical("young", categories=("no", "yes"))
    frame = table().assign(young=["no", "yes"] * 100)
    curator = opened(frame, dp.Schema(columns=(AGE, SEX, young), unit=SCHEMA.unit))
    for where in ({"sex": "Female"}, {"sex": "Male"}, {"young": "yes"}):
        curator.run(HISTOGRAM, ONE, part=where)
    assert curator.balance().spent == 2 * 10**12
    charged = [line.charge.part[0] for line in curator.lines() if line.charge.part]
    assert [name.partition(" #")[0] for name in charged] == ["sex", "sex", "young"]


def test_a_part_is_charged_to_the_declaration_of_its_own_column() -> None:
    """Parts share a charge only while they are disjoint: under one declaration of their
    own column.
    """
    ledger = dp.MemoryLedger()
    coarser = dataclasses.replace(AGE, bin_width=50)
    wider = dataclasses.replace(SEX, categories=("Female", "Male", "Other"))
    spent = []
    for columns, sex in (
        ((AGE, SEX), "Female"),
        ((coarser, SEX), "Male"),
        ((AGE, wider), "Female"),
    ):
        last = dp.Integer("floor", low=0, high=1)  # the same in all
        schema = dp.Schema(columns=(*columns, last), unit=SCHEMA.unit)
        curator = opened(table().assign(floor=0), schema=schema, ledger=ledger)
        curator.run(dp.Histogram("age"), ONE, part={"sex": sex})
        spent.append(curator.balance().spent // 10**12)
    assert spent == [1, 1, 2]


def test_the_note_of_an_anonymization_comes_before_its_rows() -> None:
    """Rows read before the note is on file could leave without one."""
    spy = Spy()
    hierarchies = {"age": build_flat(map(str, range(100)))}
    plan = Plan(
        roles={"age": "quasi-identifier", "sex": "insensitive"},
        hierarchies=hierarchies,
        models=(KAnonymity(k=2),),
    )
    spy.curator.anonymize(plan)
    assert spy.calls == ["note", "rows"]


def test_an_anonymized_table_has_nothing_of_dropped_rows() -> None:
    """A column of categories lists those of rows that were dropped, in the order of the
    original.
    """
    frame = pd.DataFrame(
        {
            "age": [20] * 5 + [70],
            "job": pd.Categorical(
                ["nurse", "clerk", "clerk", "nurse", "nurse", "the only mayor"]
            ),
            "floor": pd.Categorical([1, 2, None, 2, 1, 99]),
        },
    )
    plan = Plan(
        roles={"age": "quasi-identifier", "job": "sensitive", "floor": "insensitive"},
        hierarchies={"age": build_flat(["20", "70"])},
        models=(KAnonymity(k=2),),
        limit=0.5,
        suppressed="dropped",
    )
    schema = dp.Schema(columns=(AGE,), unit=dp.PrivacyUnit(max_rows=1))
    table = (
        dp.Curator.open(frame, schema, budget=ONE, ledger=dp.MemoryLedger())
        .anonymize(plan)
        .table
    )
    written = to_parquet(table)
    assert len(table.frame) == 5
    assert not any(isinstance(kind, pd.CategoricalDtype) for kind in table.frame.dtypes)
    assert b"mayor" not in written
    assert sorted(read_table(written, "x.parquet").frame["floor"].dropna()) == [
        1,
        1,
        2,
        2,
    ]


def test_a_count_of_rows_publishes_no_column() -> None:
    """The declaration of a column that was not read tells what was declared of it, such
    as its categories.
    """
    release = opened().run(dp.Marginals(cliques=[()]), ONE)
    assert release.schema.columns == ()
    assert "Female" not in release.to_json()
    assert Release.from_json(release.to_json()).schema.columns == ()
    with pytest.raises(UsageError):
        opened(schema=dp.Schema(columns=(), unit=SCHEMA.unit))


def test_a_release_carries_no_reasons() -> None:
    """Why a declaration was suggested was read from the data."""
    told = dataclasses.replace(SEX, reason="most rows say so")
    curator = opened(schema=dp.Schema(columns=(AGE, told), unit=SCHEMA.unit))
    for recipe in (dp.Histogram("sex"), dp.Joint(("age", "sex")), Tree()):
        release = curator.run(recipe, ONE, request_id=recipe.kind)
        assert "most rows" not in release.to_json()
        assert not any(column.reason for column in release.schema.columns)
    assert "most rows" not in curator.schema.to_json()


def test_a_guarantee_names_all_that_a_release_stands_on() -> None:
    """A second release that carries the first one's numbers is as private as both
    together.
    """
    for budget, first_loss, second_loss, both in (
        (
            dp.PureDP(epsilon=100),
            dp.PureDP(epsilon=3),
            dp.PureDP(epsilon="0.1"),
            {"epsilon": "31/10"},
        ),
        (
            dp.ApproxDP(epsilon=100, delta="1e-9"),
            dp.ZCDP(rho=2),
            dp.ZCDP(rho="0.1"),
            {"rho": "21/10"},
        ),
    ):
        curator = opened(budget=budget)
        first = curator.run(dp.Adaptive(rounds=1), first_loss)
        assert first.guarantee.stands_on == ()
        # as a page reads it back
        earlier = dp.Release.from_json(first.to_json())
        second = curator.run(dp.Adaptive(rounds=1, earlier=earlier), second_loss)
        assert second.guarantee.loss == both
        assert second.guarantee.stands_on == (first.guarantee.loss,)
        assert second.model.losses == (first_loss, second_loss)
        third = curator.run(
            dp.SomeColumns(
                columns=("age", "sex"),
                recipe=dp.Adaptive(rounds=1, earlier=second),
            ),
            second_loss,
        )
        assert third.guarantee.stands_on == (both,)


def test_what_stands_on_a_release_carries_its_marks_and_searches() -> None:
    """Declared again by hand, the cells that were found would cost nothing, and facts
    that were taken from the data would have no mark.
    """
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "pay": rng.gamma(3, 900, 3_000).round(2),
            "load": rng.gamma(2, 10, 3_000).round(1),
            "ward": rng.choice(["A", "B", "C"], 3_000),
        }
    )
    ledger = dp.MemoryLedger()
    budget = dp.PureDP(epsilon=50)
    proposed = dp.suggest_schema(frame)
    curator = dp.open_with_cells(frame, proposed, ["pay"], budget=budget, ledger=ledger)
    first = curator.run(dp.Adaptive(), ONE)
    assert first.guarantee.found
    assert first.guarantee.from_data
    by_hand = dataclasses.replace(
        curator.schema,
        columns=tuple(
            dataclasses.replace(column, from_data=(), found=None)
            for column in curator.schema.columns
        ),
        excluded=(),
    )
    again = opened(frame, by_hand, budget=budget, ledger=ledger)
    question = PrivateMarginalErrorQuestion(release=first, way=1)
    for guarantee in (
        again.run(dp.Adaptive(earlier=first), ONE).guarantee,
        again.evaluate_privately(question, ONE).guarantee,
    ):
        assert guarantee.loss == {"epsilon": "41/20"}
        assert guarantee.stands_on == ({"epsilon": "1"}, {"epsilon": "1/20"})
        assert guarantee.from_data == first.guarantee.from_data
    # under the declaration of then, each is named once
    same = curator.run(dp.Adaptive(earlier=first), ONE).guarantee
    assert same.loss == {"epsilon": "2"}
    assert same.found == first.guarantee.found


def test_nothing_stands_on_a_release_that_protects_others() -> None:
    """One row is not one person: the losses of both do not add up."""
    frame = table(300)
    frame["person"] = [f"p{place // 30}" for place in range(300)]
    people = dp.Schema(
        columns=SCHEMA.columns, unit=dp.PrivacyUnit(max_rows=1, id_column="person")
    )
    rows = opened(frame).run(dp.Adaptive(), ONE)
    curator = opened(frame, people)
    charged = len(curator.lines())
    for ask in (
        lambda: curator.run(dp.Adaptive(earlier=rows), ONE),
        lambda: curator.evaluate_privately(
            PrivateMarginalErrorQuestion(release=rows, way=1), ONE
        ),
        lambda: curator.run(
            Closeness.for_sample(rows, rows.sample_table(50, seed=0), ("age", "sex")),
            ONE,
        ),
    ):
        with pytest.raises(
            dp.ParameterError, match="protects a different privacy unit"
        ):
            ask()
    assert len(curator.lines()) == charged


def test_a_curator_takes_an_engine() -> None:
    """Rows that lie elsewhere than in a frame come through the same door, to the same
    account.
    """
    ledger = dp.MemoryLedger()
    engine = FrameEngine(table(), SCHEMA, key=ledger.key)
    curator = dp.Curator.open(
        engine, SCHEMA, budget=dp.PureDP(epsilon=10), ledger=ledger
    )
    curator.run(HISTOGRAM, ONE)
    assert opened(ledger=ledger).balance().spent == 10**12
    other = dp.Schema(columns=(AGE,), unit=SCHEMA.unit)
    with pytest.raises(UsageError):
        dp.Curator.open(engine, other, budget=dp.PureDP(epsilon=10), ledger=ledger)


def test_parts_read_their_rows_and_cost_the_largest() -> None:
    """A question about one part reads that part alone; parts of one public column cost
    their maximum.
    """
    curator = opened(budget=dp.PureDP(epsilon=1_000))
    frame = table()
    big = dp.PureDP(epsilon=400)  # so little noise that the counts show through
    for sex in ("Female", "Male"):
        release = curator.run(HISTOGRAM, big, part={"sex": sex})
        assert release.part == ("sex", sex)
        exact = np.bincount(frame.loc[frame["sex"] == sex, "age"], minlength=100)
        assert (release.marginals[("age",)].values == exact).all()
    assert curator.balance().spent == 400 * 10**12
    assert (
        curator.quote(HISTOGRAM, dp.PureDP(epsilon=100), part={"sex": "Male"}).charge
        == 100 * 10**12
    )
    curator.run(HISTOGRAM, dp.PureDP(epsilon=100), part={"sex": "Female"})
    free = curator.quote(HISTOGRAM, dp.PureDP(epsilon=100), part={"sex": "Male"})
    # 500 of 1,000 are left, whoever is asked about
    assert (free.charge, free.affordable_repeats) == (0, 5)


def test_parts_from_the_data_are_refused() -> None:
    """Parallel composition holds for public parts only."""
    marked = dp.Categorical(
        "sex", categories=("Female", "Male"), from_data=("categories",)
    )
    curator = opened(
        schema=dp.Schema(columns=(AGE, marked), unit=dp.PrivacyUnit(max_rows=1))
    )
    with pytest.raises(dp.BudgetError, match="from the data"):
        curator.run(HISTOGRAM, ONE, part={"sex": "Male"})


def test_facts_from_the_data_are_repeated() -> None:
    """Every guarantee must name the facts it does not cover, of the columns that were
    read.
    """
    marked = dp.Integer("age", low=0, high=99, from_data=("low", "high"))
    curator = opened(
        schema=dp.Schema(columns=(marked, SEX), unit=dp.PrivacyUnit(max_rows=1))
    )
    assert curator.run(HISTOGRAM, ONE).guarantee.from_data == {"age": ("low", "high")}
    assert curator.run(dp.Histogram("sex"), ONE).guarantee.from_data == {}


def test_a_unit_of_several_rows_means_more_noise() -> None:
    """If a person may hold m rows, the noise must grow m times for the same loss."""
    for rows in (1, 4):
        schema = dp.Schema(columns=(AGE, SEX), unit=dp.PrivacyUnit(max_rows=rows))
        release = opened(schema=schema).run(HISTOGRAM, ONE)
        assert release.marginals[("age",)].variance == pytest.approx(
            0.5 / np.sinh(0.5 / rows) ** 2
        )
        assert (
            f"{rows} rows" in release.guarantee.unit
            or "one row" in release.guarantee.unit
        )


def test_too_many_cells_are_refused_before_memory_is_taken() -> None:
    """Ten columns of 100 cells must be refused with the product, not by the operating
    system.
    """
    columns = tuple(dp.Integer(f"c{i}", low=0, high=99) for i in range(10))
    frame = pd.DataFrame({column.name: [1, 2, 3] for column in columns})
    curator = opened(frame, dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1)))
    recipe = dp.Joint(columns=tuple(column.name for column in columns))
    tracemalloc.start()
    with pytest.raises(
        dp.LimitError, match="would have 100000000000000000000 cells, more than"
    ):
        curator.run(recipe, ONE)
    with pytest.raises(dp.LimitError):
        curator.quote(recipe, ONE)
    with pytest.raises(dp.LimitError):
        curator._engine.counts([recipe.columns])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
    assert len(curator.lines()) == 1


def test_private_things_refuse_to_be_stored() -> None:
    """What holds rows or exact counts must not slip into a cache, a queue or a copy."""
    curator = opened()
    report = curator.evaluate(
        CountsQuestion(cliques=(("age",),), table=PublicTable(table()))
    )
    for private in (
        curator,
        curator._engine,
        Counts(clique=("age",), values=np.arange(3)),
        Microdata(table()),
        report,
    ):
        for store in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(dp.DisclosureError):
                store(private)


def test_public_things_may_be_stored() -> None:
    """A release is public: it must survive storage unchanged."""
    release = opened().run(dp.Joint(columns=("age", "sex")), ONE)
    again = pickle.loads(pickle.dumps(release))
    assert again.to_json() == release.to_json()
    pd.testing.assert_frame_equal(again.sample(50, seed=1), release.sample(50, seed=1))


def test_later_changes_of_the_frame_do_not_reach_in() -> None:
    """The table that was fingerprinted must be the table that is read."""
    frame = table()
    curator = opened(frame)
    frame["age"] = 7
    frame.loc[:, "sex"] = "Male"
    pd.testing.assert_frame_equal(curator._engine.rows().frame, table())


CANARIES = ("Zyxwv-the-only-one", "31415926", "271828")


def canary_table() -> tuple[pd.DataFrame, dp.Schema]:
    frame = pd.DataFrame(
        {
            "name": [CANARIES[0], *["Smith"] * 57],
            "income": [int(CANARIES[1]), *[1_000] * 57],
            "weight": [float(CANARIES[2]), *[70.0] * 57],
        },
    )
    columns = (
        dp.Categorical("name", categories=("Smith",), other=True),
        dp.Integer("income", low=0, high=5_000, bin_width=1_000),
        dp.Real("weight", low=0, high=200, bin_width=10),
    )
    return frame, dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))


def test_no_cell_value_is_kept_or_said() -> None:
    """Values of the table must not be in ledger lines, errors, reprs, reports' reprs or
    JSON.
    """
    frame, schema = canary_table()
    curator = opened(frame, schema)
    said: list[Any] = []
    release = curator.run(dp.Joint(columns=("name", "income")), ONE)
    said += [
        release,
        release.to_json(),
        repr(release.sample_table()),
        curator,
        curator._engine,
        Microdata(frame),
    ]
    said += [
        Counts(clique=("a",), values=np.array([int(CANARIES[1])])),
        schema,
        schema.to_json(),
    ]
    said += [curator.evaluate(SimilarityQuestion(table=release.sample_table()))]
    said += [curator.evaluate(RangeErrorsQuestion(source=release, column="income"))]
    for wrong in (
        lambda: curator.run(Does(fails(ValueError(CANARIES[0]))), ONE, request_id="x"),
        lambda: curator.run(dp.Histogram("height"), ONE),
        lambda: curator.run(HISTOGRAM, dp.PureDP(epsilon=99)),
        lambda: curator.evaluate(RangeErrorsQuestion(source=release, column="name")),
    ):
        with pytest.raises((dp.DpcoreError, ValueError)) as caught:
            wrong()
        if isinstance(caught.value, dp.DpcoreError):
            said += [caught.value, caught.value.details]
    said += curator.lines()
    for text in map(repr, said):
        assert not any(canary in text for canary in CANARIES)


def test_refused_tables_are_not_quoted() -> None:
    """An error about the table names columns and declared facts, never what is in a
    cell.
    """
    frame, _ = canary_table()
    unit = dp.PrivacyUnit(max_rows=1)
    for columns in (
        (dp.Categorical("name", categories=("Smith",)),),
        (dp.Integer("name", low=0, high=9),),
        (dp.Date("name", low="2000-01-01", high="2001-01-01"),),
        (dp.Boolean("income"),),
        (dp.Categorical("income", categories=(1_000,)),),
        (dp.Integer("height", low=0, high=9),),
    ):
        with pytest.raises(dp.SchemaError) as caught:
            opened(frame, dp.Schema(columns=columns, unit=unit))
        text = str(caught.value) + repr(caught.value.details)
        assert columns[0].name in text
        assert not any(canary in text for canary in (*CANARIES, "57", "58"))


def test_evaluations_are_noted_and_uncharged() -> None:
    """Work outside differential privacy must leave a line, before the rows are read."""

    class Fails(RowsEvaluation[None]):
        kind = "a question that fails"

        def compute(
            self, original: Microdata, schema: dp.Schema, on_progress: Any
        ) -> None:
            raise RuntimeError

    curator = opened()
    with pytest.raises(RuntimeError):
        curator.evaluate(Fails())
    assert curator.lines()[-1].state == "outside"
    assert curator.lines()[-1].charge == NO_CHARGE
    assert curator.balance().spent == 0


def test_empty_tables_and_wrong_tables_are_refused() -> None:
    """A table without rows, or with a column missing or twice, has a message of its
    own.
    """
    with pytest.raises(dp.SchemaError, match="no rows"):
        opened(table().iloc[:0])
    with pytest.raises(dp.SchemaError, match="no column 'sex'"):
        opened(table()[["age"]])
    twice = pd.concat([table(), table()[["age"]]], axis=1)
    with pytest.raises(dp.SchemaError, match="more than one column 'age'"):
        opened(twice)


def test_release_takes_noisy_marginals_only() -> None:
    """The type of a release keeps exact counts out, whoever builds it."""
    release = opened().run(HISTOGRAM, ONE)
    with pytest.raises(dp.DisclosureError):
        dp.Release(
            request_id="x",
            recipe={},
            schema=SCHEMA,
            guarantee=Guarantee(kind="none"),
            marginals={("age",): Counts(clique=("age",), values=np.arange(3))},
            model=release.model,
            created="",
        )


def test_what_was_read_is_what_was_charged() -> None:
    """The events on file must name every clique whose counts were read."""
    spy = Spy()
    read: list[tuple[str, ...]] = []
    counts = spy.engine.counts

    def noted(cliques: Sequence[tuple[str, ...]], **named: Any) -> list[Counts]:
        read.extend(cliques)
        return counts(cliques, **named)

    spy.engine.counts = noted  # type: ignore[method-assign]
    spy.curator.run(dp.Marginals(cliques=[("age",), ("age", "sex")]), ONE)
    events = spy.curator.lines()[-1].content["events"]
    assert [tuple(clique) for event in events for clique in event["reads"]] == read


def test_found_categories_are_charged_in_delta() -> None:
    """Naming texts that nobody declared takes from the delta set aside, once, and never
    beyond it.
    """
    frame = pd.DataFrame(
        {"age": 1, "sex": ["Female"] * 300 + ["Male"] * 300 + ["only her"]}
    )
    open_sex = dp.Categorical("sex", categories=("Female",), other=True)
    schema = dp.Schema(columns=(AGE, open_sex), unit=dp.PrivacyUnit(max_rows=1))
    budget = dp.ApproxDP(epsilon=5, delta="1e-6", threshold_delta="1e-5")
    curator = opened(frame, schema, budget=budget)
    recipe = Categories("sex", delta="8e-6")
    release = curator.run(recipe, dp.PureDP(epsilon="0.5"))
    assert list(release.model.counts) == ["Female", "Male"]
    assert curator.lines()[1].charge.threshold_units == 8 * 10**12
    assert (
        curator.run(recipe, dp.PureDP(epsilon="0.5")).request_id == release.request_id
    )
    with pytest.raises(dp.BudgetExceeded, match="delta"):
        curator.run(recipe, dp.PureDP(epsilon="0.5"), request_id="again")
    with pytest.raises(dp.BudgetExceeded, match="delta"):
        opened(frame, schema).run(recipe, dp.PureDP(epsilon="0.5"))
    assert "only her" not in release.to_json() + repr(curator.lines())


def test_parts_of_another_declaration_add_up() -> None:
    """Ages 0 to 49 and 25 to 74 overlap: as parts of one column, two looks at a person
    would cost one.
    """
    ledger = dp.MemoryLedger()
    halves = dp.Schema(
        columns=(dp.Integer("age", low=0, high=99, bin_width=50), SEX), unit=SCHEMA.unit
    )
    middle = dp.Schema(
        columns=(dp.Integer("age", low=0, high=99, cuts=(25, 75)), SEX),
        unit=SCHEMA.unit,
    )
    first = opened(schema=halves, budget=ONE, ledger=ledger)
    second = opened(schema=middle, budget=ONE, ledger=ledger)
    for half in ("0 to 49", "50 to 99"):
        first.run(HISTOGRAM, ONE, part={"age": half})
    assert second.quote(HISTOGRAM, ONE, part={"age": "25 to 74"}).charge == 10**12
    with pytest.raises(dp.BudgetExceeded):
        second.run(HISTOGRAM, ONE, part={"age": "25 to 74"})
    assert first.balance().remaining_units == 0


def test_a_release_holds_the_declarations_of_what_it_read() -> None:
    """Categories taken from the data would leave with the release of another column,
    unmarked.
    """
    town = dp.Categorical(
        "town", categories=("Aren", "Canaryville"), from_data=("categories",)
    )
    schema = dp.Schema(columns=(AGE, SEX, town), unit=SCHEMA.unit)
    frame = table().assign(town=["Aren"] * 199 + ["Canaryville"])
    curator = opened(frame, schema)
    release = curator.run(HISTOGRAM, ONE)
    assert "Canaryville" not in release.to_json()
    assert "town" not in release.to_json()
    assert release.schema.domain.names == ("age",)
    assert curator.run(dp.Joint(("sex", "town")), ONE).guarantee.from_data == {
        "town": ("categories",)
    }
    part = curator.run(HISTOGRAM, ONE, part={"sex": "Male"})
    assert part.schema.domain.names == ("age", "sex")


def test_facts_of_determined_columns_are_marked() -> None:
    """A column that follows from another is drawn though it was not read, with its
    categories.
    """
    area = dp.Categorical(
        "area", categories=("north", "south"), from_data=("categories",)
    )
    schema = dp.Schema(columns=(SEX, area), unit=SCHEMA.unit)
    frame = table()[["sex"]].assign(
        area=np.where(table()["sex"] == "Male", "south", "north")
    )
    rule = Constraints(
        determines=(FunctionalDependency(column="sex", target="area", cells=(0, 1)),)
    )
    release = opened(frame, schema).run(Tree(constraints=rule), ONE)
    assert release.guarantee.from_data == {"area": ("categories",)}


def test_the_delta_of_a_threshold_is_promised_openly() -> None:
    """A release of found categories would claim pure epsilon."""
    budget = dp.ApproxDP(epsilon=50, delta="1e-9", threshold_delta="1e-6")
    curator = opened(budget=budget)
    release = curator.run(Categories("sex", delta="1e-7"), ONE)
    assert release.guarantee.loss == {"epsilon": "1", "threshold_delta": "1/10000000"}
    assert curator.account.promise["threshold_delta"] == "1/1000000"


def test_request_ids_are_texts() -> None:
    """A number would come back from the database as a text and break the chain of the
    ledger for good.
    """
    curator = opened()
    with pytest.raises(dp.ParameterError, match="request id"):
        curator.run(HISTOGRAM, ONE, request_id=7)  # type: ignore[arg-type]
    assert curator.balance().remaining_units == curator.balance().budget


def test_releases_of_another_version_are_refused_in_words() -> None:
    """A later program's release would fail somewhere inside, or be read as what it is
    not.
    """
    text = (
        opened()
        .run(HISTOGRAM, ONE)
        .to_json()
        .replace('"version": 1', '"version": 2', 1)
    )
    with pytest.raises(dp.ParameterError, match="version 2"):
        dp.Release.from_json(text)


@pytest.mark.parametrize(
    "whole",
    [
        dp.ZCDP(rho="0.01497313451234567890123"),
        dp.PureDP(epsilon="1/3"),
        dp.PureDP(epsilon="0.10000000000019"),
    ],
    ids=str,
)
def test_a_budget_of_many_decimals_is_spent_whole(whole: dp.PureDP | dp.ZCDP) -> None:
    """A charge rounded up would exceed a budget rounded down: of the same loss a part
    would be left that nothing can buy.
    """
    curator = opened(budget=whole)
    assert curator.quote(HISTOGRAM, whole).affordable_repeats == 1
    release = curator.run(HISTOGRAM, whole)
    assert curator.balance().remaining_units == 0
    assert release.guarantee.loss == {whole.name: str(whole.amount)}
    assert curator.run(HISTOGRAM, whole).request_id == release.request_id  # and free
    thirds = opened(budget=dp.PureDP(epsilon=1))
    for number in range(3):
        thirds.run(HISTOGRAM, dp.PureDP(epsilon="1/3"), request_id=str(number))
    assert thirds.balance().remaining_units == 1


def test_what_is_charged_pays_for_what_is_drawn() -> None:
    """Rounding must not draw less noise than was charged, nor lose a tiny loss."""
    curator = opened(budget=dp.PureDP(epsilon=1))
    drawn = []
    for loss in (dp.PureDP(epsilon="0.1234567890129"), dp.PureDP(epsilon="1e-13")):
        curator.run(HISTOGRAM, loss)
        line = curator.lines()[-1]
        events = [Event.from_dict(each) for each in line.content["events"]]
        drawn.append(sum(event.epsilon or 0 for event in events))
    spent = Fraction(curator.balance().spent, 10**12)
    assert sum(drawn) <= spent < Fraction("0.123456789014")
    assert drawn[1] > 0
