"""What the Anonymize page keeps and says: roles, hierarchies with undo, methods,
frontier, warnings.
"""

from __future__ import annotations

import json
import math
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.anonymization.closeness import TCloseness
from dpcore.anonymization.coding import Coding
from dpcore.anonymization.fulldomain.size import Prediction
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.hierarchies.suggest import suggest_hierarchy
from dpcore.anonymization.models import DistinctL, EntropyL
from dpcore.anonymization.plan import Plan
from dpcore.errors import DpcoreError, HierarchyError, SchemaError
from dpcore.evaluation.table.residual_risk import ResidualRiskReport
from dpcore.schema.values import MISSING, SUPPRESSED
from workbench import session
from workbench.anonymize import (
    context,
    demands_form,
    document,
    outcomes,
    plans,
    state,
    view,
)
from workbench.anonymize.plans import SUGGESTED_METHOD, Demands
from workbench.anonymize.secret_form import SecretForm
from workbench.anonymize.state import AnonymizeState
from workbench.language.wording import number, percent
from workbench.report.charts import Chart
from workbench.server.workers import process, reading
from workbench.server.workers.callbacks import StoppedError

SECRET = "Xanthippe Quisling"


@pytest.fixture(autouse=True)
def held(monkeypatch: pytest.MonkeyPatch) -> session.Session:
    """A session outside of any browser."""
    tab = session.Session()
    monkeypatch.setattr(session, "session", lambda: tab)
    return tab


def people(rows: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(9)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 80, rows),
            "zip": rng.choice(["33617", "33620", "23620", "23622"], rows),
            "disease": rng.choice(["flu", "cold", "cancer"], rows),
            "visit": np.arange(rows) % 7,
        },
    )


def opened(frame: pd.DataFrame | None = None, person: str | None = None) -> dp.Curator:
    frame = people() if frame is None else frame
    schema = dp.suggest_schema(frame)
    unit = dp.PrivacyUnit(max_rows=2, id_column=person)
    columns = tuple(column for column in schema.columns if column.name != person)
    return dp.Curator.open(
        frame,
        dp.Schema(columns=columns, unit=unit),
        budget=dp.PureDP(epsilon="1"),
        ledger=dp.MemoryLedger(),
        compute=lambda *given, **named: process.compute(*given, **named),
    )


def started(
    frame: pd.DataFrame | None = None,
    person: str | None = None,
) -> tuple[dp.Curator, AnonymizeState]:
    curator = opened(frame, person)
    return curator, state.anonymize_state(curator)


def plan(curator: dp.Curator, current: AnonymizeState, **asked: object) -> Plan:
    given = {"k": 5, "limit": 0.02, **asked}
    method = given.pop("method", "full-domain")
    return plans.plan_of(curator, current, Demands(**given), method=method)


def test_a_first_plan_needs_no_choice() -> None:
    """A newcomer would have to assign roles before anything happens."""
    curator, current = started()
    assert current.roles == {
        "age": "quasi-identifier",
        "zip": "quasi-identifier",
        "disease": "sensitive",
        "visit": "insensitive",
    }
    assert set(current.hierarchies) == {"age", "zip"}
    first = plan(curator, current, method=SUGGESTED_METHOD)
    assert first.method.kind == "full-domain"
    outcomes.make_table(curator, current, first)
    assert len(session.session().own(session.AnonymizeResult).table.table.frame) == 400


def test_choices_last_and_a_changed_role_brings_its_hierarchy() -> None:
    """Roles would fall back to the proposal with every click, or a column without
    hierarchy would fail.
    """
    curator, current = started()
    session.session().own(session.AnonymizeResult).table = object()
    version = current.version
    assert current.set_roles({**current.roles, "visit": "quasi-identifier"})
    assert current.version > version
    assert session.session().own(session.AnonymizeResult).table is None
    again = state.anonymize_state(curator)
    assert again is current
    assert "visit" in current.hierarchies
    grid = state.roles_grid(curator, current)
    assert dict(zip(grid["column"], grid["role"], strict=True)) == current.roles
    assert not current.set_roles(dict(current.roles))
    assert not current.set_roles({**current.roles, "age": "king"})


