"""Releases as several pages name them: what was asked, when, with which guarantee."""

from __future__ import annotations

import json

from dpcore.curator import Curator
from dpcore.release import Release
from workbench.store.datasets import DataSet
from workbench.ui.language import _
from workbench.ui.wording import amount


def earlier(data_set: DataSet | Curator) -> list[dict[str, str]]:
    """Releases of this data set, newest first: request id, when, what, at which cost."""
    lines = data_set.lines()
    when = {line.request_id: line.at for line in lines if line.state == "committed"}
    asked = [
        line
        for line in lines
        if line.state == "reserved" and line.request_id in when and "report" not in line.content
    ]
    return [
        {
            "request_id": line.request_id,
            "when": when[line.request_id][:16].replace("T", " "),
            "what": describe(line.content["recipe"]),
            "cost": amount(line.charge.units, data_set.account),
        }
        for line in reversed(asked)
    ]


def describe(recipe: dict[str, object]) -> str:
    """A recipe in a few words."""
    kind = recipe["kind"]
    if kind == "histogram":
        return _("Histogram of {column}").format(column=recipe["column"])
    if kind == "categories":
        return _("Categories of {column}").format(column=recipe["column"])
    if kind == "statistics":
        return _("Mean and quantiles of {column}").format(column=recipe["column"])
    if kind == "closeness":
        return _("Test of drawn rows over {columns}").format(columns=", ".join(recipe["columns"]))  # type: ignore[arg-type]
    if kind == "gaussian":
        return _("Table for learning {column}").format(column=recipe["label"])
    if kind == "marginals":
        cliques = [" × ".join(clique) or _("number of rows") for clique in recipe["cliques"]]  # type: ignore[attr-defined]
        return _("Marginals: {cliques}").format(cliques=", ".join(cliques))
    if kind == "marginal error":
        return _("Marginal error, columns at a time: {way}").format(way=recipe["way"])
    if kind == "accuracy":
        return _("Accuracy of {column}, learned from a release").format(column=recipe["target"])
    named = list(map(str, recipe.get("columns") or ()))  # type: ignore[call-overload]
    columns = ", ".join(named) if len(named) <= 4 else _("{number} columns").format(number=len(named))
    if kind == "some columns":
        kind = recipe["recipe"]["kind"]  # type: ignore[index]
    names = {
        "independent": _("Independent columns"),
        "joint": _("Joint table"),
        "tree": _("Synthetic table (Tree)"),
        "adaptive": _("Synthetic table (Adaptive)"),
    }
    return f"{names.get(str(kind), str(kind))}: {columns}"


def guarantee_json(release: Release) -> str:
    """The guarantee that goes beside every download."""
    return json.dumps(
        {
            "guarantee": release.guarantee.to_dict(),
            "recipe": release.recipe,
            "created": release.created,
            "marginals": [
                {
                    "columns": list(clique),
                    "standard_deviation_of_a_cell": marginal.variance**0.5,
                    "interval_95_half_width": marginal.half_width(),
                    "noise": marginal.noise,
                }
                for clique, marginal in release.marginals.items()
            ],
        },
        indent=1,
    )
