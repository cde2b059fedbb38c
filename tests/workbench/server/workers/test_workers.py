"""Work in workers: the same results, the same errors, and charges that no end of a
process undoes.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.accounting.memory import MemoryLedger
from dpcore.anonymization.methods import Mondrian
from dpcore.anonymization.streamed import RowRecoder
from dpcore.curator import Curator
from dpcore.curator.measuring import build_measurer
from dpcore.engines.frame import FrameEngine
from dpcore.errors import DisclosureError, LimitError, ParameterError
from dpcore.evaluation.table.audit import AuditQuestion
from dpcore.evaluation.table.proposals import (
    HierarchiesQuestion,
    RolesQuestion,
    default_plan,
)
from dpcore.evaluation.utility.learning import LearningQuestion
from dpcore.mechanisms.measurer import Measurer
from dpcore.progress import Compute, OnProgress, compute_here
from dpcore.schema import PrivacyUnit, Schema, suggest_schema
from dpcore.synthesis import Adaptive, Histogram, Recipe
from dpcore.synthesis.discrete.copies import DiffersRule
from dpcore.tables.rows import CodedRows, Microdata, PublicTable
from workbench.server.workers import process, remote_measurer
from workbench.server.workers.callbacks import StoppedError, cancelled_by
from workbench.server.workers.messages import Channel
from workbench.server.workers.queue import RunQueue
from workbench.server.workers.remote_measurer import REMOTE_METHODS, RemoteMeasurer

COST = dp.PureDP(epsilon=1)


def never() -> bool:
    return False


def opened(rows: int = 400, compute: Compute = compute_here) -> Curator:
    """A table of three columns, and a budget of ten."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 70, rows),
            "sex": rng.choice(["F", "M"], rows),
            "city": rng.choice([*"ABCD"], rows),
        },
    )
    schema = Schema(columns=suggest_schema(frame).columns, unit=PrivacyUnit(max_rows=1))
    return Curator.open(
        frame,
        schema,
        budget=dp.PureDP(epsilon=10),
        ledger=MemoryLedger(),
        compute=compute,
    )


class Odd(Histogram):
    """A histogram whose learning does something first, once it is charged."""

    def fit(self, measurer: Any, on_progress: Any) -> Any:
        found = super().fit(measurer, on_progress)
        if found[0][("age",)].values.any():  # not in the rehearsal, whose counts are 0
            ACTIONS[self.action]()
        return found

    action = "sleep"


class Killed(Odd):
    action = "killed"


class Broken(Odd):
    action = "broken"


def _broken() -> None:
    raise KeyError("a secret value")


ACTIONS: dict[str, Callable[[], object]] = {
    "sleep": lambda: time.sleep(60),
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "broken": _broken,
}


def run(curator: Curator, recipe: Recipe, cancelled: Callable[[], bool] = never) -> Any:
    stages: dict[str, int] = {}

    def on_progress(stage: str, share: float) -> None:
        stages.setdefault(stage, len(curator.lines()))

    with cancelled_by(cancelled):
        try:
            return curator.run(recipe, COST, request_id="r", on_progress=on_progress)
        finally:
            # charged before
            assert {**stages, "measuring": 2} == dict.fromkeys(
                ("measuring", *stages), 2
            )


@pytest.mark.parametrize(
    "recipe", [Histogram("age"), Adaptive()], ids=["histogram", "adaptive"]
)
def test_a_release_is_what_it_would_be_here(recipe: Recipe) -> None:
    """Noise, events or models would get lost on the way; or it could not be opened
    again.
    """
    curator = opened(compute=process.compute)
    release = run(curator, recipe)
    assert curator.release("r").to_json() == release.to_json()
    assert release.recipe == recipe.to_dict()
    events = curator.lines()[-1].content["events"]
    assert len(events) >= len(release.marginals)
    assert {tuple(clique) for event in events for clique in event["reads"]} >= set(
        release.marginals
    )
    assert (curator.balance().spent, curator.balance().reserved) == (10**12, 0)


