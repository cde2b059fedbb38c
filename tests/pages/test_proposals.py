"""Proposals that work: pressing only what is proposed ends in something useful."""

from __future__ import annotations

import re

import pytest

from tests.pages.tab import Tab
from workbench.upload import opening

SAMPLES = ("Census", "Hospital visits", "Customers", "Patients in China")
FIT = ("**Fit for counting", "**Fit for learning")
"""How the verdict begins on a release that is fit for its purpose."""
TOO_FEW = re.compile(
    "relations (would|between columns would)|Too few rows|Little to learn"
)
"""What is said before paying where the rows are too few for the purpose."""
PURPOSES = ("report", "open", "learning", "analysis")


def walk_proposals(app: Tab, sample: str, purpose: str) -> list[str]:
    """Press proposed buttons only, from a sample to a paid release; return the
    warnings that the preview shows.
    """
    app.go("upload").press(f"Open this sample: {sample}")
    app.set("button_group", "What is it for?", purpose)
    app.press("See what would come out").go("synthesize")
    assert app.errors == ""
    warnings = [each.value for each in app.at.warning]
    app.release()
    assert app.errors == ""
    return warnings


@pytest.mark.proof
@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("purpose", PURPOSES)
def test_what_is_proposed_for_a_sample_comes_out_fit(app, sample, purpose):
    """README's own sample ended with "Noise will drown this"."""
    warnings = walk_proposals(app, sample, purpose)
    assert not any("Too noisy" in warning for warning in warnings), warnings
    app.go("evaluate")
    assert app.errors == ""
    said = [each.value for kind in ("success", "info") for each in app.at.get(kind)]
    is_fit = any(value.startswith(FIT) for value in said)
    is_warned = any(TOO_FEW.search(warning) for warning in warnings)
    assert is_fit or is_warned, (said, warnings, app.text)


FEW = 300
TABLE = "\n".join(
    [
        "age,stay,ward,zip",
        *(
            f"{20 + i % 60},{i * 7 % 90},{'ABCD'[i % 4]},{10000 + 37 * (i % 40)}"
            for i in range(FEW)
        ),
    ]
).encode()


def steps_of(app: Tab) -> dict[str, tuple[str, str]]:
    """Return kind and step of each line of the draft."""
    lines = app.session.draft.edited.to_dict("records")
    return {line["column"]: (line["kind"], line["step"]) for line in lines}


def test_a_stated_size_fits_steps_and_nothing_is_preselected(app):
    """Steps came from the rows, and ended in "too noisy"."""
    app.go("upload").upload(TABLE)
    (size,) = [each for each in app.at.selectbox if each.label.startswith("About how")]
    assert size.value is None, "the rows would have decided it"
    before = steps_of(app)
    assert "Coarser, so that" not in app.text
    size.set_value(1_000).run()
    assert app.errors == ""
    fitted = steps_of(app)
    assert fitted["stay"][1] != before["stay"][1]
    assert "number of rows you stated" in app.text
    schema = app.session.draft.schema
    # its bounds were looked up, and so its step is marked too
    assert "bin_width" in schema.column("stay").from_data
    assert "low" in schema.column("stay").from_data, "bounds are those of the table"
    app.set("multiselect", "Finer", ["stay"])
    assert steps_of(app)["stay"] == before["stay"]
    app.set("multiselect", "Finer", [])
    assert steps_of(app) == fitted
    app.set("selectbox", "About how", 1_000_000)
    assert steps_of(app) == before
    assert app.errors == ""


def test_a_step_changed_by_hand_stays_and_is_marked(app):
    """What a person typed after the check against the table would be taken back, or
    count as public.
    """
    app.go("upload").upload(TABLE).set("selectbox", "About how", 1_000)
    draft = app.session.draft
    at = draft.edited["column"] == "stay"
    draft.edited.loc[at, "step"] = "3"
    draft.version += 1
    app.at.run()
    assert steps_of(app)["stay"][1] == "3"
    declared, _problems = opening.read_grid(draft, draft.edited, draft.schema.unit)
    assert declared is not None
    assert "bin_width" in declared.column("stay").from_data
    app.know_all().press("See what would come out")
    assert app.errors == ""
    column = app.curator.schema.column("stay")
    assert column.bin_width == 3


def test_too_few_rows_are_said_before_paying(app):
    """A person would have paid for noise."""
    app.go("upload").upload(TABLE)
    app.set("button_group", "What is it for?", "open")
    app.set("selectbox", "About how", 100)
    assert "Too few rows" in app.text or "Left out, because noise" in app.text
    assert app.errors == ""


def test_facts_are_never_ticked_nor_suggested_by_the_rows(new_tab):
    """A fact that follows exact counts of the table would reveal them for nothing: a
    table in which no wife is male, and one in which all are, are offered the same.
    """
    offered = []
    for sexes in (("Female", "Male"), ("Male", "Female")):
        rows = [
            f"{'Wife' if place % 2 else 'Husband'},{sexes[(place + 1) % 2]},{place % 7}"
            for place in range(300)
        ]
        table = "\n".join(["relationship,sex,kids", *rows]).encode()
        tab = new_tab().upload(table, f"{sexes[0]}.csv")
        for radio in tab.at.radio:
            if radio.label.startswith("Are both tables"):
                radio.set_value("different").run()
        tab.open_draft()
        tab.go("synthesize").press("A whole table")
        assert tab.errors == ""
        titles = [each.label for each in tab.at.expander]
        assert any(title.endswith("every row must keep (0)") for title in titles)
        (recipe,) = [line for line in tab.text.split("\n") if "never" in line][:1] or [
            ""
        ]
        offered.append(recipe)
    assert offered[0] == offered[1]
    assert "Wife" in offered[0] or "Husband" in offered[0]