def test_the_columns_of_the_audit_are_taken_over() -> None:
    """ "Make it safer" would protect other columns than those that were audited."""
    curator, current = started()
    state.anonymize_state(curator).set_column_roles(["age", "disease"], ["visit"])
    assert current.roles == {
        "age": "quasi-identifier",
        "zip": "insensitive",
        "disease": "quasi-identifier",
        "visit": "sensitive",
    }


def test_what_was_asked_about_another_data_set_stays_there(
    held: session.Session,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever chose another table while the first was looked at would read its roles as
    this one's.
    """
    first = opened()
    second = opened(people().drop(columns="visit"))
    held.current_dataset = first.account.dataset
    compute = process.compute

    def compute_while_somebody_chooses(*given: Any, **named: Any) -> Any:
        answer = compute(*given, **named)
        monkeypatch.setattr(process, "compute", compute)
        held.choose(second.account.dataset)
        return answer

    monkeypatch.setattr(process, "compute", compute_while_somebody_chooses)
    assert "visit" in state.anonymize_state(first).roles
    assert held.reports.keys() <= {("hierarchies", ("age", "zip"))}
    assert state.anonymize_state(second).roles.keys() == {"age", "zip", "disease"}


def test_no_quasi_identifier_is_said() -> None:
    """The page would end in a traceback when all roles are taken away."""
    curator, current = started()
    state.anonymize_state(curator).set_column_roles([], [])
    with pytest.raises(SchemaError, match="no quasi-identifier"):
        plan(curator, current)


def test_an_edited_hierarchy_is_used_and_can_be_undone() -> None:
    """An edit would change nothing, or could not be taken back."""
    curator, current = started()
    first = current.hierarchies["zip"]
    grid = state.hierarchy_grid(first)
    grid.iloc[:, 1] = ["east", "east", "west", "west"]
    edited = state.hierarchy_from_grid(grid)
    current.replace_hierarchy("zip", edited)
    assert plan(curator, current).hierarchies["zip"].labels(1) == ("east", "west")
    current.replace_hierarchy("zip", first)
    current.undo("zip")
    assert current.hierarchies["zip"] == edited
    current.undo("zip")
    current.undo("zip")
    assert current.hierarchies["zip"] == first


def test_levels_that_do_not_nest_are_refused() -> None:
    """A typo in the grid would publish classes below k."""
    _curator, current = started()
    grid = state.hierarchy_grid(current.hierarchies["age"])
    grid.iloc[0, 2] = "elsewhere"
    with pytest.raises(HierarchyError, match="level 2 does not nest"):
        state.hierarchy_from_grid(grid)


def test_a_file_needs_the_values_of_the_table_and_nothing_more() -> None:
    """A file of ARX would be refused for a missing cell, or after another file with
    more values.
    """
    frame = people()
    frame.loc[0, "zip"] = None
    _curator, current = started(frame)
    zips = {"33617", "33620", "23620", "23622"}
    assert current.table_values("zip") == zips
    assert not {MISSING, SUPPRESSED} & zips
    larger = Hierarchy.from_csv(
        "".join(
            f"{zip_code};{zip_code[:2]};*\n" for zip_code in [*sorted(zips), "99999"]
        ),
    )
    taken = current.mark_imported("zip", larger)
    assert taken.values == larger.values
    current.replace_hierarchy("zip", taken)
    assert current.table_values("zip") == zips


@pytest.mark.parametrize(
    ("predicted", "columns", "method"),
    [
        (
            Prediction(nodes=100, seconds=1.0, reference_seconds=0.1, memory_bytes=1),
            3,
            "full-domain",
        ),
        (
            Prediction(
                nodes=100_000, seconds=1.0, reference_seconds=9.0, memory_bytes=1
            ),
            10,
            "full-domain",
        ),
        (
            Prediction(
                nodes=500_000, seconds=1.0, reference_seconds=80.0, memory_bytes=1
            ),
            12,
            "local recoding",
        ),
        (
            Prediction(
                nodes=500_000, seconds=1.0, reference_seconds=80.0, memory_bytes=1
            ),
            13,
            "mondrian",
        ),
        (
            Prediction(
                nodes=9, seconds=1.0, reference_seconds=math.inf, memory_bytes=1
            ),
            3,
            "local recoding",
        ),
        (
            Prediction(
                nodes=70_000_000, seconds=1.0, reference_seconds=7_000.0, memory_bytes=1
            ),
            15,
            "mondrian",
        ),
    ],
)
def test_what_is_too_large_to_search_falls_back(
    predicted: Prediction, columns: int, method: str
) -> None:
    """Fifteen quasi-identifiers would make the page hang, as in other tools."""
    assert plans.suggested_method(predicted, columns).kind == method


def wide(columns: int) -> pd.DataFrame:
    """Thirty kinds of people, a hundred of each."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            f"age {i:02}": np.repeat(rng.integers(0, 100, 30), 100)
            for i in range(columns)
        }
    )


