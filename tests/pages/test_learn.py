"""The Learn page: every control of every lesson, and no trace in any ledger."""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from dpcore.local import RandomizedResponse
from tests.pages.tab import Tab
from workbench import samples
from workbench.language.wording import percent
from workbench.learn import figures, lessons, view
from workbench.learn.lessons import LESSONS


@pytest.fixture
def learn(app: Tab) -> Tab:
    """The page, without any table."""
    return app.go("learn")


def test_ten_lessons_stand_in_order(learn: Tab) -> None:
    """A lesson would be missing, or a newcomer would meet composition before noise."""
    heads = [each.value for each in learn.at.header]
    assert [head.split(" · ")[0] for head in heads] == [
        str(number) for number in range(1, 13)
    ]
    assert learn.errors == ""


@pytest.mark.proof
def test_every_question_is_answered_at_once(learn: Tab) -> None:
    """A question would stay open, a wrong answer pass for a right one, or what was
    answered be forgotten.
    """
    for number, (key, lesson) in enumerate(LESSONS.items(), start=1):
        radio = learn.at.radio(key=f"learn-{key}-answer")
        assert len(radio.options) == len(lesson["answers"]) > 1
        radio.set_value((lesson["right"] + 1) % len(lesson["answers"])).run()
        assert "Not quite. " + lesson["answers"][lesson["right"]] in [
            each.value for each in learn.at.warning
        ]
        learn.at.radio(key=f"learn-{key}-answer").set_value(lesson["right"]).run()
        assert (
            f"{number} of 12 questions answered, {number} of them correctly."
            in learn.text
        )
    assert "12 of 12" in learn.go("ledger").go("learn").text
    assert learn.errors == ""


@pytest.mark.parametrize("key", LESSONS)
def test_a_notebook_runs_with_the_library_alone(key: str) -> None:
    """Whoever takes a lesson home would meet an error in its first cell."""
    cells = view.notebook_cells(key)
    assert len(cells) > 1
    assert "workbench" not in LESSONS[key]["notebook"]
    names: dict[str, object] = {}
    for cell in cells:
        exec(compile(cell, key, "exec"), names)


def test_the_course_is_printed() -> None:
    """A page to print would lack a lesson, a figure, a question or what is said of its
    answers.
    """
    page = html.unescape(lessons.print_course().decode())
    for lesson in LESSONS.values():
        assert lesson["title"] in page
        assert lesson["asks"] in page
        assert all(answer in page for answer in lesson["answers"])
    assert "2.72 times" in page
    assert "{" not in re.sub("<style>.*?</style>", "", page, flags=re.DOTALL)


def test_it_is_computed_once() -> None:
    """Every click on the page would compute releases again, for two seconds of a
    processor.
    """
    for each, given in (
        (figures.errors_by_width, 0.1),
        (figures.errors_by_columns, 1.0),
        (figures.attack_with_voter_list, 1.0),
    ):
        assert each(given) is each(given)


def test_every_control_moves_and_nothing_is_charged(learn: Tab) -> None:
    """A control would end in an error at one of its ends, or a lesson would spend
    somebody's budget.
    """
    assert len(_controls(learn)) >= 8
    # every lesson has its own controls, so that all may move at once
    for end in (0, -1):
        for widget in _controls(learn):
            ends = (
                [*map(float, widget.options)]
                if widget.type == "select_slider"
                else [widget.min, widget.max]
            )
            widget.set_value(ends[end])
        learn.at.run()
        assert learn.errors == ""
    assert learn.session.open_tables == {}


def _controls(learn: Tab) -> list:
    return [each for kind in ("slider", "select_slider") for each in learn.at.get(kind)]


EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


def exact(value: object) -> object:
    """Approximately equal, to 1e-9: what every figure of a lesson is held to."""
    return pytest.approx(value, rel=1e-9, abs=1e-12)


