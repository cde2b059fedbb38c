"""A guided example: small tables of a textbook, on which k-anonymity and its limits can be counted by hand.

The tables are numbered as in the book. Its rows are shown where they are known; where only the counts are,
as in 6.1, 6.5 and 6.6, the rows are made up to these counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from dpcore.risk.disclosure import AttributeRisk, attribute_risk
from dpcore.risk.reidentification import reidentification_risk
from dpcore.tables.classes import IntArray, equivalence_classes, leaves_of
from workbench.ui.language import N_, _
from workbench.ui.wording import number

TABLES = {
    "6.1": pd.DataFrame({"zip": ["33617"] * 2 + ["23620"] * 3, "age": [24] * 2 + [41] * 3}),
    "6.2": pd.DataFrame({"zip": ["33617", "23620", "23622", "33617"], "age": [24, 41, 43, 29]}),
    "6.3": pd.DataFrame(
        {"zip": ["33617", "236**", "236**", "33617"], "age": ["20-29", "40-49", "40-49", "20-29"]}
    ),
    "6.4": pd.DataFrame({"zip": ["33617", "23620", "23622", "33617", "19352"], "age": [24, 41, 43, 29, 12]}),
    "6.5": pd.DataFrame(
        {
            "zip": ["33617", "33617", "33620", "33620"],
            "age": [24, 24, 41, 41],
            "disease": ["flu", "cancer", "heart disease", "heart disease"],
        }
    ),
    "6.6": pd.DataFrame(
        {
            "zip": ["33617"] * 4 + ["33620"] * 4,
            "age": [24, 24, 45, 45, 27, 27, 48, 48],
            "disease": [
                *("heart disease", "cancer", "infectious disease", "infectious disease"),
                *("heart disease", "infectious disease", "cancer", "cancer"),
            ],
        }
    ),
}
TABLES["6.6, repaired"] = TABLES["6.6"].assign(age="20-49")


@dataclass(frozen=True, kw_only=True)
class Step:
    """One table of the example.

    Attributes:
        table: its number.
        title, says: what there is to see.
        known: sets of columns that others may know; k and l are counted by each.
    """

    table: str
    title: str
    says: str
    known: tuple[tuple[str, ...], ...] = (("zip", "age"),)

    def frame(self) -> pd.DataFrame:
        """The rows."""
        return TABLES[self.table]

    def counted(self) -> list[str]:
        """k, and l where a disease is to stay unknown, by each set of known columns; counted, not stated."""
        return [
            _("By {columns}: {counts}.").format(columns=", ".join(by), counts=self._counts(by))
            for by in self.known
        ]

    def _counts(self, by: tuple[str, ...]) -> str:
        classes = equivalence_classes(self.frame(), by)
        k = reidentification_risk(classes, threshold=0.5).k
        if "disease" not in self.frame():
            return _("k = {k}").format(k=k)
        secret = self._secret(classes)
        return _("k = {k}, l = {l}, entropy l = {entropy}").format(
            k=k, l=secret.distinct_l, entropy=number(secret.entropy_l)
        )

    def _secret(self, classes: IntArray) -> AttributeRisk:
        return attribute_risk(classes, leaves_of(self.frame(), "disease").codes)


STEPS = (
    Step(
        table="6.1",
        title=N_("Everybody has company"),
        says=N_("Two people share one zip and age, three another: the smallest group gives k."),
    ),
    Step(
        table="6.2",
        title=N_("As it was collected"),
        says=N_(
            "Everybody is alone with their zip and age. The book prints 33620 in place of 23620, from which "
            "the next table could not be made: 33620 would become 336**."
        ),
    ),
    Step(
        table="6.3",
        title=N_("Coarser, in pairs"),
        says=N_(
            "Ages became tens, and one pair's zip lost two digits; the other pair kept its zip. With one "
            "level for the whole column, 33617 would become 336** too: this is local recoding."
        ),
    ),
    Step(
        table="6.4",
        title=N_("One who is unlike all others"),
        says=N_(
            "Without the row of 19352, which is 20 % of the rows, the table before is reached. To keep it, "
            "the zip would have to go altogether, and ages to become 10-49."
        ),
    ),
    Step(
        table="6.5",
        title=N_("A group that shares its secret"),
        says=N_(
            "k holds, but both people of 33620 have heart disease: whoever knows that a neighbor is in the "
            "table knows the disease, without finding the row."
        ),
    ),
    Step(
        table="6.6",
        title=N_("Different diseases, but not for those who know the age"),
        known=(("zip",), ("zip", "age")),
        says=N_(
            "The book calls this table diverse. By zip alone it is; with the age, which is in the table and "
            "can be known, two people of 45 in 33617 share one disease. No tool may assume that nobody knows."
        ),
    ),
    Step(
        table="6.6, repaired",
        title=N_("Wider groups"),
        says=N_("Groups of four with three diseases each. The price is the age, which now says little."),
    ),
)