@pytest.mark.parametrize(
    ("columns", "method", "said"),
    [
        (11, "local recoding", "Local recoding is suggested"),
        (15, "mondrian", "Mondrian is suggested"),
    ],
)
def test_many_columns_are_anonymized_by_what_is_said(
    columns: int, method: str, said: str
) -> None:
    """The page would fall back without a word, or say one method and take another."""
    frame = wide(columns)
    curator, current = started(frame)
    current.hierarchies = {name: suggest_hierarchy(frame[name]) for name in frame}
    asked = plan(curator, current, method=SUGGESTED_METHOD)
    assert asked.method.kind == method
    words = plans.method_words(curator, current, asked)
    assert f"there are too many combinations of levels ({5**columns:,})" in words
    assert said in words
    drawn, points = outcomes.compute_frontier(curator, current, asked)
    assert drawn.kind == "mondrian"
    assert [point.k for point in points] == list(plans.FRONTIER_KS)
    lines, reasons = outcomes.compare_methods(curator, current, asked)
    assert "Mondrian" in lines["method"].tolist()
    assert "full\\-domain" in reasons[0]


def test_the_frontier_at_every_limit_or_at_the_chosen_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A frontier that takes long would be computed unasked."""
    curator, current = started()
    asked = plan(curator, current)
    method, points = outcomes.compute_frontier(curator, current, asked)
    assert method.kind == "full-domain"
    assert {point.limit for point in points} == set(plans.FRONTIER_LIMITS)
    monkeypatch.setattr(outcomes, "MAX_SECONDS_UNASKED", 0.0)
    method, points = outcomes.compute_frontier(curator, current, asked)
    assert {(method.kind, point.limit) for point in points} == {("full-domain", 0.02)}
    current.wants_frontier = True
    _method, points = outcomes.compute_frontier(curator, current, asked)
    assert len({point.limit for point in points}) == 4


def test_the_frontier_is_of_the_coded_numbers() -> None:
    """A k would be offered that no table reaches, as the chart knew a secret before it
    was rounded.
    """
    curator, current = started()
    asked = plan(curator, current)
    roles = {**asked.roles, "visit": "sensitive"}
    asked = replace(
        asked, roles=roles, models=(*asked.models, DistinctL(column="visit", l=3))
    )
    _method, points = outcomes.compute_frontier(curator, current, asked)
    assert points
    _method, points = outcomes.compute_frontier(
        curator, current, replace(asked, coded={"visit": Coding(base=100)})
    )
    assert not points


def ring_of(chart: Chart) -> dict[str, float] | None:
    """Where the ring of a frontier is."""
    spec = chart.spec.to_dict()
    ring = [layer for layer in spec["layer"] if layer["mark"].get("strokeWidth") == 3]
    return spec["datasets"][ring[0]["data"]["name"]][0] if ring else None


def test_the_chosen_point_is_marked_and_told() -> None:
    """A person would click a point and see nothing change."""
    curator, current = started()
    asked = plan(curator, current)
    method, points = outcomes.compute_frontier(curator, current, asked)
    report = outcomes.try_plan(curator, current, asked)
    loss, said = outcomes.present_choice(curator, current, asked, method, points, 5)
    assert ring_of(outcomes.frontier_chart(points, asked, 5, loss)) == {
        "k": 5,
        "loss": pytest.approx(report.quality.loss),
    }
    assert f"information loss {number(report.quality.loss)}," in said
    assert f"{round(report.quality.suppressed_row_share * 400)} rows suppressed" in said
    nowhere = outcomes.present_choice(
        curator, current, replace(asked, limit=0.3), method, points, 5
    )
    assert nowhere == (None, "")
    assert ring_of(outcomes.frontier_chart(points, asked, 5, None)) is None


@pytest.mark.parametrize("method", ["local recoding", "mondrian"])
def test_a_frontier_of_another_method_says_so_and_shows_the_choice(method: str) -> None:
    """The cost of Mondrian stood beside a choice of local recoding, and no point had a
    ring.
    """
    frame = wide(11)
    curator, current = started(frame)
    current.hierarchies = {name: suggest_hierarchy(frame[name]) for name in frame}
    asked = plan(curator, current, method=method)
    drawn, points = outcomes.compute_frontier(curator, current, asked)
    assert drawn.kind == "mondrian"
    loss, said = outcomes.present_choice(curator, current, asked, drawn, points, 5)
    assert loss == outcomes.try_plan(curator, current, asked).quality.loss
    assert number(loss) in said
    assert ring_of(outcomes.frontier_chart(points, asked, 5, loss)) == {
        "k": 5,
        "loss": loss,
    }


def test_the_report_to_sign_has_the_figures_of_the_page() -> None:
    """1.94 and 1.93 groups a person, and 20,000 and 19,815 times, stood in one
    report.
    """
    frame = people().assign(person=np.arange(400) // 2)
    frame.loc[:19, "age"] = 97
    curator, current = started(frame, "person")
    current.set_roles({**current.roles, "person": "identifier"})
    asked = plan(curator, current, limit=0.3, suppressed="kept")
    outcomes.make_table(curator, current, asked)
    assert session.session().own(session.AnonymizeResult).table is not None
    found = outcomes.residual_risk(
        curator, session.session().own(session.AnonymizeResult).table
    )
    trial = outcomes.try_plan(curator, current, asked)
    assert found.hidden_people > 0
    assert found.published_side.groups_per_person == trial.after.groups_per_person
    assert found.published_side.secret_risks == trial.after.secret_risks
    warnings = outcomes.warnings(curator, current, found.plan, found.published_side)
    assert warnings == outcomes.warnings(curator, current, trial.plan, trial.after)
    page = document.to_html(curator, found, warnings)
    assert (
        page.count(
            f"in {number(found.published_side.groups_per_person)} groups on average"
        )
        == 3
    )


def test_methods_stand_side_by_side_with_reasons() -> None:
    """A method that cannot do it would be left out without a word, or break the
    others.
    """
    curator, current = started()
    lines, reasons = outcomes.compare_methods(curator, current, plan(curator, current))
    assert lines["method"].tolist() == [
        "full-domain",
        "local recoding",
        "suppression of cells",
        "Mondrian",
    ]
    assert "" not in lines.to_numpy()
    assert "column 'zip' does not hold numbers only" in reasons[0].replace("\\", "")
    state.anonymize_state(curator).set_column_roles(["age"], [])
    lines, reasons = outcomes.compare_methods(curator, current, plan(curator, current))
    assert len(lines) == 5
    assert reasons == []


def test_the_made_table_carries_the_plan_that_was_tried() -> None:
    """The plan would not say which levels were taken."""
    curator, current = started()
    asked = plan(curator, current)
    outcomes.make_table(curator, current, asked)
    made = Plan.from_json(session.session().own(session.AnonymizeResult).table.plan)
    assert made == outcomes.try_plan(curator, current, asked).plan
    assert set(
        json.loads(session.session().own(session.AnonymizeResult).table.plan)["node"]
    ) == {"age", "zip"}
    again = curator.anonymize(made)
    pd.testing.assert_frame_equal(
        again.table.frame,
        session.session().own(session.AnonymizeResult).table.table.frame,
    )


def test_what_cannot_be_made_is_kept_as_a_notice(held: session.Session) -> None:
    """A click would do nothing, or end in a traceback."""
    curator, current = started()
    outcomes.make_table(
        curator, current, plan(curator, current, method="microaggregation")
    )
    assert session.session().own(session.AnonymizeResult).table is None
    assert isinstance(held.notices["anonymize"], DpcoreError)


@pytest.mark.parametrize(
    ("kind", "value", "model"),
    [
        ("distinct", 2, DistinctL(column="disease", l=2)),
        ("entropy", 2, EntropyL(column="disease", l=2.0)),
        ("t", 0.3, TCloseness(column="disease", t=0.3)),
        ("t-ordered", 0.3, TCloseness(column="disease", t=0.3, distance="ordered")),
        (
            "t-hierarchical",
            0.3,
            TCloseness(column="disease", t=0.3, distance="hierarchical"),
        ),
    ],
)
def test_models_on_a_secret(kind: str, value: float, model: object) -> None:
    """The table would not meet what a person asked for."""
    place = MagicMock()
    place.slider.return_value = value
    assert SecretForm.of_kind(kind).choose(place, "")("disease") == model
    curator, current = started()
    report = outcomes.try_plan(
        curator, current, plan(curator, current, models=(model,))
    )
    secret = report.after.secret_risks["disease"]
    assert ("disease" in current.hierarchy_columns) == (kind == "t-hierarchical")
    assert kind != "distinct" or secret.distinct_l >= 2
    assert kind != "entropy" or secret.entropy_l >= 2 - 1e-9
    assert kind != "t" or secret.t_equal <= 0.3 + 1e-9


def test_warnings_have_numbers_of_this_very_table() -> None:
    """People would believe that k-anonymity protects what it does not."""
    frame = people().assign(person=np.arange(400) // 2)
    frame.loc[frame["zip"] == "23620", "disease"] = "cancer"
    curator, current = started(frame, "person")
    current.set_roles({**current.roles, "person": "identifier"})
    asked = plan(curator, current)
    report = outcomes.try_plan(curator, current, asked)
    secret = report.after.secret_risks["disease"]
    said = "\n".join(outcomes.warnings(curator, current, report.plan, report.after))
    assert f"In {secret.homogeneous_classes} groups with" in said
    assert "everybody has the same value of disease, so k does not protect it" in said
    assert "k counts people, and the rows of one person are in" in said
    assert "are still unique" in said
    assert "no guarantee against a determined attacker" in said
    assert "Other versions of this table" not in said
    assert "Local methods" not in said
    local = outcomes.try_plan(curator, current, replace(asked, method="mondrian"))
    assert "easier to attack" in "\n".join(
        outcomes.warnings(curator, current, local.plan, local.after)
    )


def test_a_table_with_cells_changed_at_random_says_what_two_of_them_tell() -> None:
    """Who hands out the table again, with some rows more, would not know that cells on
    which both agree are true.
    """
    frame = people().assign(shoe=np.arange(400) // 3 % 7 + 36)
    curator, current = started(frame)
    current.set_roles({**current.roles, "shoe": "insensitive"})
    asked = plan(curator, current)
    for shares in ({"shoe": 0.1}, {}):
        table = curator.anonymize(replace(asked, randomized=shares))
        report = outcomes.residual_risk(curator, table)
        said = outcomes.warnings(curator, current, report.plan, report.published_side)
        signed = document.to_html(curator, report, said)
        for text in ("\n".join(said), signed):
            assert ("shoe: cells were changed at random" in text) == bool(shares)
            assert ("Hand out only one of them" in text) == bool(shares)


def test_a_second_version_is_warned_of() -> None:
    """Two versions of one table could be laid over each other, and nobody would be
    told.
    """
    curator, current = started()
    asked = plan(curator, current)
    for _twice in range(2):
        outcomes.make_table(curator, current, asked)
        report = outcomes.try_plan(curator, current, asked)
        assert "Other versions of this table" not in "\n".join(
            outcomes.warnings(curator, current, report.plan, report.after),
        )
    other = outcomes.try_plan(curator, current, plan(curator, current, k=10))
    assert "Other versions of this table were made before (1 in all)" in "\n".join(
        outcomes.warnings(curator, current, other.plan, other.after),
    )


def test_charts_and_tables_of_a_trial() -> None:
    """Before and after would not be of the same rows, or a chart would hold a row."""
    frame = people()
    frame.loc[3, "zip"] = SECRET
    curator, current = started(frame)
    report = outcomes.try_plan(curator, current, plan(curator, current))
    drawn = outcomes.sizes_chart(report)
    assert drawn.table.groupby("of")["share of rows"].sum().tolist() == pytest.approx(
        [1, 1]
    )
    assert SECRET not in str(drawn.spec.to_dict())
    columns = outcomes.columns_table(report)
    assert columns["column"].tolist() == ["age", "zip"]
    height = report.plan.hierarchies["age"].height
    assert columns["level"][0] == f"{report.plan.node['age']} / {height}"
    local = outcomes.try_plan(
        curator, current, plan(curator, current, method="mondrian")
    )
    assert "level" not in outcomes.columns_table(local)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_a_hierarchy_file_is_read_as_a_table_is(encoding: str) -> None:
    """A file saved by a spreadsheet in China was refused, a table was not."""
    text = "北京;华北;*\n天津;华北;*\n上海;华东;*\n"
    assert reading.read_hierarchy(text.encode(encoding)).levels[1] == (
        "华北",
        "华北",
        "华东",
    )


def test_bytes_that_are_no_text_are_refused() -> None:
    """A traceback would be shown, or a hierarchy of noise."""
    with pytest.raises(DpcoreError):
        reading.read_hierarchy(b"PK\x03\x04" + bytes(range(256)) * 4)


class Bar:
    """A bar that remembers what it was told, and its Stop button."""

    def __init__(self) -> None:
        self.told: list[tuple[str, float]] = []
        self.keys: list[str] = []
        self.gone = 0
        self.on_stop = None

    def stoppable(self, _place, *, key: str, on_stop) -> Bar:
        self.keys.append(key)
        self.on_stop = on_stop
        return self

    def progress(self, share: float, *, text: str) -> None:
        self.told.append((text.removeprefix("Searching: ").rpartition(",")[0], share))

    def done(self) -> None:
        self.gone += 1


@pytest.fixture
def bar(monkeypatch: pytest.MonkeyPatch) -> Bar:
    """A bar in place of the page's; each look at the clock is two seconds later."""
    made = Bar()
    seconds = iter(range(0, 10**9, 2))
    place = SimpleNamespace(empty=made.done)
    monkeypatch.setattr(
        outcomes.progress_view, "st", SimpleNamespace(empty=lambda: place)
    )
    monkeypatch.setattr(outcomes.progress_view, "show_stop_button", made.stoppable)
    # they clear places of their own
    for name in ("wait_in_line", "show_rows_read"):
        block = lambda *_given, **_named: nullcontext()  # noqa: E731
        monkeypatch.setattr(outcomes.progress_view, name, block)
    monkeypatch.setattr(outcomes.time, "monotonic", lambda: next(seconds))
    return made


