"""Exact tables through the curator: the ledger, the guarantees, and the rows."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.anonymization.hierarchies.builders import build_flat
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.models import KAnonymity
from dpcore.anonymization.plan import Plan
from dpcore.curator import Curator
from dpcore.curator import curator as curating
from dpcore.errors import (
    DisclosureError,
    HierarchyError,
    InfeasibleError,
    ParameterError,
    RequestConflict,
    UsageError,
)
from dpcore.release import Release
from dpcore.schema.source import Source
from dpcore.suppression import (
    PRESETS,
    HidingRule,
    PublishedTable,
    ShownColumn,
    TablePlan,
)
from dpcore.suppression.plan import ExceptedCell
from tests.suppression.accounts import (
    count_of,
    open_account,
    plan_by,
    publish,
    rows_of,
)
from tests.suppression.fits import find_ends
from tests.suppression.groupings import group_values
from workbench.language.wording import guarantee_words
from workbench.records.lines import list_not_covered, list_notes
from workbench.report.of_exact_table import find_verdict, list_checks, not_promised
from workbench.store.ledger.datasets import load_data_set, redact_line

RULE = HidingRule(threshold=10)
PLAN = TablePlan(
    columns=(ShownColumn(column="district"), ShownColumn(column="sex")), rule=RULE
)


def people() -> pd.DataFrame:
    """Return 300 people in five districts, few in the last one."""
    draw = np.random.default_rng(5)
    names = np.array(["north", "south", "east", "west", "isle"])
    district = names[draw.choice(5, 300, p=[0.3, 0.3, 0.2, 0.15, 0.05])]
    sex = np.array(["f", "m"])[draw.integers(0, 2, 300)]
    return pd.DataFrame({"who": np.arange(300), "district": district, "sex": sex})


def opened(
    table: pd.DataFrame | Source,
    ledger: dp.MemoryLedger,
    *,
    rows: int = 1,
    who: str = "",
) -> Curator:
    columns = (
        dp.Categorical(
            "district",
            categories=("north", "south", "east", "west", "isle"),
            missing=True,
        ),
        dp.Categorical("sex", categories=("f", "m")),
    )
    unit = dp.PrivacyUnit(max_rows=rows, id_column=who or None)
    return Curator.open(
        table,
        dp.Schema(columns=columns, unit=unit),
        budget=dp.PureDP(epsilon=3),
        ledger=ledger,
    )


def test_a_table_is_internal_until_it_is_accepted() -> None:
    curator = opened(people(), dp.MemoryLedger())
    made = curator.exact_table(PLAN)
    assert [line.content.get("evaluation") for line in curator.lines()][-1] == (
        "exact table"
    )
    assert curator.exact_tables() == []
    assert "internal" in repr(made.content)
    table = curator.publish_table(made)
    assert curator.exact_tables() == [table]
    assert curator.balance().spent == curator.balance().reserved == 0
    curator.verify()
    truth = people().groupby(["district", "sex"]).size()
    assert table.counts[0] == 300
    for cell, count in enumerate(table.counts):
        district, sex = table.layout.labels(cell)
        if "Total" not in (district, sex) and count is not None:
            assert count == truth[district, sex] >= 10
    assert None in table.counts


def test_every_guarantee_names_the_exact_table() -> None:
    """The release before it and the one after it, the stored and the anonymized one."""
    curator = opened(people(), dp.MemoryLedger())
    loss = dp.PureDP(epsilon="1/2")
    before = curator.run(dp.Histogram("sex"), loss)
    assert before.guarantee.exact_tables == 0
    curator.publish_table(curator.exact_table(PLAN))
    after = curator.run(dp.Histogram("district"), loss)
    stored = curator.release(before.request_id)
    for release in (after, stored, curator.run(dp.Histogram("sex"), loss)):
        assert release.guarantee.exact_tables == 1
        assert Release.from_json(release.to_json()).guarantee.exact_tables == 1
        assert any(
            "1 exact table" in words for words in guarantee_words(release.guarantee)
        )


def test_the_ledger_page_says_what_was_published_and_exports_no_values() -> None:
    curator = opened(people(), dp.MemoryLedger())
    curator.publish_table(curator.exact_table(PLAN))
    data_set = load_data_set(curator.account.dataset, curator.ledger)
    assert data_set is not None
    notes = list_notes(data_set).astype(str).agg(" ".join, axis="columns").tolist()
    assert "exact table published: district, sex" in notes[0]
    assert "trial of an exact table: district, sex" in notes[1]
    assert any("district × sex" in words for words in list_not_covered(data_set))
    shown = redact_line(curator.lines()[-1], "table")
    assert shown.content["exact table"] == "published"
    assert "isle" not in str(shown.content)


def few_on_the_isle() -> pd.DataFrame:
    """Return 300 people, six of them on the isle."""
    names = ["north"] * 100 + ["south"] * 90 + ["east"] * 60 + ["west"] * 44
    return people().assign(district=[*names, *["isle"] * 6])


def test_a_second_table_is_made_together_with_the_first() -> None:
    """It shows what the first one hides if both are tried before either is accepted:
    then the second is refused. Made anew, it hides that too.
    """
    alone = (ShownColumn(column="district"),)
    strict = TablePlan(columns=alone, rule=RULE)
    lax = TablePlan(columns=alone, rule=HidingRule(threshold=2))
    curator = opened(few_on_the_isle(), dp.MemoryLedger())
    first, second = curator.exact_table(strict), curator.exact_table(lax)
    curator.publish_table(first)
    with pytest.raises(DisclosureError, match="together with the exact tables on file"):
        curator.publish_table(second)
    assert len(curator.exact_tables()) == 1
    again = curator.exact_table(lax)
    assert again.content.earlier_tables == ("district",)
    assert "earlier table" in again.content.reasons.values()
    table = curator.publish_table(again)
    assert table.counts == first.content.published.counts
    assert len(curator.exact_tables()) == 2


def test_two_tabs_cannot_publish_without_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each would be attacked without the other, which it is to be told with."""
    curator = opened(few_on_the_isle(), dp.MemoryLedger())
    made = curator.exact_table(PLAN)
    other = curator.exact_table(PLAN)
    curator.publish_table(made)
    monkeypatch.setattr(curating, "list_published_tables", lambda lines: [])
    with pytest.raises(RequestConflict):
        curator.publish_table(other)


