"""Releases as several pages list them: what was asked, when, at which cost."""

from __future__ import annotations

from dpcore.curator import Curator
from workbench.ui.wording import amount, describe


def earlier(curator: Curator) -> list[dict[str, str]]:
    """Releases of this data set, newest first: request id, when, what, at which cost."""
    lines = curator.lines()
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
            "cost": amount(line.charge.units, curator.account),
        }
        for line in reversed(asked)
    ]