def test_a_long_search_tells_how_far_it_is(bar: Bar) -> None:
    """A search of half a minute showed nothing, or its bar stayed when it was over."""
    curator, current = started()
    outcomes.try_plan(curator, current, plan(curator, current))
    assert bar.told
    assert {stage for stage, _share in bar.told} <= {"searching"}
    assert all(0 <= share <= 1 for _stage, share in bar.told)
    assert (len(bar.keys), bar.gone) == (1, 1)
    current.wants_frontier = True
    outcomes.compute_frontier(curator, current, plan(curator, current))
    assert bar.told[-1][0].partition(",")[0] == "searching"
    assert len(set(bar.keys)) == bar.gone == 2, (
        "two Stop buttons of one key break the page"
    )


def test_stop_ends_a_search_and_it_is_not_begun_again(bar: Bar) -> None:
    """After a click on Stop the next rerun would start the same search again."""
    curator, current = started()
    wanted = plan(curator, current)

    class StopError(Exception):
        """What Streamlit raises when a click ends a run."""

    def clicked(*_told: object) -> None:
        bar.on_stop()
        raise StopError

    bar.told = type("Told", (list,), {"append": clicked})()
    with pytest.raises(StopError):
        outcomes.try_plan(curator, current, wanted)
    assert bar.gone == 1
    bar.told = []
    with pytest.raises(StoppedError, match="stopped"):
        outcomes.try_plan(curator, current, wanted)
    assert bar.told == []
    assert not outcomes.has_failed(current, wanted), (
        "a stopped search is no plan that cannot be met"
    )
    outcomes.try_plan(curator, current, plan(curator, current, k=6))


