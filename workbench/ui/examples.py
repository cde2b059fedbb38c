"""A guided example: small textbook tables for counting k-anonymity by hand.

The tables are numbered as in the book, and their rows are its rows. Whatever is said to
come out of them is computed here, by the same functions that the page uses.
"""

import functools
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dpcore.anonymization.apply import apply
from dpcore.anonymization.hierarchies.builders import build_masks
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.methods import LocalRecoding
from dpcore.anonymization.models import DistinctL, KAnonymity
from dpcore.anonymization.plan import Plan
from dpcore.risk.disclosure import measure_attribute_risk
from dpcore.risk.reidentification import measure_reidentification_risk
from dpcore.schema.role import Role
from dpcore.tables.classes import equivalence_classes, leaves_of
from workbench.language.messages import N_, _, join_with_commas
from workbench.language.wording import number

BOOK_REFERENCE = N_(
    "The book is Chang, Zhuang, Samaraweera: Privacy-Preserving Machine Learning "
    "(2023), chapter 6."
)
_EXAMPLE_DATA = tomllib.loads(
    Path(__file__).with_name("examples.toml").read_text(encoding="utf-8")
)
TABLES = {
    table["number"]: pd.DataFrame(table["rows"], columns=table["columns"])
    for table in _EXAMPLE_DATA["table"]
}

_AGE_VALUES = tuple(
    str(age) for age in sorted({*TABLES["6.2"]["age"], *TABLES["6.4"]["age"]})
)
_KNOWN_ROLES: dict[str, Role] = {"zip": "quasi-identifier", "age": "quasi-identifier"}
_ZIP_HIERARCHY = build_masks(
    sorted({*TABLES["6.2"]["zip"], *TABLES["6.4"]["zip"]}), (2, 5)
)
_AGE_TENS_HIERARCHY = Hierarchy(
    values=_AGE_VALUES,
    levels=(
        _AGE_VALUES,
        tuple(f"{age[0]}0-{age[0]}9" for age in _AGE_VALUES),
        ("10-49",) * len(_AGE_VALUES),
        ("*",) * len(_AGE_VALUES),
    ),
)
_AGE_WIDE_HIERARCHY = Hierarchy(
    values=("20-29", "40-49"),
    levels=(("20-29", "40-49"), ("20-49", "20-49"), ("*", "*")),
)
_ZIP_MASKED_HIERARCHY = Hierarchy(values=("33***",), levels=(("33***",), ("*",)))


def recode_pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Recode each pair of rows locally with k = 2 (turns Table 6.2 into Table 6.3)."""
    return _anonymize(table, method=LocalRecoding())


def suppress_outlier(table: pd.DataFrame) -> pd.DataFrame:
    """Suppress at most one row in five, then recode pairs (turns Table 6.4 into
    6.3).
    """
    kept = (_anonymize(table, limit=0.2, suppressed="kept") != "*").any(axis=1)
    return recode_pairs(table[kept.to_numpy()].reset_index(drop=True))


def keep_outlier(table: pd.DataFrame) -> pd.DataFrame:
    """Reach k = 2 without suppressing any row of Table 6.4."""
    return _anonymize(table, limit=0, suppressed="kept")


def reach_diversity(table: pd.DataFrame) -> pd.DataFrame:
    """Reach k = 2 and three diseases in every group of Table 6.6."""
    return _anonymize(
        table,
        roles={**_KNOWN_ROLES, "disease": "sensitive"},
        hierarchies={"zip": _ZIP_MASKED_HIERARCHY, "age": _AGE_WIDE_HIERARCHY},
        models=(KAnonymity(k=2), DistinctL(column="disease", l=3)),
        limit=0,
    )


def _anonymize(table: pd.DataFrame, **options: Any) -> pd.DataFrame:
    usual: dict[str, Any] = {
        "roles": _KNOWN_ROLES,
        "hierarchies": {"zip": _ZIP_HIERARCHY, "age": _AGE_TENS_HIERARCHY},
        "models": (KAnonymity(k=2),),
    }
    return apply(table, Plan(**usual | options))


def infer_disease(table: pd.DataFrame, **known: str) -> pd.DataFrame:
    """Return the diseases of a person, with their chances, from what is known."""
    matching = table[(table[list(known)] == pd.Series(known)).all(axis=1)]
    chances = matching["disease"].value_counts(normalize=True)
    return pd.DataFrame({"disease": chances.index, _("chance"): chances.to_numpy()})


@dataclass(frozen=True, kw_only=True)
class ExampleTable:
    """One table of the example.

    Attributes:
        number: number of the table in the book.
        description: what there is to see, in a sentence or two.
        known_column_sets: sets of columns that others may know; k and l are counted by each.
        operations: what is done with the table, in a few words, and what does it when
            it is shown.
    """

    number: str
    description: str
    known_column_sets: tuple[tuple[str, ...], ...]
    operations: tuple[tuple[str, Callable[[pd.DataFrame], pd.DataFrame]], ...]

    def frame(self) -> pd.DataFrame:
        """Return the rows of the table."""
        return TABLES[self.number]

    def count_k_and_l(self) -> list[str]:
        """Count k, and l of a sensitive disease, for each set of known columns."""
        return [
            _("By {columns}: {counts}.").format(
                columns=join_with_commas(by), counts=self._count_words(by)
            )
            for by in self.known_column_sets
        ]

    def _count_words(self, by: tuple[str, ...]) -> str:
        classes = equivalence_classes(self.frame(), by)
        k = measure_reidentification_risk(classes, threshold=0.5).k
        if "disease" not in self.frame():
            return _("k = {k}").format(k=k)
        risk = measure_attribute_risk(classes, leaves_of(self.frame(), "disease").codes)
        return _("k = {k}, l = {l}, entropy l = {entropy}").format(
            k=k,
            l=risk.distinct_l,
            entropy=number(risk.entropy_l),
        )


@functools.cache
def compute_results(
    step: ExampleTable, language: str
) -> tuple[list[str], list[pd.DataFrame]]:
    """Return the counts of a table and the results of its operations.

    They are computed once per language.
    """
    return step.count_k_and_l(), [run(step.frame()) for _says, run in step.operations]


_OPERATIONS: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "in pairs": recode_pairs,
    "without the outlier": suppress_outlier,
    "with the outlier": keep_outlier,
    "learned by zip": lambda table: infer_disease(table, zip="33620"),
    "learned by age": lambda table: infer_disease(table, age="40-49"),
    "repaired": reach_diversity,
}
EXAMPLES = tuple(
    ExampleTable(
        number=table["number"],
        description=table["says"],
        known_column_sets=tuple(map(tuple, table.get("known", [["zip", "age"]]))),
        operations=tuple(
            (says, _OPERATIONS[made])
            for made, says in table.get("operations", {}).items()
        ),
    )
    for table in _EXAMPLE_DATA["table"]
)