def tail(epsilon: float, least: int) -> float:
    """Chance that two-sided geometric noise is at least so large."""
    q = math.exp(-epsilon)
    return q**least / (1 + q) if least > 0 else 1 - q ** (1 - least) / (1 + q)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_bound_is_the_stated_one(epsilon: float) -> None:
    """The first picture would show another promise than e^epsilon, or chances of
    another noise.
    """
    frame, ratio = figures.neighboring_laws(100, epsilon)
    assert ratio == exact(math.exp(epsilon))
    assert frame.groupby("table")["chance"].sum().min() > 0.9
    for (name, of_table), count in zip(
        frame.groupby("table", sort=False), (100, 101), strict=True
    ):
        for line in of_table.itertuples():
            off = round(line.answer) - count
            assert line.chance == exact(tail(epsilon, off) - tail(epsilon, off + 1)), (
                name
            )


def test_two_answers_reach_their_sum() -> None:
    """C1, C5: the sum of two losses would look like an exaggeration, as 1.92 did.

    The law of the average is counted here, chance by chance, in 50 digits.
    """
    assert figures.loss_of_two_answers() == exact(2)
    with localcontext(prec=50):
        q = Decimal(-1).exp()

        def of_sum(at: int) -> Decimal:
            """The chance of a sum of two noises, but for a factor; what is left out is
            below 1e-100.
            """
            return sum(
                q ** (abs(first) + abs(at - first)) for first in range(-350, 351)
            )

        for below in (0, 5, 50):
            loss = (of_sum(2 * below) / of_sum(2 * below + 2)).ln()
            assert figures.loss_of_average(below) == exact(float(loss))
    assert figures.loss_of_average(10**6) == pytest.approx(2, abs=1e-5)
    assert figures.loss_of_average(50) < 2


def test_variances_of_answers() -> None:
    """SEEDS C2 to C5: of noise on whole numbers, 2 q / (1 - q)^2, and half of it for an
    average of two.
    """

    def variance(epsilon: float) -> float:
        return 1 / (2 * math.sinh(epsilon / 2) ** 2)

    def off(epsilon: float) -> float:
        return 1 / math.sinh(epsilon)

    names = list(figures.textbook_laws())
    assert [name[:2] for name in names] == ["F1", "F2", "F3", "F "]
    drawn, spreads = figures.overlaid_laws(names)
    assert spreads["variance"].tolist() == exact(
        [variance(1), variance(1), variance(2), variance(1) / 2]
    )
    chances = {at: math.tanh(0.5) * math.exp(-abs(at)) for at in range(-60, 61)}
    average = sum(
        abs(a + b) / 2 * chances[a] * chances[b] for a in chances for b in chances
    )
    assert spreads["off"].tolist() == exact([off(1), off(1), off(2), average])
    first, second, third, combined = (drawn[drawn["law"] == name] for name in names)
    assert first["chance"].tolist() == second["chance"].tolist(), "C2: one law"
    assert third["chance"].tolist() == exact(
        [math.tanh(1) * math.exp(-2 * abs(at)) for at in range(-4, 5)]
    )
    halves = {
        at: sum(chances[a] * chances[at - a] for a in range(-50, 51))
        for at in range(-10, 11)
    }
    whole = [
        halves[2 * row] + (halves[2 * row - 1] + halves[2 * row + 1]) / 2
        for row in range(-4, 5)
    ]
    assert combined["chance"].tolist() == exact(whole)
    # C4: what is called a chance is one, so that a student may multiply it
    assert max(drawn.groupby("law")["chance"].sum()) <= 1
    assert combined["chance"].max() == pytest.approx(first["chance"].max())


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 0.5])
def test_three_ways_to_add_up(epsilon: float) -> None:
    """C1: a curve would promise more, or less, than its way to add up keeps."""
    composed = figures.compose_losses(epsilon).pivot(
        index="answers", columns="way", values="epsilon"
    )
    for answers, line in composed.iterrows():
        assert line["basic: epsilons add up"] == exact(answers * epsilon)
        rho = answers * epsilon * math.tanh(epsilon / 2)

        def log_delta(order: float, at: float, rho: float = rho) -> float:
            return (
                (order - 1) * (order * rho - at)
                - math.log(order)
                + (order - 1) * math.log1p(-1 / order)
            )

        by_rho = line["zCDP: rhos add up"]
        for at, holds in ((by_rho + 2e-9, True), (by_rho - 2e-9, False)):
            best = minimize_scalar(
                lambda log_order, at=at: log_delta(1 + math.exp(log_order), at),
                bounds=(-8, 12),
                method="bounded",
                options={"xatol": 1e-12},
            )
            assert (best.fun <= math.log(1e-6)) == holds
        best = line["tightest bound, if all answers are planned in advance"]
        # exact: tests/accounting/test_composition.py
        assert best <= min(by_rho, answers * epsilon) + 1e-9