def test_a_click_on_the_frontier_carries_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The limit was read back from the words of the legend: 2.5 % ended in a
    traceback.
    """
    curator, current = started()
    asked = plan(curator, current)
    _method, points = outcomes.compute_frontier(curator, current, asked)
    points = tuple(
        replace(point, limit=0.025) for point in points if point.limit == 0.02
    )
    drawn = outcomes.frontier_chart(points, asked, 5, 0.025)
    (chosen,) = [
        each for each in drawn.spec.to_dict()["params"] if each["name"] == "chosen"
    ]
    assert chosen["select"]["fields"] == ["k", "share"]
    assert "share" not in drawn.table.columns
    put: list[object] = []
    for widget in (
        demands_form.K_FIELD,
        demands_form.LIMIT_FIELD,
        demands_form.METHOD_FIELD,
    ):
        monkeypatch.setattr(type(widget), "put", lambda _self, value: put.append(value))

    class Clicked:
        def clicked_marks(self) -> list[dict[str, object]]:
            return [{"k": 10, "share": 0.025}]

    view._choose_point(Clicked(), "full-domain")
    assert put == [10, 0.025, "full-domain"]


def test_a_loaded_plan_on_the_next_delivery() -> None:
    """A plan would work on the very table that made it and on no other, or make a table
    of other levels.
    """
    curator, current = started()
    first = plan(curator, current, household="visit")
    outcomes.make_table(curator, current, first)
    text = session.session().own(session.AnonymizeResult).table.plan
    following = people().sample(frac=0.9, random_state=1)
    session.session().slots.clear()
    session.session().reports.clear()
    curator = opened(following)
    current = state.anonymize_state(curator)
    current.load_plan(Plan.from_json(text))
    assert current.loaded_plan.household == "visit"
    outcomes.make_table(curator, current, current.loaded_plan)
    assert (
        Plan.from_json(session.session().own(session.AnonymizeResult).table.plan).node
        == Plan.from_json(text).node
    )
    assert len(session.session().own(session.AnonymizeResult).table.table.frame) <= len(
        following
    )


def test_a_loaded_plan_and_a_value_that_is_new() -> None:
    """A new category of the next delivery would be a traceback, or be published as it
    is.
    """
    curator, current = started()
    outcomes.make_table(curator, current, plan(curator, current))
    text = session.session().own(session.AnonymizeResult).table.plan
    following = people()
    following.loc[0, "zip"] = "99999"
    session.session().slots.clear()
    session.session().reports.clear()
    curator = opened(following)
    current = state.anonymize_state(curator)
    current.load_plan(Plan.from_json(text))
    with pytest.raises(HierarchyError, match="zip") as refused:
        outcomes.try_plan(curator, current, current.loaded_plan)
    assert "99999" not in str(refused.value), "a cell of the table in an error"
    outcomes.make_table(curator, current, current.loaded_plan)
    assert session.session().own(session.AnonymizeResult).table is None
    assert current.find_new_values(curator, current.loaded_plan) == {"zip": ["99999"]}
    current.use_plan(current.add_suggested_hierarchies(current.loaded_plan, ["zip"]))
    outcomes.make_table(curator, current, current.loaded_plan)
    assert session.session().own(session.AnonymizeResult).table is not None
    assert current.find_new_values(curator, current.loaded_plan) == {}
    current.use_plan(None)
    assert current.loaded_plan is None


def test_the_report_to_sign_says_what_was_found() -> None:
    """A data protection officer would sign figures of another table, or a page without
    a place for a name.
    """
    curator, current = started()
    outcomes.make_table(
        curator,
        current,
        plan(curator, current, models=(DistinctL(column="disease", l=2),)),
    )
    found = outcomes.residual_risk(
        curator, session.session().own(session.AnonymizeResult).table
    )
    html = document.to_html(curator, found, ["**A warning**"])
    table = session.session().own(session.AnonymizeResult).table.table.frame
    fewest = table.groupby(["age", "zip"]).size().min()
    assert f"The smallest group has {fewest} rows" in html
    for heading in (
        "Singling out",
        "Linkability",
        "Inference",
        "What this does not promise",
        "signature",
    ):
        assert heading in html
    assert "distinct 2-diversity of disease" in html
    assert "Internal" in html
    assert SECRET not in html
    assert dp.__version__ in html
    noted = [
        line.content["anonymized"]
        for line in curator.lines()
        if "anonymized" in line.content
    ]
    assert noted[0][:16] in html
    said, reasons = recommended(found, 1)
    assert said.startswith("Only for named recipients")
    assert any(
        "have a row that is unique in all columns" in reason for reason in reasons
    )
    assert "versions of this table" in " ".join(recommended(found, 2)[1])
    assert document.risk_levels_table(found).iloc[:, 1].tolist()[0] == percent(0)


def recommended(found: ResidualRiskReport, versions: int) -> tuple[str, list[str]]:
    """The recommendation on a table with these figures."""
    return document.recommendation(
        found.plan, found.published_side, found.highest_risk, found.linkable, versions
    )


def test_recommendations_follow_the_figures() -> None:
    """A table whose groups give everything away would be recommended, or one without a
    weakness refused.
    """
    frame = people().assign(
        disease=lambda rows: rows["zip"].map(
            lambda code: "flu" if code[0] == "3" else "cold"
        ),
    )
    curator, current = started(frame)
    found = outcomes.residual_risk(
        curator, made_of(curator, current, plan(curator, current))
    )
    assert recommended(found, 1)[0].startswith("Not recommended")
    plain = people(400).assign(age=30, visit=1)
    session.session().slots.clear()
    session.session().reports.clear()
    curator, current = started(plain[["age", "zip", "disease"]])
    found = outcomes.residual_risk(
        curator, made_of(curator, current, plan(curator, current, k=20))
    )
    said, reasons = recommended(found, 1)
    assert said.startswith("Suitable for a wider circle of recipients"), reasons
    assert "at least" in reasons[0]


def made_of(curator: dp.Curator, current: AnonymizeState, wanted: Plan):
    outcomes.make_table(curator, current, wanted)
    return session.session().own(session.AnonymizeResult).table


def test_the_report_prints_the_context_that_was_stated_and_no_other() -> None:
    """An auditor would file figures without saying for whom the table is anonymous, or
    read a word that nobody wrote.
    """
    curator, current = started(people())
    outcomes.make_table(curator, current, plan(curator, current, limit=0.3))
    made = session.session().own(session.AnonymizeResult).table
    assert made is not None
    found = outcomes.residual_risk(curator, made)
    stated = {
        "recipient": "The university, in a locked room",
        "result": "x" * (context.MAX_CHARACTERS + 1),
        "threshold": "  ",
    }
    html = document.to_html(curator, found, [], stated)
    assert "The university, in a locked room" in html
    assert "(cut after 2,000 characters)" in html
    assert "x" * context.MAX_CHARACTERS + " …" in html
    assert html.count("not stated") == len(context.CONTEXT_FIELDS) - 2
    places = [html.index(title) for title in context.CONTEXT_FIELDS.values()]
    assert places == sorted(places), "in the order of the standard"
    # from the ledger
    assert "1 anonymized table, this one included" in html
    assert "0 exact tables" in html
    curator.run(dp.Histogram("disease"), dp.PureDP(epsilon="1/10"))
    again = document.to_html(curator, found, [])
    assert "1 differentially private result;" in again
    assert again.count("not stated") == len(context.CONTEXT_FIELDS)
