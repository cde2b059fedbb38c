"""How far a search says that it is."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpcore.anonymize.fulldomain.metrics import AverageClassSize
from dpcore.anonymize.fulldomain.search import TOLD, search
from dpcore.anonymize.fulldomain.size import memory_of
from dpcore.anonymize.fulldomain.tuples import Tuples
from dpcore.anonymize.hierarchies.builders import flat, intervals
from dpcore.anonymize.models import KAnonymity


def test_the_time_left_follows_from_the_share_towards_the_end() -> None:
    """The share was that of a logarithm: at half of the bar a search had often just begun."""
    random = np.random.default_rng(4)
    frame = pd.DataFrame(
        {f"q{place}": (random.pareto(1.5, 3_000) * 9).astype(int) % 40 for place in range(5)}
    )
    trees = {name: intervals(frame[name], widths=[2, 4, 8, 16]) for name in frame}
    shares: list[float] = []
    search(
        Tuples.build(frame, trees),
        [KAnonymity(k=5)],
        limit=0.1,
        metric=AverageClassSize(),
        on_progress=lambda stage, share: shares.append(share),
    )
    looks = TOLD * np.arange(len(shares)) + 1
    assert len(shares) > 20
    assert all(0 < share <= 1 for share in shares)
    predicted = (looks / shares)[-len(shares) // 4 :] / looks[-1]
    assert 0.5 < predicted.min() <= predicted.max() < 2


def test_memory_is_counted_from_nodes_tuples_and_labels() -> None:
    """A forecast that left out the labels would promise a tenth of what a search takes."""
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": list("xyxy")})
    table = Tuples.build(frame, {"a": flat(frame["a"]), "b": flat(frame["b"])})
    assert memory_of(table) == 4 * 50 + 4 * 96 + 4 * (2 + 2) * 4 + 4 * (2 + 2) * 4