def count_attacks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of how many earlier tables each attack before publishing had."""
    attack_all = curating.attack_all
    attacks: list[int] = []

    def attack(tables, counts, earlier_tables, maps, on_progress):  # type: ignore[no-untyped-def]
        attacks.append(len(earlier_tables))
        return attack_all(tables, counts, earlier_tables, maps, on_progress)

    monkeypatch.setattr(curating, "attack_all", attack)
    return attacks


def test_the_same_attack_is_not_made_again_to_publish(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last tables that were made withstood it already."""
    attacks = count_attacks(monkeypatch)
    curator = opened(few_on_the_isle(), dp.MemoryLedger())
    publish(curator, PLAN)
    publish(curator, TablePlan(columns=(ShownColumn(column="sex"),), rule=RULE))
    assert attacks == []


def test_whatever_is_new_since_is_attacked_before_tables_are_published(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A table of a second tab or of another account; another table made since; and a
    count that was shown by hand.
    """
    attacks = count_attacks(monkeypatch)
    by_sex = TablePlan(columns=(ShownColumn(column="sex"),), rule=RULE)
    by_district = TablePlan(columns=(ShownColumn(column="district"),), rule=RULE)
    ledger = dp.MemoryLedger()
    curator = opened(few_on_the_isle(), ledger)
    second_tab = opened(few_on_the_isle(), ledger)
    assert second_tab.account.dataset == curator.account.dataset
    made = curator.exact_table(PLAN)
    publish(second_tab, by_sex)
    assert attacks == []
    curator.publish_table(made)
    assert attacks == [1]
    # another account
    elsewhere = publish(opened(few_on_the_isle(), dp.MemoryLedger()), by_sex)
    other = dataclasses.replace(elsewhere, account="elsewhere")
    curator = opened(few_on_the_isle(), dp.MemoryLedger())
    made = curator.exact_table(by_district)
    curator.publish_table(made, others=[other])
    assert attacks == [1, 1]
    # a table made since: what is remembered is about that one
    curator = opened(few_on_the_isle(), dp.MemoryLedger())
    made = curator.exact_table(by_district)
    curator.exact_table(by_sex)
    curator.publish_table(made)
    assert attacks == [1, 1, 0]
    # a count that was shown by hand
    curator = opened(few_on_the_isle(), dp.MemoryLedger())
    made = curator.exact_table(by_district)
    cell = min(made.content.reasons)
    counts = list(made.content.published.counts)
    counts[cell] = made.content.true_counts[cell]
    content = dataclasses.replace(
        made.content,
        published=dataclasses.replace(made.content.published, counts=tuple(counts)),
    )
    with pytest.raises(DisclosureError, match="gives hidden counts away"):
        curator.publish_table(dataclasses.replace(made, content=content))
    assert attacks == [1, 1, 0, 0]


def test_progress_tells_rounds_and_never_falls() -> None:
    """Each attack begins anew, but the share of all work does not."""
    cells = {"A": 3, "B": 40, "C": 5, "D": 38, "E": 60, "F": 4, "G": 30}
    rows = rows_of({(town, sex): n for town, n in cells.items() for sex in "fm"}, *"ts")
    curator = open_account(rows)
    publish(curator, plan_by(RULE, group_values("t", "ABCDEFG", lambda t: t < "C")))
    told: list[tuple[str, float]] = []
    curator.exact_table(
        plan_by(RULE, "t", "s"), lambda stage, share: told.append((stage, share))
    )
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[-1] <= 1
    stages = [*dict.fromkeys(stage.split()[0] for stage, _ in told)]
    assert stages[:2] == ["suppressing", "attacking"]
    assert stages[-1] == "bounding"
    rounds = [
        int(stage.split()[1]) for stage, _ in told if stage.startswith("attacking")
    ]
    assert rounds == sorted(rounds)
    assert rounds[0] == 1


def test_other_people_than_those_of_the_table_are_refused() -> None:
    """The table of one data set would be noted in the ledger of another."""
    made = opened(people(), dp.MemoryLedger()).exact_table(PLAN)
    other = opened(few_on_the_isle(), dp.MemoryLedger())
    with pytest.raises(DisclosureError, match="other people than when"):
        other.publish_table(made)


@pytest.mark.parametrize("kind", ["memory", "parquet", "csv", "duckdb"])
def test_people_are_counted_not_rows(tmp_path: Path, kind: str) -> None:
    """In memory, from files that are read in passes, and by a database: a person
    counts once.
    """
    doubled = pd.concat([people(), people().head(120)], ignore_index=True)
    once = opened(people(), dp.MemoryLedger()).exact_table(PLAN).content
    file = tmp_path / f"people.{kind}"
    table: pd.DataFrame | Source = doubled
    if kind == "parquet":
        doubled.to_parquet(file)
    elif kind == "csv":
        doubled.to_csv(file, index=False)
    elif kind == "duckdb":
        with duckdb.connect(file) as database:
            database.register("frame", doubled)
            database.execute("CREATE TABLE people AS SELECT * FROM frame")
    if kind != "memory":
        named = "people" if kind == "duckdb" else ""
        table = Source(name="people", kind=kind, location=str(file), table=named)
    curator = opened(table, dp.MemoryLedger(), rows=2, who="who")
    made = curator.exact_table(PLAN)
    assert made.content.true_counts == once.true_counts
    curator.publish_table(made)
    assert curator.exact_table(PLAN).content.earlier_tables == ("district × sex",)


def test_a_person_in_two_cells_is_refused() -> None:
    moved = people()
    moved = pd.concat([moved, moved.head(1).assign(district="south")])
    moved.iloc[0, 1] = "north"
    curator = opened(moved, dp.MemoryLedger(), rows=2, who="who")
    with pytest.raises(InfeasibleError, match="several cells"):
        curator.exact_table(PLAN)
    unnamed = opened(moved, dp.MemoryLedger(), rows=2)
    with pytest.raises(UsageError, match="which rows are of one person"):
        unnamed.exact_table(PLAN)


def test_a_hierarchy_must_cover_the_column() -> None:
    short = Hierarchy(
        values=("north", "south"), levels=(("north", "south"), ("*", "*"))
    )
    plan = TablePlan(
        columns=(ShownColumn(column="district", hierarchy=short),), rule=RULE
    )
    with pytest.raises(HierarchyError, match="lacks some values"):
        opened(people(), dp.MemoryLedger()).exact_table(plan)


def test_people_without_a_value_are_a_group() -> None:
    table = people()
    table.loc[table["district"] == "isle", "district"] = None
    made = opened(table, dp.MemoryLedger()).exact_table(PLAN).content
    labels = [group.label for group in made.published.layout.axes[0].groups]
    assert "(missing)" in labels
    assert sum(made.true_counts[3 * at] for at in range(1, len(labels))) == 300


def test_all_declared_categories_are_lines_whether_they_occur_or_not() -> None:
    """A table without the row of a disease would say that nobody has it."""
    ill = ["flu"] * 40 + ["cold"] * 50 + ["cough"] * 60 + ["hiv"]
    frame = pd.DataFrame({"ill": ill, "sex": ["f", "m"] * 75 + ["f"]}, dtype=object)
    curator = Curator.open(
        frame,
        dp.Schema(
            columns=(
                dp.Categorical(
                    "ill",
                    categories=("cold", "cough", "flu", "hiv", "syphilis"),
                    missing=True,
                ),
                dp.Categorical("sex", categories=("f", "m")),
            ),
            unit=dp.PrivacyUnit(max_rows=1),
        ),
        budget=dp.PureDP(epsilon=3),
        ledger=dp.MemoryLedger(),
    )
    plan = TablePlan(
        columns=(ShownColumn(column="ill"), ShownColumn(column="sex")),
        rule=HidingRule(threshold=10, hide_zeros=True),
    )
    table = curator.publish_table(curator.exact_table(plan))
    labels = [group.label for group in table.layout.axes[0].groups]
    assert labels == ["Total", "cold", "cough", "flu", "hiv", "syphilis"]
    for rare in ("hiv", "syphilis"):
        assert table.counts[table.layout.find_cell((rare, "Total"))] is None


def test_values_of_a_column_without_a_list_need_the_owners_word() -> None:
    """Each income of one person would be a line of the public table."""
    income = np.concatenate([np.repeat([1000, 2000, 3000], [40, 50, 60]), [41237]])
    frame = pd.DataFrame({"income": income, "sex": (["f", "m"] * 76)[:151]})
    curator = Curator.open(
        frame,
        dp.Schema(
            columns=(
                dp.Integer("income", low=0, high=99_999),
                dp.Categorical("sex", categories=("f", "m")),
            ),
            unit=dp.PrivacyUnit(max_rows=1),
        ),
        budget=dp.PureDP(epsilon=3),
        ledger=dp.MemoryLedger(),
    )
    plan = TablePlan(columns=(ShownColumn(column="income"),), rule=RULE)
    with pytest.raises(ParameterError, match="which of its values occur"):
        curator.exact_table(plan)
    spoken = TablePlan(
        columns=(ShownColumn(column="income", values_are_public=True),), rule=RULE
    )
    assert TablePlan.from_json(spoken.to_json()) == spoken
    assert curator.exact_table(spoken).content.true_counts[0] == 151


AREAS = {
    ("1", "f"): 3,
    ("1", "m"): 40,
    ("2", "f"): 20,
    ("2", "m"): 30,
    ("3", "f"): 22,
    ("3", "m"): 24,
    ("4", "f"): 60,
    ("4", "m"): 55,
}


def test_lines_within_another_column_need_the_owners_word() -> None:
    """Households within "gets aid" would list who gets aid, with all counts hidden."""
    cells = {(f"h{number}", "yes" if number < 3 else "no"): 2 for number in range(9)}
    frame = rows_of(cells, "household", "aid")
    grouped = ShownColumn(column="household", within=("aid",))
    with pytest.raises(ParameterError, match="which value of aid goes with each"):
        open_account(frame).exact_table(plan_by(RULE, grouped))
    said = dataclasses.replace(grouped, values_are_public=True)
    assert open_account(frame).exact_table(plan_by(RULE, said)).content.true_counts


@pytest.mark.parametrize("written", ["{}.0", "{}", " {}"])
def test_a_hierarchy_may_write_the_values_in_another_way(written: str) -> None:
    """A table of areas 1.0, 2.0 ... took no part in the attack on one of 1-2 and 3-4."""
    frame = rows_of(AREAS, "area", "sex").astype({"area": int})
    curator = Curator.open(
        frame,
        dp.Schema(
            columns=(
                dp.Categorical("area", categories=(1, 2, 3, 4)),
                dp.Categorical("sex", categories=("f", "m")),
            ),
            unit=dp.PrivacyUnit(max_rows=1),
        ),
        budget=dp.PureDP(epsilon=3),
        ledger=dp.MemoryLedger(),
    )
    cms = PRESETS["cms"]
    values = tuple(written.format(area) for area in "1234")
    tree = Hierarchy(values=values, levels=(values, ("*",) * 4))
    first = publish(
        curator, plan_by(cms, ShownColumn(column="area", hierarchy=tree), "sex")
    )
    assert [group.values for group in first.layout.axes[0].groups[1:]] == [
        frozenset(area) for area in "1234"
    ]
    pairs = group_values("area", "1234", lambda area: area in "12")
    made = curator.exact_table(plan_by(cms, pairs, "sex"))
    table = curator.publish_table(made)
    assert (table.attacked, table.compared) == (1, 0)
    atoms = [{"area": area, "sex": sex} for area, sex in AREAS]
    target = {"area": "1", "sex": "f"}
    assert find_ends([first, table], atoms, target)[1] >= cms.threshold
    excepted = TablePlan(
        columns=(ShownColumn(column="area"), ShownColumn(column="sex")),
        rule=cms,
        exceptions=(ExceptedCell(labels=("1", "f"), reason="because of a law"),),
    )
    with pytest.raises(InfeasibleError, match="earlier exact table hides"):
        curator.exact_table(excepted)


def test_a_person_who_moved_does_not_shut_the_account(tmp_path: Path) -> None:
    """A person has two towns by now, and no table of another column could be made."""
    path = tmp_path / "people.parquet"
    ledger = dp.MemoryLedger()
    rows = [(f"p{at}", "AB"[at % 2], "fm"[at // 2 % 2]) for at in range(200)]

    def open_rows(rows: list[tuple[str, str, str]]) -> Curator:
        pd.DataFrame(rows, columns=["who", "town", "sex"]).to_parquet(path)
        columns = (
            dp.Categorical("town", categories=("A", "B")),
            dp.Categorical("sex", categories=("f", "m")),
        )
        return Curator.open(
            Source(name="people", kind="parquet", location=str(path)),
            dp.Schema(
                columns=columns, unit=dp.PrivacyUnit(id_column="who", max_rows=5)
            ),
            budget=dp.PureDP(epsilon=3),
            ledger=ledger,
        )

    cms = PRESETS["cms"]
    publish(open_rows(rows), plan_by(cms, "town"))
    later = open_rows([*rows, ("p0", "B", "f")])
    table = publish(later, plan_by(cms, "sex"))
    assert count_of(table, "f") == count_of(table, "m") == 100
    with pytest.raises(InfeasibleError, match="several cells of this table"):
        later.exact_table(plan_by(cms, "town"))


def test_anonymized_rows_of_the_account_are_to_be_reviewed() -> None:
    """Groups of 7 people, 5-anonymous, show a count that the table hides."""
    frame = rows_of(AREAS, "area", "sex")
    curator = open_account(frame)
    plan = plan_by(PRESETS["cms"], "area", "sex")
    before = curator.exact_table(plan).content
    assert before.published.anonymized == 0
    curator.anonymize(
        Plan(
            roles={"area": "quasi-identifier", "sex": "quasi-identifier"},
            hierarchies={
                name: build_flat(sorted(frame[name].unique())) for name in frame
            },
            models=(KAnonymity(k=3),),
            limit=0.0,
        )
    )
    made = curator.exact_table(plan)
    table = curator.publish_table(made)
    assert table.anonymized == 1
    checks = list_checks(made.content)
    assert any("anonymized 1 time" in check.sentence for check in checks)
    assert find_verdict(checks) == "review"
    assert "anonymized 1 time" in " ".join(not_promised(table))
    assert not any("anonymized" in check.sentence for check in list_checks(before))


def test_releases_with_noise_are_named_beside_the_table() -> None:
    """Counts of a release with much of the budget tell hidden counts more closely."""
    frame = rows_of(AREAS, "area", "sex")
    curator = open_account(frame)
    plan = plan_by(PRESETS["cms"], "area", "sex")
    assert "with noise" not in " ".join(not_promised(publish(curator, plan)))
    curator.run(dp.Histogram("area"), dp.PureDP(epsilon=1))
    table = curator.publish_table(curator.exact_table(plan_by(PRESETS["cms"], "sex")))
    assert table.noisy == 1
    assert "1 release with noise left" in " ".join(not_promised(table))
    assert PublishedTable.from_record(table.to_record()).noisy == 1


def test_the_attack_does_not_pass_if_earlier_tables_tell_a_count() -> None:
    """The page said that nothing can be told, and below it that one count is."""
    cells = {("A",): 7, ("B",): 40, ("C",): 30, ("E",): 60}
    curator = open_account(rows_of(cells, "town"))
    publish(curator, plan_by(PRESETS["nhs"], "town"))
    made = curator.exact_table(plan_by(PRESETS["cms"], "town")).content
    assert made.told_before == 1
    attacks = [
        check for check in list_checks(made) if "could work out" in check.sentence
    ]
    assert [check.verdict for check in attacks] == ["review"]
    assert "already give away 1 count" in attacks[0].sentence
    # the twin: without the earlier table it passes
    alone = open_account(rows_of(cells, "town"))
    made = alone.exact_table(plan_by(PRESETS["cms"], "town")).content
    assert any(
        check.verdict == "pass" and "could work out no hidden count" in check.sentence
        for check in list_checks(made)
    )
