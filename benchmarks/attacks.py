"""Do the attacks see what is there, as the library does that they are modeled on?

    python -m benchmarks.attacks --json

Invented people, 13 columns, half of them in the release and half the control. A copy,
columns drawn one by one, and a sample of other people are attacked: rates of each
attack on both halves and of its baseline, whether it is found to work, and CPU seconds.
With --peers, anonymeter in an environment of its own makes three of these attacks on
the same tables.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd

from benchmarks import peers
from benchmarks.harness import Table, arguments, cpu, show
from dpcore.evaluation import attack_release
from dpcore.schema import suggest_schema
from workbench import samples

PEOPLE = 3_000
ATTEMPTS = 500
SECRET = "income"


def releases(inside: pd.DataFrame, others: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Tables of which is known what they give away."""
    rng = np.random.default_rng(1)
    schema = suggest_schema(inside)
    codes = schema.encode(inside)
    drawn = {
        column.name: column.decode(
            rng.choice(codes[column.name], len(inside)), rng
        ).to_numpy()
        for column in schema.columns
    }
    return {
        "copy": inside,
        "independent columns": pd.DataFrame(drawn),
        "other people": others,
    }


def lines(
    name: str,
    release: pd.DataFrame,
    inside: pd.DataFrame,
    control: pd.DataFrame,
    *,
    with_peers: bool,
) -> list[dict[str, Any]]:
    """One line per attack."""
    schema = suggest_schema(inside)
    seconds, found = cpu(
        lambda: attack_release(
            inside, release, schema, control=control, secret=SECRET, attempts=ATTEMPTS
        ),
    )
    theirs = None
    if with_peers:
        tables = {"original": inside, "release": release, "control": control}
        together = pd.concat(
            [table[list(found.columns)].assign(_of=of) for of, table in tables.items()]
        )
        theirs = peers.anonymeter(together, SECRET, ATTEMPTS)
    answers = []
    for each in found.attacks:
        line: dict[str, Any] = {
            "release": name,
            "attack": each.attack,
            "rate": each.rate.value,
            "control": each.control.value if each.control else None,
            "baseline": each.baseline.value,
            "works": "yes" if each.succeeds else "no",
            "CPU s of all": seconds,
        }
        if theirs:
            spent, rates = theirs.get(each.attack, (None, [None] * 3))
            line |= {
                "anonymeter": rates[0],
                "its control": rates[1],
                "its baseline": rates[2],
                "its CPU s": spent,
            }
        answers.append(line)
    return answers


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--peers", action="store_true", help="anonymeter as well, downloaded for it"
    )
    asked = parser.parse_args()
    people = samples.census().head(3 * PEOPLE)
    inside, control, others = (
        people.iloc[start : start + PEOPLE].reset_index(drop=True)
        for start in range(0, 3 * PEOPLE, PEOPLE)
    )
    answers = [
        line
        for name, release in releases(inside, others).items()
        for line in lines(name, release, inside, control, with_peers=asked.peers)
    ]
    show([Table(title="Attacks", lines=answers)], as_json=asked.json)


if __name__ == "__main__":
    main()