def test_another_process_is_told_noisy_numbers_alone() -> None:
    """A recipe elsewhere could ask for exact counts, and a bug there would publish
    them.
    """
    curator = opened()
    measurer = build_measurer(curator._engine, curator.schema, dp.PureDP(epsilon=1))
    for name in ("_exact_counts", "_counts", "count_by_rule", "events", "__reduce__"):
        with pytest.raises(DisclosureError):
            remote_measurer.answer_call(measurer, name, ([("age",)],), {})
    public = {each for each in vars(Measurer) if not each.startswith("_")}
    assert public - {"noise", "on_draw", "is_spent"} == REMOTE_METHODS

    class Sly(DiffersRule):
        """A rule of a worker, which would be run on rows here."""

    pair = ("age", "sex")
    for rule in (len, Sly(columns=pair)):
        asked = (rule, 2, pair, dp.PureDP(epsilon="0.1"))
        with pytest.raises(DisclosureError):
            remote_measurer.answer_call(measurer, "count_by_rule", asked, {})
    asked = (DiffersRule(columns=pair), 2, pair, dp.PureDP(epsilon="0.1"))
    told = remote_measurer.answer_call(measurer, "count_by_rule", asked, {})
    assert told.variance > 0
    assert measurer.events[-1].reads == (pair,)
    ours, theirs = socket.socketpair()
    with Connection(ours.detach()) as one, Connection(theirs.detach()) as other:
        server = Channel(one)
        worker = Channel(other)
        server.send((measurer, measurer.project(("age",))))
        first, second = worker.receive()
    assert [type(each) for each in (first, second)] == [RemoteMeasurer] * 2
    assert server.measurers[0] is measurer
    assert (second.number, second.domain.names) == (1, ("age",))
    facts = ("domain", "declared", "loss", "rows", "part", "noise")
    assert [getattr(first, each) for each in facts] == [
        getattr(measurer, each) for each in facts
    ]
    for private in (first._exact_counts, first._counts):
        with pytest.raises(DisclosureError):
            private([("age",)])


@pytest.mark.parametrize(
    ("recipe", "error"),
    [(Killed("age"), LimitError), (Broken("age"), process.WorkEnded)],
    ids=["killed", "broken"],
)
def test_what_ends_badly_stays_charged_and_says_so(
    recipe: Recipe, error: type[Exception]
) -> None:
    """A worker that the system ends would take the charge, or the record of what was
    drawn, with it.
    """
    curator = opened(compute=process.compute)
    with pytest.raises(error) as caught:
        run(curator, recipe)
    assert "secret" not in str(caught.value)
    last = curator.lines()[-1]
    assert last.state == "failed"
    assert len(last.content["events"]) == 1
    assert (curator.balance().spent, curator.balance().reserved) == (10**12, 0)
    # others work on
    assert run(opened(compute=process.compute), Histogram("age")).request_id == "r"


def test_stopping_before_the_charge_is_free_and_after_it_is_not() -> None:
    """Somebody who steps back would pay for nothing, or get noise for nothing."""
    curator = opened(compute=process.compute)
    with pytest.raises(StoppedError):
        run(curator, Odd("age"), cancelled=lambda: len(curator.lines()) == 2)
    assert curator.balance().spent == 10**12
    assert curator.lines()[-1].content["error"] == "StoppedError"
    line = RunQueue(1)
    curator = opened()
    out = threading.Event()
    places: list[int] = []

    def wait() -> None:
        with (
            pytest.raises(StoppedError),
            cancelled_by(out.is_set),
            line.wait_for_turn(places.append),
        ):
            run(curator, Histogram("age"))

    with line.wait_for_turn(places.append):
        waiting = threading.Thread(target=wait)
        waiting.start()
        while not places:
            time.sleep(0.01)
        out.set()
        waiting.join()
    assert set(places) == {1}
    assert len(curator.lines()) == 1
    with line.wait_for_turn(places.append):  # nobody blocks it
        pass


class Slow(Histogram):
    """A histogram whose learning takes a while, in which it is stopped."""

    def fit(self, measurer: Any, on_progress: Any) -> Any:
        found = super().fit(measurer, on_progress)
        if found[0][("age",)].values.any():
            on_progress("learning", 0.5)
            time.sleep(1)
        return found


