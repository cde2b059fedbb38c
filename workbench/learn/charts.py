"""Charts of the Learn page."""

import pandas as pd

from workbench.report.charts import PRIVATE, Chart, base_chart, describe_chart


def horizontal_bars(frame: pd.DataFrame, titles: dict[str, str]) -> Chart:
    """Draw one horizontal bar per row.

    `titles` names the fields of label and value, in this order.
    """
    altair, chart = base_chart(frame)
    label, value = list(titles)[:2]
    spec = chart.mark_bar(color=PRIVATE, opacity=0.85).encode(
        y=altair.Y(
            f"{label}:N", sort=None, title=None, axis=altair.Axis(labelLimit=320)
        ),
        x=altair.X(f"{value}:Q", title=titles[value]),
        tooltip=[
            altair.Tooltip(f"{label}:N", title=titles[label]),
            altair.Tooltip(f"{value}:Q", title=titles[value], format=",.3~g"),
        ],
    )
    return Chart(
        spec=spec.properties(height={"step": 30}),
        alt=describe_chart(titles),
        table=frame.rename(columns=titles),
    )
