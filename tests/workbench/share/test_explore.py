"""The interactive page: for whom it is there, what is in it, and what its script may
do.
"""

from __future__ import annotations

import base64
import hashlib
import html
import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.release import AnonymizedTable, Guarantee
from dpcore.tables.rows import PublicTable
from tests.workbench.share.test_links import ALL, CANARY, RELEASE, Shared, make_release
from tests.workbench.share.test_links import shared as shared
from workbench.language.wording import number
from workbench.report import explore, of_release
from workbench.store.links.shares import LinkDraft, in_days

PAGE = "file=explore.html"
EVERYTHING = (*ALL, "explore")


def content_of(page: str) -> Any:
    """What the script of a page works with."""
    (text,) = re.findall(
        r'<script type="application/json" id="explore-content">(.*?)</script>',
        page,
        re.S,
    )
    return json.loads(text)


def codes_of(content: Any) -> pd.DataFrame:
    """The bar of each drawn row in every column."""
    return pd.DataFrame(
        {
            place: np.frombuffer(base64.b64decode(each["codes"]), np.uint8)
            for place, each in enumerate(content["columns"])
        },
    )


def test_it_is_off_unless_its_owner_turns_it_on(shared: Shared) -> None:
    """Whoever has a link would play with rows that its owner never meant to give, or
    learn of them.
    """
    assert PAGE not in shared.get().text
    refused = shared.get(query=PAGE)
    gone = shared.get("x" * 43)
    assert (refused.status, refused.body, refused.headers) == (
        404,
        gone.body,
        gone.headers,
    )
    token = shared.make(contents=frozenset(EVERYTHING))
    assert 'href="?file=explore.html&amp;lang=en"' in shared.get(token).text
    assert "<script" not in shared.get(token).text
    assert shared.get(token, query=PAGE).status == 200
    for each in shared.shares.links_of("d"):
        shared.shares.revoke("d", each.id)
    assert shared.get(token, query=PAGE).body == gone.body


def test_never_of_an_anonymized_table(shared: Shared) -> None:
    """Rows that have no epsilon, each about somebody, could be filtered until one is
    left.
    """
    rows = PublicTable(pd.DataFrame({"age": ["20 to 29", "30 to 39"], "n": [1, 2]}))
    guarantee = Guarantee(kind="syntactic", unit="people", models=("2-anonymity",))
    made = AnonymizedTable(table=rows, plan="{}", guarantee=guarantee)
    draft = LinkDraft(title="T", expires=in_days(7), contents=frozenset(EVERYTHING))
    token = shared.shares.make_syntactic(made, ["said"], draft, dataset="d")
    assert PAGE not in shared.get(token).text
    assert shared.get(token, query=PAGE).status == 404


