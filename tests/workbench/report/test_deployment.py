"""Entries of the public registry of deployments: valid, and nothing in them invented."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest

import dpcore as dp
from dpcore.errors import ParameterError
from dpcore.release import Release
from tests.workbench.report.yaml_text import read_yaml
from workbench.language.messages import use_language
from workbench.report.deployment import (
    ENTRY_FIELDS,
    MAX_FIELD_CHARACTERS,
    deployment_entry,
    missing_fields,
    to_yaml,
)

TYPED = {
    "name": 'Ages: a "count" #1',
    "data_curators": "Amt für Statistik\n市统计局, Abteilung 2\n\n",
    "intended_use": "Planning of schools.\nNot for single streets.",
    "data_product_region": "no",
    "publication_date": "2026-11-26",
    "justification": "A third of a unit keeps every street within 10 people.",
    "registry_authors": "A. Author",
}
FRAME = pd.DataFrame(
    {"age": [20 + i % 50 for i in range(400)], "sex": ["F", "M"] * 200}
)
SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=99),
        dp.Categorical("sex", categories=("F", "M")),
    ),
    unit=dp.PrivacyUnit(max_rows=2),
)


def make_release(recipe: Any, budget: Any, loss: Any = None) -> Release:
    curator = dp.Curator.open(FRAME, SCHEMA, budget=budget, ledger=dp.MemoryLedger())
    return curator.run(recipe, budget if loss is None else loss)


RELEASES = {
    "pure": (
        lambda: make_release(dp.Histogram("age"), dp.PureDP(epsilon="1/3")),
        "Pure DP",
        "Summary statistics",
    ),
    "zcdp": (
        lambda: make_release(
            dp.Marginals(cliques=[("age", "sex")]), dp.ZCDP(rho="1/7")
        ),
        "Zero-concentrated DP",
        "Summary statistics",
    ),
    "approximate": (
        lambda: make_release(
            dp.Histogram("sex"), dp.ApproxDP(epsilon="1", delta="1e-9")
        ),
        "Approximate DP",
        "Summary statistics",
    ),
    "table": (
        lambda: make_release(dp.Adaptive(), dp.PureDP(epsilon="1")),
        "Pure DP",
        "Synthetic data",
    ),
    "mean": (
        lambda: make_release(
            dp.Statistics.for_column(SCHEMA, "age"), dp.PureDP(epsilon="1")
        ),
        "Pure DP",
        "Summary statistics",
    ),
}


@pytest.fixture(scope="module")
def schema(shared: Path) -> dict[str, Any]:
    """The schema that the registry published."""
    file = shared / "reference" / "registry" / "deployments-schema.yaml"
    if not file.exists():
        pytest.skip("the registry's schema: it is not in ../shared/reference")
    read: dict[str, Any] = read_yaml(file.read_text(encoding="utf-8"))
    return read


@pytest.mark.parametrize("kind", RELEASES)
def test_an_entry_is_valid(kind: str, schema: dict[str, Any]) -> None:
    """The registry would refuse the entry, or take a text for a number."""
    make, variant, product = RELEASES[kind]
    release = make()
    entry = deployment_entry(release, TYPED)
    assert read_yaml(to_yaml(entry)) == entry
    jsonschema.Draft202012Validator(
        schema, format_checker=jsonschema.FormatChecker()
    ).validate(entry)
    deployment = entry["deployment"]
    assert deployment["dp_variant"]["variant_name"] == variant
    assert deployment["basic"]["data_product_type"] == product
    asked = _with_tier(schema, deployment, {1, 2, 3})
    assert {"variant_name", "privacy_unit", "composition", "mechanisms"} <= asked


def test_the_schema_refuses_what_is_wrong(schema: dict[str, Any]) -> None:
    """A check that takes everything would pass for one."""
    make, _variant, _product = RELEASES["pure"]
    for break_it in (
        lambda entry: entry["deployment"]["basic"].pop("data_curators"),
        lambda entry: entry["deployment"]["dp_variant"].update(variant_name="DP"),
        lambda entry: entry["deployment"]["privacy_loss"].update(epsilon=1),
        lambda entry: entry["deployment"]["privacy_loss"]["privacy_parameters"].update(
            epsilon="1/3"
        ),
        lambda entry: entry.update(tier=4),
    ):
        entry = deployment_entry(make(), TYPED)
        break_it(entry)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(entry, schema)


def _with_tier(schema: dict[str, Any], data: Any, tiers: set[int]) -> set[str]:
    """The fields of an entry that the schema counts to these tiers."""
    found = set()
    properties = schema["properties"]["deployment"]["properties"]
    for section, fields in data.items():
        for name in fields:
            if properties[section]["properties"][name].get("tier") in tiers:
                found.add(name)
    return found


def test_the_promise_is_that_of_the_release() -> None:
    """The registry would show a smaller loss, or another unit, than what holds."""
    release = RELEASES["pure"][0]()
    loss = deployment_entry(release, TYPED)["deployment"]["privacy_loss"]
    (epsilon,) = loss["privacy_parameters"].values()
    assert Fraction(epsilon) >= Fraction(1, 3)
    assert epsilon == pytest.approx(1 / 3, rel=1e-15)
    assert loss["privacy_parameters_details"] == "Exact numbers: epsilon 1/3."
    assert release.guarantee.unit in loss["privacy_unit_details"]
    approximate = deployment_entry(RELEASES["approximate"][0](), TYPED)
    parameters = approximate["deployment"]["privacy_loss"]["privacy_parameters"]
    assert parameters["epsilon"] == 1.0
    assert parameters["delta"] == pytest.approx(1e-9, rel=1e-12)
    assert "delta: 1.0e-09\n" in to_yaml(approximate)


def test_nothing_but_seven_texts_comes_from_a_person() -> None:
    """A field that contradicts the release could be typed, or one be made up."""
    release = RELEASES["zcdp"][0]()
    entry = deployment_entry(release, TYPED)
    others = {
        field: "other\nnames" if field != "publication_date" else "2020-01-01"
        for field in ENTRY_FIELDS
    }
    changed = deployment_entry(release, others)
    differ = set(_leaves(entry).items()) ^ set(_leaves(changed).items())
    assert {path[-1] for path, _text in differ} == {*ENTRY_FIELDS, "url_slug"}
    assert len(ENTRY_FIELDS) == 7
    with pytest.raises(ParameterError, match="cannot be filled in by hand"):
        deployment_entry(release, TYPED | {"epsilon": "0.01"})


def _leaves(data: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], str]:
    if not isinstance(data, dict):
        return {path: repr(data)}
    return {
        leaf: text
        for key, value in data.items()
        for leaf, text in _leaves(value, (*path, key)).items()
    }


def test_bad_texts_are_refused_in_words() -> None:
    """An entry would leave with an empty field, or end in a traceback."""
    release = RELEASES["pure"][0]()
    assert missing_fields({"name": " \n"}) == list(ENTRY_FIELDS)
    for field, text, says in (
        ("name", " \u202e ", "is empty"),
        ("justification", "a" * (MAX_FIELD_CHARACTERS + 1), "is too long"),
        ("publication_date", "2026-02-30", "is not a valid date"),
    ):
        with pytest.raises(ParameterError, match=says) as raised:
            deployment_entry(release, TYPED | {field: text})
        assert raised.value.remedy


def test_an_entry_is_english_in_every_language() -> None:
    """An English registry would get a German entry."""
    release = RELEASES["pure"][0]()
    with use_language("de"):
        german = deployment_entry(release, TYPED)
    assert german == deployment_entry(release, TYPED)


def test_facts_from_the_data_are_unprotected_quantities() -> None:
    """The entry would call a table protected whose facts the rows told."""
    schema = dp.Schema(
        columns=(dp.Integer("age", low=20, high=69, from_data=("low", "high")),),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    budget = dp.PureDP(epsilon="1")
    curator = dp.Curator.open(
        FRAME[["age"]], schema, budget=budget, ledger=dp.MemoryLedger()
    )
    release = curator.run(dp.Histogram("age"), budget)
    told = deployment_entry(release, TYPED)["deployment"]["dp_variant"]
    assert "age" in told["unprotected_quantities"]
    beside = dataclasses.replace(
        release, guarantee=dataclasses.replace(release.guarantee, exact_tables=2)
    )
    told = deployment_entry(beside, TYPED)["deployment"]["dp_variant"]
    assert "2 exact tables of counts" in told["unprotected_quantities"]
    none = deployment_entry(RELEASES["pure"][0](), TYPED)["deployment"]["dp_variant"]
    assert none["unprotected_quantities"] == (
        "The guarantee of the release names no such quantities."
    )
