"""The ARX reference: its table, its data, and its names for models and metrics as
ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from dpcore.anonymization.closeness import TCloseness
from dpcore.anonymization.fulldomain.metrics import (
    AverageClassSize,
    Discernibility,
    InformationLoss,
    Metric,
    NonUniformEntropy,
)
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.models import (
    DeltaPresence,
    DistinctL,
    EntropyL,
    KMap,
    PrivacyModel,
    RecursiveCL,
    SensitiveModel,
)

QI7 = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
)
SETUPS = {
    "qi7": QI7,
    "qi8": (*QI7, "salary-class"),
    "qi9": (*QI7, "occupation", "salary-class"),
}
SECRET = "occupation"
METRICS: dict[str, Metric] = {
    "loss_geomean": InformationLoss(),
    "loss_mean": InformationLoss(mean="arithmetic"),
    "discernibility": Discernibility(),
    "aecs": AverageClassSize(),
    "entropy": NonUniformEntropy(),
}


@dataclass(frozen=True)
class Adult:
    """The Adult table with ARX's hierarchies."""

    frame: pd.DataFrame
    hierarchies: dict[str, Hierarchy]

    @classmethod
    def read(cls, folder: Path) -> Adult:
        """Read ARX's example data."""
        frame = pd.read_csv(folder / "adult_30162.csv", sep=";")
        files = {
            name: (folder / f"adult_hierarchy_{name}.csv").read_text()
            for name in frame.columns
        }
        return cls(
            frame, {name: Hierarchy.from_csv(text) for name, text in files.items()}
        )

    def tuples(self, setup: str, models: list[PrivacyModel]) -> Tuples:
        """The tuples of a setup, with the sensitive column or the research subset that
        the models need.

        The subset is every tenth row, from the first on: the reference does not say so,
        but its rows agree.
        """
        secret = any(isinstance(model, SensitiveModel) for model in models)
        population = any(isinstance(model, KMap | DeltaPresence) for model in models)
        return Tuples.build(
            self.frame,
            {name: self.hierarchies[name] for name in SETUPS[setup]},
            sensitive={SECRET: self.hierarchies[SECRET]} if secret else {},
            subset=np.arange(len(self.frame)) % 10 == 0 if population else None,
        )


def reference(path: Path) -> pd.DataFrame:
    """The reference rows, with k (1 for none) apart from the `others`."""
    rows = pd.read_csv(path)
    k = rows["privacy_model"].str.extract(r"^k:(\d+)")[0].fillna("1").astype(int)
    return rows.assign(
        k=k, others=rows["privacy_model"].str.replace(r"^k:\d+\+?", "", regex=True)
    )


def models_of(text: str) -> list[PrivacyModel]:
    """The models that `others` names, such as recursive:4:3."""
    return [_model_of(part) for part in text.split("+") if part]


def _model_of(text: str) -> PrivacyModel:
    name, *numbers = text.split(":")
    a, b = (*map(float, numbers), 0.0)[:2]
    makers = {
        "kmap": lambda: KMap(k=int(a)),
        "dpres": lambda: DeltaPresence(lowest=a, highest=b),
        "distinct_l": lambda: DistinctL(column=SECRET, l=int(a)),
        "entropy_l": lambda: EntropyL(column=SECRET, l=a),
        "recursive": lambda: RecursiveCL(column=SECRET, c=a, l=int(b)),
        "t_equal": lambda: TCloseness(column=SECRET, t=a),
        "t_hier": lambda: TCloseness(column=SECRET, t=a, distance="hierarchical"),
    }
    return makers[name]()