def test_the_loss_against_where_it_lies() -> None:
    """SEEDS C5: the curve of the average would pass, or never come near, that of both
    answers.
    """
    frame = figures.loss_by_average().pivot(
        index="below", columns="known", values="loss"
    )
    assert frame["both answers"].tolist() == exact([2] * len(frame))
    average = frame["the average alone"]
    assert average.is_monotonic_increasing
    assert average.loc[[1, 5]].tolist() == pytest.approx([1.53, 1.84], abs=0.005)
    assert 1.98 < average.iloc[-1] < 2


def test_tables_of_three_lengths() -> None:
    """SEEDS G11: a table of 5 rows would look as good as one of as many rows as were
    counted.
    """
    errors = figures.error_by_rows(1.0).set_index("rows")["error"]
    people = samples.census()["age"].between(20, 64).sum()
    assert errors["5"] == pytest.approx(100, abs=0.1)
    assert errors["10000"] == pytest.approx(50, abs=2)
    assert errors["as many as counted"] < 100 * 5 / math.sqrt(people)


@pytest.mark.parametrize("p", [0.55, 0.75, 0.95])
def test_the_coin_and_its_likelihood(p: float) -> None:
    """SEEDS G2, G4: a coin of 0.75 is ln 3; the curve has its top at the corrected
    share.
    """
    frame, estimate = figures.coin_likelihood(p)
    frame = frame[frame["people"] == "1000"]
    reports = int(estimate.support[1])
    assert reports == round(1_000 * (0.3 * p + 0.7 * (1 - p)))
    logs = [
        reports * math.log(s * p + (1 - s) * (1 - p))
        + (1_000 - reports) * math.log(s * (1 - p) + (1 - s) * p)
        for s in frame["share"]
    ]
    assert frame["likelihood"].tolist() == pytest.approx(
        [math.exp(each - max(logs)) for each in logs],
        abs=1e-9,
    )
    top = frame["share"][frame["likelihood"].argmax()]
    assert top == pytest.approx(estimate.frequencies[1], abs=0.011)
    fields = lessons.show_local_privacy(0.75, math.log(3), 4).fields
    assert (fields["epsilon"], fields["chance"], fields["share"]) == (
        "1.1",
        "0.75",
        "30\u202f%",
    )


def test_parts_and_sums() -> None:
    """C6: sixteen groups that share nobody cost once; overlapping ones sixteen
    times.
    """
    assert figures.cost_of_groups(16, 1.0) == (1.0, 16.0)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_afterwards_nothing_grows(epsilon: float) -> None:
    """C10: an attack on the answer would seem to learn more than the answer.

    What keeps a group of answers that lies above both counts loses exactly epsilon by
    it; what keeps nothing, nothing.
    """
    assert figures.loss_after_postprocessing(epsilon)["epsilon"].tolist() == exact(
        [epsilon] * 3 + [0]
    )


def test_wide_ranges_err_less_in_percent() -> None:
    """A9, A10: asked directly, one noise is spread over more people."""
    frame = figures.errors_by_width(1.0).pivot(
        index="ages", columns="way", values="percent"
    )
    assert (frame["added up from a histogram"] >= 0).all()
    direct = frame["asked directly"]
    assert direct.iloc[-1] < direct.iloc[0] / 10
    column = figures._census()[1].column("age")
    counts = np.bincount(column.encode(samples.census()["age"]), minlength=column.size)
    for width in direct.index:
        rows = np.convolve(counts, np.ones(width), "valid")
        rows = rows[rows > 0]
        found = brentq(
            lambda x, rows=rows: np.exp(-x * rows / 100).mean() - 0.5,
            0,
            1e4,
            xtol=1e-13,
        )
        assert direct[width] == exact(found), width