def test_a_stop_after_the_noise_keeps_the_release() -> None:
    """What was paid for would be thrown away, by a button that somebody pressed too
    late.
    """
    curator = opened(compute=process.compute)
    stages = []
    with cancelled_by(lambda: "learning" in stages):
        release = curator.run(
            Slow("age"), COST, on_progress=lambda stage, share: stages.append(stage)
        )
    assert curator.lines()[-1].state == "committed"
    assert curator.release(release.request_id).to_json() == release.to_json()


def test_a_stop_ends_the_drawing_of_noise() -> None:
    """The button would do nothing for as long as noise is drawn, which is most of a run
    over many cells.
    """
    frame = pd.DataFrame({"n": [0, 1] * 50, "m": [0, 1] * 50})
    columns = tuple(dp.Integer(name, low=0, high=499, bin_width=1) for name in frame)
    schema = Schema(columns=columns, unit=PrivacyUnit(max_rows=1))
    curator = Curator.open(
        frame, schema, budget=COST, ledger=MemoryLedger(), compute=process.compute
    )
    looks = 0

    def after_some() -> bool:
        nonlocal looks
        looks += len(curator.lines()) == 2  # it is charged
        return looks > 5

    with cancelled_by(after_some), pytest.raises(StoppedError):
        curator.run(dp.Marginals(cliques=(("n", "m"),)), COST)
    assert looks == 6  # of 62 blocks of cells
    assert curator.lines()[-1].state == "failed"


def test_the_line_is_kept_in_order() -> None:
    """Whoever came last would be served first, or two runs would go at once."""
    line = RunQueue(1)
    order = []
    places = {}
    running = 0

    def one(name: int) -> None:
        nonlocal running
        with line.wait_for_turn(
            lambda place: places.setdefault(name, []).append(place)
        ):
            running += 1
            assert running == 1
            order.append(name)
            running -= 1

    with line.wait_for_turn(lambda place: None):
        threads = []
        for name in range(4):
            threads.append(threading.Thread(target=one, args=(name,)))
            threads[-1].start()
            while name not in places:
                time.sleep(0.01)
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3]
    assert [places[name][0] for name in range(4)] == [1, 2, 3, 4]


def test_an_evaluation_is_what_it_would_be_here() -> None:
    """The original would be changed on its way, or an internal result would not come
    back.
    """
    curator = opened()
    there = opened(compute=process.compute)
    stages: list[str] = []
    assert (
        there.evaluate(RolesQuestion()).content
        == curator.evaluate(RolesQuestion()).content
    )
    public = PublicTable(
        pd.DataFrame(
            {"age": [30, 40] * 50, "sex": ["F", "M"] * 50, "city": ["A", "B"] * 50}
        ),
    )
    learned = LearningQuestion(
        table=public,
        target="sex",
        tasks=("logistic",),
        splits=1,
    )
    report = there.evaluate(learned, lambda stage, share: stages.append(stage))
    assert report.content == curator.evaluate(learned).content
    assert "logistic" in stages
    kinds = [
        line.content["evaluation"] for line in there.lines() if line.state == "outside"
    ]
    assert kinds == ["proposed roles", "learning"]


def test_an_anonymized_table_is_what_it_would_be_here() -> None:
    """Rows or the plan would change on the way; a page would wait for a search without
    a word.
    """
    curator = opened()
    elsewhere = opened(compute=process.compute)
    told = {}
    hierarchies = curator.evaluate(HierarchiesQuestion(columns=("age", "sex"))).content
    roles = {
        "age": "quasi-identifier",
        "sex": "quasi-identifier",
        "city": "insensitive",
    }
    for method in ("full-domain", "mondrian"):
        plan = default_plan(roles, hierarchies, k=5)
        plan = (
            plan
            if method == "full-domain"
            else type(plan)(**{**vars(plan), "method": Mondrian(), "limit": 0.0})
        )
        expected = curator.anonymize(plan)
        there = elsewhere.anonymize(plan, lambda *each: told.setdefault(method, each))  # noqa: B023
        pd.testing.assert_frame_equal(expected.table.frame, there.table.frame)
        assert expected.plan == there.plan
    assert [*told] == ["full-domain"]
    assert told["full-domain"][0] == "searching"


