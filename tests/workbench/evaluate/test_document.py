"""The file of the Evaluate page: shares in whole percent, and no value of a row."""

from __future__ import annotations

import datetime
import re

import numpy as np
import pandas as pd

import dpcore as dp
from dpcore.evaluation.utility.similarity import SimilarityQuestion
from workbench.evaluate import document
from workbench.evaluate.report import columns_table, verdict_of_similarity

MEDIAN = 48_170.37
DAY = datetime.date(2021, 3, 4)


def test_no_mean_and_no_median_leaves() -> None:
    """The median of 1,001 incomes is one person's, and that of their days the day of
    one visit.
    """
    rng = np.random.default_rng(0)
    pay = np.r_[
        rng.uniform(1_000, 48_000, 500), [MEDIAN], rng.uniform(49_000, 90_000, 500)
    ].round(2)
    days = [
        DAY + datetime.timedelta(days=int(shift))
        for shift in np.sign(pay - MEDIAN) * (pay // 100)
    ]
    frame = pd.DataFrame(
        {"pay": pay, "day": pd.to_datetime(days), "sex": rng.choice(["F", "M"], 1001)}
    )
    schema = dp.Schema(
        columns=(
            dp.Real("pay", low=0.0, high=100_000.0, bin_width=5_000.0),
            dp.Date("day", low="2018-01-01", high="2023-12-31", step="month"),
            dp.Categorical("sex", categories=("F", "M")),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=3), ledger=dp.MemoryLedger()
    )
    release = curator.run(dp.Independent(("pay", "day", "sex")), dp.PureDP(epsilon=1))
    similarity = curator.evaluate(
        SimilarityQuestion(table=release.sample_table(seed=0))
    ).content
    judged = verdict_of_similarity(similarity, is_from_recipe=True)
    shown = " ".join(columns_table(curator, similarity).astype(str).to_numpy().ravel())
    assert "48,170" in shown  # on the page, which does not leave
    assert str(DAY) in shown
    text = re.sub(
        r"<[^>]+>",
        " ",
        document.evaluation_html(
            curator.name, {"": (curator, similarity)}, judged
        ).decode(),
    )
    body = text[text.rfind("Every column") :]
    assert "48,170" not in text
    assert str(DAY) not in text
    assert f"{pay.mean():,.0f}" not in text
    assert not re.search(r"\d[.,]\d", body), (
        "shares are in whole percent, and there are no other numbers"
    )
    assert len(re.findall(r"\d\s?%", body)) > 15