def test_more_columns_cost_accuracy() -> None:
    """A24, C9: four columns together lose the ages that one column keeps; the signal of
    a cell drowns.
    """
    frame = figures.errors_by_columns(1.0)
    assert frame["error"].is_monotonic_increasing
    assert frame["error"].iloc[0] < 10 < 100 < frame["error"].iloc[-1]
    # of a draw, P(> w) = 2 exp(-(w + 1)) / (1 + exp(-1))
    beyond = math.log(0.05 * (1 + math.exp(-1)) / 2)
    off = math.ceil(-beyond - 1)  # so many rows in 95 of 100 cells
    assert frame["error"].to_numpy() == exact(
        off * frame["cells"] / len(samples.census()) * 100
    )
    distances = frame["distance"].tolist()
    assert distances[0] < 0.02
    assert distances[3] > 5 * distances[0]


def test_who_is_found_by_the_voter_list() -> None:
    """The eighth lesson would name another number of people than a join of the two
    tables finds.
    """
    visits = samples.hospital().drop_duplicates("patient_id")
    alone = (
        visits.groupby(figures.LINKED_COLUMNS)
        .size()
        .eq(1)
        .rename("alone")
        .reset_index()
    )
    voters = samples.voter_list()
    known = voters.drop_duplicates(figures.LINKED_COLUMNS, keep=False)
    found = known.merge(alone, on=figures.LINKED_COLUMNS)
    assert figures.link_voters_and_visits().people == len(voters)
    assert figures.link_voters_and_visits().unique_matches == found["alone"].sum()


@pytest.mark.parametrize("epsilon", [0.1, 5.0])
def test_the_list_against_a_private_release(epsilon: float) -> None:
    """SEEDS G8: rows that nobody has would be said to name people; the twin is the
    table itself.
    """
    attack, guess = figures.attack_with_voter_list(epsilon)
    own, drawn = attack.itertuples()
    assert (own.found, own.right) == (
        figures.link_voters_and_visits().unique_matches,
        pytest.approx(98, abs=2),
    )
    assert drawn.found < own.found / 20
    assert drawn.found * drawn.right / 100 <= 12, (
        "of some 25, at the most frequent diagnosis 16 %"
    )
    patients = samples.hospital().drop_duplicates("patient_id")["diagnosis"]
    assert guess == patients.eq(patients.mode()[0]).mean()
    assert lessons.show_linkage(epsilon).fields["sure"] == percent(
        1 / (1 + math.exp(-epsilon))
    )


@pytest.mark.parametrize("epsilon", [5.0, 20.0])
def test_the_laws_of_classes_and_the_tree_of_features(epsilon: float) -> None:
    """SEEDS G5, G6, P11, P12: a law would be of the table, drawn rows of another law,
    or features be joined that have nothing to do with each other.
    """
    shares, joined, moments = figures.release_by_class(epsilon)
    assert sorted(joined["joined"].tolist()[2]) == sorted("a + b + c + d")
    assert set(joined["joined"][:2]) == {"a + b", "c + d"}
    assert joined["distance"].is_monotonic_increasing
    assert (joined["distance"] < lessons.MAX_GROUP_DISTANCE).tolist() == [
        True,
        True,
        False,
    ]
    for _sign, rows in moments.groupby("class"):
        table, noisy, drawn = (
            rows.iloc[place, 2:].astype(float).to_numpy() for place in range(3)
        )
        assert table != pytest.approx(noisy, abs=1e-9), "exact sums"
        assert noisy == pytest.approx(table, abs=1 / epsilon)
        assert drawn == pytest.approx(noisy, abs=0.05), (
            "values beyond the bounds are clipped"
        )
    assert shares.groupby("of")["share"].sum().between(0.95, 1.001).all()
    for _turn in range(5):  # hardly any budget: any tree may come out
        _shares, tree, _moments = figures.release_by_class.__wrapped__(0.02)
        assert sorted(tree["joined"].iloc[-1]) == sorted("a + b + c + d")
    assert shares["of"].unique().tolist() == ["original", "release", "drawn rows"]


def test_local_errs_more_than_central() -> None:
    """Trusting nobody would look free."""
    frame = figures.local_and_central_errors(1.0, 4).pivot(
        index="people", columns="trust", values="error"
    )
    assert (frame["trust nobody"] > 5 * frame["trust a curator"]).all()