def test_one_script_by_its_digest_and_no_request(tmp_path: Path) -> None:
    """A page with a script could run another one, ask another address, or carry its
    link away.
    """
    shared = Shared(
        tmp_path,
        contents=frozenset(EVERYTHING),
        title="</script><script>alert(1)</script>",
    )
    page = shared.get(query=PAGE)
    static = shared.get()
    policy = page.headers["content-security-policy"]
    (script,) = re.findall(r"<script>(.*?)</script>", page.text, re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    sources = dict(each.strip().split(" ", 1) for each in policy.split(";"))
    assert sources["default-src"] == "'none'"
    assert sources["script-src"] == f"'sha256-{digest}'"
    assert sources["require-trusted-types-for"] == "'script'"
    assert "unsafe" not in policy
    assert "connect-src" not in sources
    (inside,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page.text)
    assert f"script-src 'sha256-{digest}'" in html.unescape(inside)
    same = set(static.headers) - {"content-security-policy", "content-length"}
    assert {name: page.headers[name] for name in same} == {
        name: static.headers[name] for name in same
    }
    assert page.text.count("<script") == 2
    assert not re.search(
        r"https?://(?!www\.w3\.org)|\son\w+=|\sstyle=|<link|<img|url\(", page.text
    )
    assert not re.search(
        r"\b(eval|Function|fetch|XMLHttpRequest|innerHTML|import|localStorage)\b",
        script,
    )
    assert shared.token not in page.text
    shared.store.close()


def test_without_a_script_the_static_page_remains(tmp_path: Path) -> None:
    """Where scripts are turned off, pictures, tables, the promise or the questions
    would be gone.
    """
    shared = Shared(tmp_path, contents=frozenset(EVERYTHING))
    page = shared.get(query=PAGE).text
    static = shared.get().text
    for part in re.findall(
        r"<(?:figure|ul|form|h2 id=.\w+.)>.*?</\w+>|<form.*?</form>", static, re.S
    ):
        assert part in page
    assert "<noscript>" in page
    (section,) = re.findall(r"<section id=.explore.[^>]*>", page)
    assert section.endswith("hidden>")  # until the script shows it
    shared.store.close()


@pytest.mark.parametrize(
    ("recipe", "columns"),
    [
        (None, ["age", "sex", "city <b>"]),
        (dp.Adaptive(), ["age", "sex", "city <b>"]),
        (dp.Joint(["age", "sex", "city <b>"]), ["age", "sex", "city <b>"]),
        (dp.Independent(columns=["age", "sex"]), ["age", "sex"]),
        (dp.Histogram("age"), []),
        (dp.Statistics.for_column(RELEASE.schema, "age"), []),
        (
            dp.Gaussian.for_schema(
                RELEASE.schema, label="sex", columns=["age"], one_hot=[]
            ),
            [],
        ),
    ],
    ids=lambda each: getattr(each, "kind", ""),
)
def test_releases_of_several_columns(recipe: Any, columns: list[str]) -> None:
    """A kind of release could not be explored, or its page would show columns that it
    does not draw.
    """
    release = make_release(recipe)
    assert explore.is_explorable(release) == (len(columns) > 1)
    if not columns:
        return
    content = content_of(explore.interactive_section(release))
    assert [each["name"] for each in content["columns"]] == columns
    codes = codes_of(content)
    assert len(codes) == content["drawn"] == round(float(release.answer(()).values))
    drawn = release.model.sample_codes(len(codes), np.random.default_rng(0))
    for place, name in enumerate(columns):
        column = content["columns"][place]
        answer = release.answer((name,))
        assert column["labels"] == list(release.schema.column(name).labels)
        assert codes[place].tolist() == drawn[name].tolist()
        for end in ("values", "low", "high"):
            assert column[end] == [
                round(each) for each in getattr(answer, end).tolist()
            ]
    assert explore.interactive_section(release) == explore.interactive_section(release)


@pytest.mark.parametrize("recipe", [dp.Adaptive(), None], ids=["fit", "tables"])
def test_the_noise_of_any_sum_of_cells(recipe: Any) -> None:
    """A bar would be hatched, or not, by another noise than that of the cells that it
    adds up.
    """
    release = make_release(recipe)
    content = content_of(explore.interactive_section(release))
    names = [each["name"] for each in content["columns"]]
    rng = np.random.default_rng(0)
    compared = 0
    for table in content["tables"]:
        columns = [names[place] for place in table["columns"]]
        for _ in range(20):
            masks = {
                name: rng.permutation(np.arange(size) < rng.integers(1, size + 1))
                for name, size in zip(columns, table["sizes"], strict=True)
            }
            factors = {
                name: {
                    "sum": mask.sum(),
                    "inside": mask.sum() * (1 - mask.mean()),
                    "outside": mask.mean() ** 2,
                }
                for name, mask in masks.items()
            }
            variance = sum(
                drawn
                * np.prod(
                    [
                        factors[name][kind]
                        for name, kind in zip(columns, kinds, strict=True)
                    ]
                )
                for drawn, kinds in table["terms"]
            )
            if recipe is None:  # independent noise in every cell
                law = release.marginals[tuple(columns)]
                expected = law.variance * np.prod(
                    [mask.sum() for mask in masks.values()]
                )
            else:  # by the library's own sum
                law = release.model.evidence(tuple(columns)).sum(masks)
                expected = law.variance
            assert variance == pytest.approx(expected)
            half = dp.tables.counts.half_width(expected, law.noise, pooled=law.pooled)
            assert half <= np.ceil(table["deviations"] * variance**0.5) + 1 <= half + 3
            compared += 1
    assert compared >= 40


def test_merged_cells_are_named() -> None:
    """A bar of cells that were counted as a group only would look as if it was
    measured.
    """
    rng = np.random.default_rng(0)
    kinds = [f"k{i:02}" for i in range(40)]
    frame = pd.DataFrame({"a": rng.choice(kinds[:3], 4_000), "b": "x"})
    frame.loc[frame["a"] == kinds[0], "b"] = "y"
    frame.loc[:39, "a"] = kinds
    columns = (
        dp.Categorical("a", categories=tuple(kinds)),
        dp.Categorical("b", categories=("x", "y")),
    )
    schema = dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger()
    )
    release = curator.run(dp.Tree(), dp.PureDP(epsilon="1"))
    content = content_of(explore.interactive_section(release))
    merged = content["columns"][0]["merged"]
    groups = release.model.grouping.groups["a"]
    assert merged == [cell for cell in range(40) if (groups == groups[cell]).sum() > 1]
    assert len(merged) > 10
    (pair,) = (each for each in content["tables"] if len(each["columns"]) == 2)
    assert pair["sizes"][pair["columns"].index(0)] < 40


