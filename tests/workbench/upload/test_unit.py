"""Who is protected, on its way through codebook, form and source: never another unit
than was declared.
"""

from __future__ import annotations

import json
from functools import partial

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

import dpcore as dp
from dpcore.schema.source import Source
from dpcore.schema.unit import MAX_ROWS_PER_PERSON
from tests.pages.tab import PATIENCE
from workbench.session.draft import Draft, FileDraft, SourceDraft
from workbench.upload import opening, unit_view
from workbench.upload.grid import from_grid, to_grid

FRAME = pd.DataFrame(
    {"who": ["a", "a", "b"], "age": [1, 2, 3], "other": ["x", "y", "z"]}
)
SOURCE = Source(name="visits", kind="parquet", location="visits.parquet")
ROWS = st.integers(1, 9) | st.integers(1, MAX_ROWS_PER_PERSON)
NAMES = st.sampled_from(list(FRAME.columns))
UNITS = (
    st.builds(dp.PrivacyUnit, max_rows=ROWS)
    | st.builds(dp.PrivacyUnit, max_rows=ROWS, id_column=NAMES, from_data=st.booleans())
    | st.builds(
        dp.PrivacyUnit,
        max_rows=ROWS,
        id_column=NAMES,
        found=st.sampled_from(unit_view.SEARCH_EPSILONS),
    )
)


def schema_of(unit: dp.PrivacyUnit) -> dp.Schema:
    return dp.Schema(columns=(dp.Integer("age", low=0, high=9),), unit=unit)


def draft_of(
    unit: dp.PrivacyUnit, declared: dp.PrivacyUnit | None = None, *, capped: bool = True
) -> Draft:
    grid = to_grid(schema_of(unit), list(FRAME.columns))
    make = (
        FileDraft
        if declared is None
        else partial(SourceDraft, source=SOURCE, declared=declared)
    )
    return make(
        name="t",
        frame=FRAME,
        schema=schema_of(unit),
        grid=grid,
        edited_grid=grid,
        dataset="d",
        cap=opening.declared_cap(unit) if capped else None,
    )


def script(draft, asked):  # runs apart from this module
    from workbench.upload import unit_view

    asked[:] = [unit_view.ask_unit(draft)]


def walk(draft: Draft) -> tuple[AppTest, list[dp.PrivacyUnit | None]]:
    asked: list[dp.PrivacyUnit | None] = []
    at = AppTest.from_function(
        script, kwargs={"draft": draft, "asked": asked}, default_timeout=PATIENCE
    ).run()
    assert not at.exception
    return at, asked