def test_a_plan_is_decided_as_it_would_be_here() -> None:
    """Another class would be suppressed; workers would be sent the callback of a page,
    or who holds what.
    """
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {"age": rng.integers(20, 24, 900), "id": rng.integers(0, 200, 900)}
    )
    schema = Schema(
        columns=suggest_schema(frame[["age"]]).columns, unit=PrivacyUnit(max_rows=1)
    )
    engine = FrameEngine(frame, schema, key=b"k" * 32)
    roles = {"age": "quasi-identifier", "id": "identifier"}
    trees = HierarchiesQuestion(columns=("age",)).compute(Microdata(frame), schema)
    plan = default_plan(roles, trees, k=150).with_person_column("id")
    tuples = engine.tuples(["age"], by="id")
    expected, there = (
        compute(RowRecoder.from_tuples, tuples, plan)
        for compute in (compute_here, process.compute)
    )
    assert there.plan.to_json() == expected.plan.to_json()
    assert (there.row_count, there.plan.method) == (expected.row_count, plan.method)
    sent = pickle.dumps(there)
    assert len(sent) < 10_000
    pd.testing.assert_frame_equal(pickle.loads(sent)(frame), expected(frame))


def test_large_arrays_and_errors_come_through() -> None:
    """A table would come back as something else; a refusal would lose its kind, or a
    stage its share.
    """
    numbers = np.arange(300_000)
    told = []
    frame = pd.DataFrame(
        {"a": numbers, "b": pd.Series(["x", None] * 150_000, dtype="str")}
    )
    back = process.run(give_back, frame, on_progress=lambda *each: told.append(each))
    pd.testing.assert_frame_equal(back, frame)
    back.iloc[0, 0] = 5  # it may be written to
    assert told == [("half", 0.5)]
    with pytest.raises(ParameterError, match="must be less; take 3") as caught:
        process.run(refuse)
    assert caught.value.details == {"k": 4}


def give_back(frame: pd.DataFrame, on_progress: OnProgress) -> pd.DataFrame:
    on_progress("half", 0.5)
    return frame


def refuse() -> None:
    raise ParameterError("k ({k}) must be less", remedy="take 3", k=4)


def test_what_nobody_wants_any_more_ends() -> None:
    """A page that was left would go on computing for nobody."""
    process_id: list[int] = []
    with pytest.raises(StoppedError), cancelled_by(lambda: bool(process_id)):
        process.run(
            sleep, on_progress=lambda stage, share: process_id.append(int(stage))
        )
    looks = 3_000
    while looks and is_alive(process_id[0]):  # it would sleep for an hour
        looks -= 1
        time.sleep(0.01)
    assert looks


def is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def sleep(on_progress: OnProgress) -> None:
    on_progress(str(os.getpid()), 0)
    time.sleep(3_600)


def test_messages_are_no_files() -> None:
    """Rows would lie on a disk on their way."""
    ours, theirs = socket.socketpair()
    with Connection(ours.detach()) as one, Connection(theirs.detach()) as other:
        sent = {"a": np.arange(10.0)}
        Channel(one).send(sent)
        assert (Channel(other).receive()["a"] == sent["a"]).all()


def test_distinct_tuples_of_a_large_table_come_through() -> None:
    """An audit of a table that does not fit would count every tuple as one row."""
    frame = pd.DataFrame({"age": [30, 40]})
    tuples = replace(
        CodedRows.from_frames(["age"], lambda _: frame, None), counts=np.array([1, 9])
    )
    report = process.compute(
        AuditQuestion(quasi_identifiers=("age",)).compute, tuples, opened().schema
    )
    assert report.risk.uniques == pytest.approx(0.1)
    with pytest.raises(DisclosureError):
        pickle.dumps(tuples)