def wide(columns: int, cells: int) -> dp.Release:
    """A release of many columns with many cells, of more rows than are drawn."""
    rng = np.random.default_rng(0)
    names = [f"q{j:02}" for j in range(columns)]
    labels = tuple(f"a long answer {i:02}" for i in range(cells))
    frame = pd.DataFrame({name: rng.choice(labels, 60_000) for name in names})
    schema = dp.Schema(
        columns=tuple(dp.Categorical(name, categories=labels) for name in names),
        unit=dp.PrivacyUnit(max_rows=2),
    )
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon="9"), ledger=dp.MemoryLedger()
    )
    return curator.run(dp.Independent(columns=names), dp.PureDP(epsilon="9"))


def test_a_file_for_a_phone() -> None:
    """A file of a wide table would be too large to be sent, or not say that nobody can
    take it back.
    """
    release = wide(30, 60)
    file = of_release.interactive_file(release)
    assert len(file) < 3_000_000
    page = file.decode()
    main = page[page.index("<main>") :]
    assert (
        re.sub("<[^>]*>", "", main)
        .split("\n")[1]
        .startswith("This is a file and cannot be revoked")
    )
    assert "href=" not in main
    assert "<form" not in main
    content = content_of(page)
    assert (content["drawn"], len(content["columns"])) == (20_000, 24)
    total = float(release.answer(()).values)
    assert content["scale"] == pytest.approx(total / 20_000)
    assert (
        "20,000 rows were drawn from the noisy counts; each represents "
        f"{number(total / 20_000)}"
    ) in page
    assert f"of about {round(total):,} rows." in page


def test_neighbors_in_an_order_share_a_bar() -> None:
    """A column of a hundred years would be a hundred buttons, or count a row in a bar
    that is not its own.
    """
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"year": rng.integers(1900, 2000, 2_000), "sex": rng.choice(["F", "M"], 2_000)}
    )
    schema = dp.Schema(
        columns=(
            dp.Integer("year", low=1900, high=1999),
            dp.Categorical("sex", categories=("F", "M")),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon="9"), ledger=dp.MemoryLedger()
    )
    release = curator.run(
        dp.Marginals(cliques=[("year",), ("sex",)]), dp.PureDP(epsilon="9")
    )
    content = content_of(explore.interactive_section(release))
    year = content["columns"][0]
    assert (year["cells"], year["width"], len(year["labels"])) == (100, 5, 20)
    drawn = release.model.sample_codes(content["drawn"], np.random.default_rng(0))[
        "year"
    ]
    assert codes_of(content)[0].tolist() == [int(cell) // 5 for cell in drawn]
    cells = release.answer(("year",)).values
    assert year["values"] == [
        round(sum(cells[5 * bar : 5 * bar + 5])) for bar in range(20)
    ]


def test_nothing_of_the_table_is_in_it(tmp_path: Path) -> None:
    """A value of the table that no release holds would be in the page, in the file, or
    among its codes.
    """
    shared = Shared(tmp_path, contents=frozenset(EVERYTHING))
    for release in (RELEASE, make_release(dp.Adaptive())):
        token = shared.make(release, contents=frozenset(EVERYTHING))
        pages = (
            shared.get(token, query=PAGE).text,
            of_release.interactive_file(release).decode(),
        )
        for page in pages:
            for planted in (CANARY, "Zyxomma", "773177317731773", shared.token, token):
                assert planted not in page
        for column, codes in zip(
            content_of(pages[0])["columns"],
            codes_of(content_of(pages[0])).items(),
            strict=True,
        ):
            assert codes[1].max() < len(column["labels"])
        names = set(itertools.chain.from_iterable(content_of(pages[0])["columns"]))
        assert names == {
            "name",
            "labels",
            "cells",
            "width",
            "merged",
            "codes",
            "values",
            "low",
            "high",
        }
    shared.store.close()