@pytest.fixture(autouse=True)
def no_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run would look for components in all installed packages, a quarter of a
    second each time.
    """
    monkeypatch.setattr(manifest_scanner, "scan_component_manifests", list)


@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(UNITS)
def test_a_unit_goes_through_codebook_form_and_source_unchanged(
    unit: dp.PrivacyUnit,
) -> None:
    """At most 3 rows without a column would be charged as one row, by the page or by a
    codebook.
    """
    read = dp.Schema.from_json(schema_of(unit).to_json())
    assert read.unit == unit
    for declared in (None, read.unit):
        draft = draft_of(read.unit, declared)
        _, asked = walk(draft)
        assert asked == [unit]
        if unit.id_column != "age":
            schema, problems = from_grid(draft.edited_grid, draft.schema, asked[0])
            assert not problems
            assert schema is not None
            assert schema.unit == unit


def test_three_ways_to_have_rows() -> None:
    """People without an id could not be protected with more than one row."""
    at, asked = walk(draft_of(dp.PrivacyUnit(max_rows=1)))
    assert asked == [dp.PrivacyUnit(max_rows=1)]
    at.radio[0].set_value(unit_view.DECLARED_MAX_ROWS).run()
    at.number_input[0].set_value(3).run()
    assert "Nobody checks" in at.caption[0].value
    assert asked == [dp.PrivacyUnit(max_rows=3)]
    at.radio[0].set_value(unit_view.ROWS_NAMED_BY_COLUMN).run()
    assert asked == [None]  # until a number is chosen
    at.get("button_group")[0].set_value(2).run()
    assert asked == [dp.PrivacyUnit(max_rows=2, id_column="who")]


def test_what_an_operator_declared_is_only_made_stronger() -> None:
    """A steward could promise one row where the operator of the source knows of
    three.
    """
    declared = dp.PrivacyUnit(max_rows=3)
    at, asked = walk(draft_of(declared, declared))
    assert not at.radio
    assert "You cannot weaken this" in at.info[0].value
    assert at.number_input[0].min == 3
    at.number_input[0].set_value(5).run()
    assert asked == [dp.PrivacyUnit(max_rows=5)]
    named = dp.PrivacyUnit(max_rows=2, id_column="who")
    at, asked = walk(draft_of(named, named))
    assert asked == [named]
    assert not at.number_input


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(UNITS, UNITS)
def test_a_weaker_unit_is_refused_when_the_source_is_opened(
    declared: dp.PrivacyUnit, unit: dp.PrivacyUnit
):
    """What the form keeps from being chosen, a codebook or another page could still
    bring.
    """
    draft = draft_of(declared, declared)
    weaker = unit != declared and not (
        unit.id_column is None
        and declared.id_column is None
        and unit.max_rows > declared.max_rows
    )
    if weaker:
        with pytest.raises(dp.SchemaError, match="promise less"):
            unit.check_covers(draft.declared_unit)
    else:
        unit.check_covers(draft.declared_unit)
    unit.check_covers(draft_of(declared).declared_unit)  # nobody declared it


@pytest.mark.parametrize(
    "fields", [{"max_rows": 2**53}, {"max_rows": 0}, {"max_rows": 1, "id_column": ""}]
)
def test_a_unit_that_cannot_be_kept_is_refused(fields: dict[str, object]) -> None:
    """A number that a browser rounds, or a column without a name, would become another
    unit on its way.
    """
    with pytest.raises(dp.ParameterError):
        dp.PrivacyUnit(**fields)
    content = json.loads(schema_of(dp.PrivacyUnit(max_rows=1)).to_json())
    content["unit"] |= fields
    with pytest.raises((dp.ReadError, dp.ParameterError)):
        dp.Schema.from_json(json.dumps(content))


def test_a_declared_bound_is_said_in_every_guarantee() -> None:
    """At most 3 rows would read as if the program had seen to it."""
    assert "declared and not checked" in str(dp.PrivacyUnit(max_rows=3))
    assert "not checked" not in str(dp.PrivacyUnit(max_rows=3, id_column="who"))


def test_a_number_of_rows_is_chosen_before_the_rows_are_looked_at() -> None:
    """At most 1 row was proposed for stays, and dropped two thirds of them without a
    word; or a number that was chosen by what it keeps of this table would pass for a
    public one.
    """
    proposed = dp.PrivacyUnit(max_rows=1, id_column="who")
    at, asked = walk(draft_of(proposed, capped=False))
    cap = at.get("button_group")[0]
    assert cap.value is None
    assert asked == [None]
    cap.set_value(1).run()
    assert asked == [dp.PrivacyUnit(max_rows=1, id_column="who")]
    assert "67 % of the rows count" in at.warning[0].value.replace("\u202f", " ")
    at.get("button_group")[0].set_value(2).run()
    assert asked == [dp.PrivacyUnit(max_rows=2, id_column="who", from_data=True)]
    assert "Every guarantee will say so" in at.warning[0].value
    assert at.dataframe[0].value.iloc[:, 1].tolist()[:2] == ["67\u202f%", "100\u202f%"]
    # as it was chosen before anything was seen
    at.get("button_group")[0].set_value(1).run()
    assert asked == [dp.PrivacyUnit(max_rows=1, id_column="who")]


def test_a_number_chosen_by_the_curve_is_marked() -> None:
    """Whoever looks first and chooses then would publish a fact of the rows as one that
    everybody knows.
    """
    at, asked = walk(
        draft_of(dp.PrivacyUnit(max_rows=1, id_column="who"), capped=False)
    )
    at.button[0].click().run()
    assert asked == [None]
    at.get("button_group")[0].set_value(unit_view.OTHER_NUMBER).run()
    assert asked == [None]
    at.number_input[0].set_value(7).run()
    unit = dp.PrivacyUnit(max_rows=7, id_column="who", from_data=True)
    assert asked == [unit]
    assert "taken from the data" in str(unit)
    assert (
        opening.declared_cap(dp.Schema.from_json(schema_of(unit).to_json()).unit)
        is None
    )


def test_a_number_is_found_privately_when_the_table_is_opened() -> None:
    """Whoever knows nothing of the rows could only guess a number, or take it from the
    rows unpaid.
    """
    at, asked = walk(
        draft_of(dp.PrivacyUnit(max_rows=1, id_column="who"), capped=False)
    )
    at.get("button_group")[0].set_value(unit_view.FIND_PRIVATELY).run()
    assert asked == [dp.PrivacyUnit(max_rows=1, id_column="who", found="1/20")]
    assert "at most 203 people" in at.caption[-1].value
    at.select_slider[0].set_value("1/50").run()
    assert asked == [dp.PrivacyUnit(max_rows=1, id_column="who", found="1/50")]
    assert not at.dataframe  # what each number keeps is not shown with it