@pytest.mark.parametrize("categories", [2, 4, 50])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_errors_without_and_with_a_curator(epsilon: float, categories: int) -> None:
    """The last picture would compare other errors than those of the best protocol and
    of one noisy count.
    """
    power = math.exp(epsilon)
    half = math.exp(epsilon / 2)
    k = categories
    sizes = range(1, k)
    laws = [
        (power / (power + k - 1), 1 / (power + k - 1)),  # randomized response
        (half / (half + 1), 1 / (half + 1)),  # symmetric unary
        (0.5, 1 / (power + 1)),  # optimized unary
        (power / (power + 1), 0.5),  # Hadamard
        *(
            (
                w * power / (w * power + k - w),
                w * (power * (w - 1) + k - w) / ((k - 1) * (w * power + k - w)),
            )
            for w in sizes
        ),
    ]
    least = min(
        (p * (1 - p) + (k - 1) * q * (1 - q)) / k / (p - q) ** 2 for p, q in laws
    )
    frame = figures.local_and_central_errors(epsilon, categories).pivot(
        index="people",
        columns="trust",
        values="error",
    )
    people = frame.index.to_numpy()
    assert frame["trust nobody"].to_numpy() == exact(np.sqrt(least / people))
    assert frame["trust a curator"].to_numpy() == exact(
        1 / math.sqrt(2) / math.sinh(epsilon / 2) / people
    )


def test_a_coin_by_epsilon_and_answers() -> None:
    """H4: the curve rises with epsilon, and is lower for more answers."""
    curve = figures.truth_chance_by_epsilon()
    for answers, part in curve.groupby("answers"):
        assert part["chance"].is_monotonic_increasing
        assert part["chance"].iloc[0] == pytest.approx(1 / int(answers))
        law = RandomizedResponse(categories=int(answers), epsilon="2")
        at_two = part.loc[(part["epsilon"] - 2).abs().idxmin(), "chance"]
        assert at_two == pytest.approx(float(law.p), abs=1e-6)
    at_three = curve[(curve["epsilon"] - 3).abs() < 1e-9].set_index("answers")
    assert at_three.loc["2", "chance"] > at_three.loc["16", "chance"]


@pytest.mark.parametrize("p", [0.55, 0.75, 0.95])
def test_both_coins_tell_the_truth_as_often(p: float) -> None:
    """H3: a second throw in place of the opposite answer."""
    fields = lessons.show_local_privacy(p, 1.0, 4).fields
    honest = float(fields["honest"])
    free = float(fields["free"])
    assert honest + free == pytest.approx(p, abs=0.006)
    assert free == pytest.approx((1 - honest) / 2, abs=0.006)


def test_linkage_step_by_step() -> None:
    """H7: the shares are those of the sample, counted one by one."""
    patients = samples.hospital().drop_duplicates("patient_id")
    for known, share in zip(
        (["zip"], ["zip", "birth_date"], ["zip", "birth_date", "sex"]),
        figures.linkage_steps()["alone"],
        strict=True,
    ):
        groups = Counter(map(tuple, patients[known].to_numpy().tolist()))
        alone = sum(count for count in groups.values() if count == 1)
        assert share == pytest.approx(100 * alone / len(patients))


def test_small_clusters_are_off_without_noise() -> None:
    """H6: the mean of k rows is off by sqrt(2 / (pi k)) on average."""
    frame = figures.error_by_cluster_size()
    means = frame[frame["figure"] == "mean"]
    expected = np.sqrt(2 / (np.pi * means["rows"]))
    assert means["off"].tolist() == pytest.approx(expected.tolist(), rel=0.08)
    assert frame[frame["figure"] == "covariance"]["off"].is_monotonic_decreasing


def test_a_sum_of_several_mechanisms(app: Tab) -> None:
    """H5: unequal epsilons, on everybody and on parts."""
    assert figures.add_up_mechanisms([(0.5, ""), (1.0, "a"), (0.4, "b")]) == (
        pytest.approx(1.5),
        pytest.approx(1.9),
    )
    assert figures.add_up_mechanisms([]) == (0, 0)
    app.go("learn")
    assert "at most **epsilon 1.5**; the plain sum of all lines is 2.2" in app.text
