"""A guided example: small tables on which k-anonymity and its limits can be counted by hand."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from dpcore.anonymize.disclosure import attribute_risk
from dpcore.anonymize.encoding import equivalence_classes, leaves_of
from dpcore.anonymize.risk import reidentification_risk
from workbench.wording import _


@dataclass(frozen=True, kw_only=True)
class Step:
    """One table of the example.

    Attributes:
        known: the columns that others know.
        says: what there is to see.
    """

    title: str
    known: tuple[str, ...]
    rows: tuple[tuple[str, str, str], ...]
    says: str
    columns: tuple[str, ...] = ("zip", "age", "disease")

    def frame(self) -> pd.DataFrame:
        """The rows."""
        return pd.DataFrame(list(self.rows), columns=list(self.columns))

    def counted(self) -> tuple[int, int]:
        """k by the known columns, and how many diseases every group holds at least; counted, not stated."""
        frame = self.frame()
        classes = equivalence_classes(frame, self.known)
        secret = attribute_risk(classes, leaves_of(frame, "disease").codes)
        return reidentification_risk(classes, threshold=0.5).k, secret.distinct_l

    def text(self) -> str:
        """What there is to see, with k and l as counted."""
        k, l = self.counted()  # noqa: E741
        return _("k = {k}, l = {l}. {says}").format(k=k, l=l, says=self.says)


_PAIRS = (
    ("336**", "20-29", "heart disease"),
    ("336**", "20-29", "heart disease"),
    ("336**", "30-49", "infectious disease"),
    ("336**", "30-49", "cancer"),
)

STEPS = (
    Step(
        title=_("1. As it was collected"),
        known=("zip", "age"),
        rows=(
            ("33617", "24", "flu"),
            ("23620", "41", "heart disease"),
            ("23622", "43", "cancer"),
            ("33617", "29", "heart disease"),
        ),
        says=_("Everybody is alone with their zip and age: whoever knows both finds the disease."),
    ),
    Step(
        title=_("2. Coarser, in pairs"),
        known=("zip", "age"),
        rows=(
            ("33617", "20-29", "flu"),
            ("236**", "40-49", "heart disease"),
            ("236**", "40-49", "cancer"),
            ("33617", "20-29", "heart disease"),
        ),
        says=_("Ages became tens, and one pair's zip lost two digits. Each row now looks like one other."),
    ),
    Step(
        title=_("3. Pairs that give the secret away"),
        known=("zip", "age"),
        rows=_PAIRS,
        says=_(
            "k still holds, but both people in their twenties have heart disease: "
            "nobody needs to be singled out."
        ),
    ),
    Step(
        title=_("4. Wider groups"),
        known=("zip", "age"),
        rows=tuple((zip_code, "20-49", disease) for zip_code, _age, disease in _PAIRS),
        says=_("One group of four with three diseases. The price is the age, which now says little."),
    ),
)
