"""The frontier as it is drawn: what can be clicked."""

from __future__ import annotations

import pandas as pd

from workbench.anonymize import charts


def test_no_point_of_the_frontier_is_below_another() -> None:
    """A click on a point picked the 10 % line, which was drawn above the others."""
    frame = pd.DataFrame(
        [
            {"k": k, "limit": limit, "share": share, "loss": loss}
            for k, losses in ((2, (0.1, 0.1001, 0.05)), (5, (0.3, 0.2, 0.2)))
            for limit, share, loss in zip(
                ("0 %", "2 %", "10 %"), (0, 0.02, 0.1), losses, strict=True
            )
        ],
    )
    drawn = charts.draw_frontier(frame).spec.to_dict()
    points = next(each for each in drawn["layer"] if each["mark"]["type"] == "point")
    shown = pd.DataFrame(drawn["datasets"][points["data"]["name"]])
    assert list(zip(shown["k"], shown["limit"], strict=True)) == [
        (2, "0 %"),
        (5, "0 %"),
        (5, "2 %"),
        (2, "10 %"),
    ]
    assert points["encoding"]["color"]["scale"]["domain"] == ["0 %", "2 %", "10 %"]
    lines = next(each for each in drawn["layer"] if each["mark"]["type"] == "line")
    assert len(drawn["datasets"][lines["data"]["name"]]) == 6, "the lines are whole"
