"""Which models the table that leaves meets, in words: what it may be labelled with."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpcore.anonymize.closeness import TCloseness
from dpcore.anonymize.groups import Groups, Rows
from dpcore.anonymize.inputs import secrets_of
from dpcore.anonymize.models import SensitiveModel
from dpcore.anonymize.plan import Plan
from dpcore.tables.classes import BoolArray, IntArray, class_index
from dpcore.tables.rows import Held

EXCEPT = ", but for"
EARLIER = ", against the table before rows or values were left out"
"""How a text goes on where a model does not hold for all that leaves, or not by what leaves alone."""


def promised(
    plan: Plan,
    rows: pd.DataFrame,
    classes: IntArray,
    *,
    hidden: BoolArray,
    leaves: BoolArray,
    weights: IntArray | None = None,
    held: Held | None = None,
) -> tuple[str, ...]:
    """One text for each model of a plan, true of the rows that leave, as a reader of them would count.

    Every method sees to its models in the classes that are not suppressed, against all rows to be published.
    Judged here are the class of suppressed rows, where they leave, and t-closeness, since a table without
    some rows or values has another distribution.

    Args:
        rows: to be published, as they were: the sensitive values and whose they are.
        classes: (rows,) class of each, by what it prints.
        hidden: (rows,) whether it prints nothing but `*`.
        leaves: (rows,) whether it is in the table that leaves.
        weights, held: of distinct tuples in place of rows: rows of each, and who holds them.
    """

    def groups(there: BoolArray) -> tuple[Groups, IntArray]:
        """Some of the rows as models see them, and the class of each."""
        index = class_index([classes[there]])
        if weights is None:
            return Rows.of(rows[there], secrets_of(plan), plan.counted).groups(index), index
        some = None if held is None else held.within(there)
        of = Rows.of(rows[there], secrets_of(plan), weights=weights[there], held=some)
        return of.groups(index if some is None else index[some.place]), index

    suppressed = hidden & leaves
    blanked = plan.suppressed == "blanked" and bool(suppressed.any())
    number = int(suppressed.sum() if weights is None else weights[suppressed].sum())
    texts = []
    for model in plan.models:
        text, judged = f"{model}", leaves
        if isinstance(model, SensitiveModel) and blanked:
            text += f"{EXCEPT} {number} suppressed rows that leave without its values"
            judged = leaves & ~hidden
        if judged.any() and (isinstance(model, TCloseness) or (suppressed & judged).any()):
            found, index = groups(judged)
            broken, together = model.violations(found), np.zeros(len(found.people), dtype=bool)
            together[index[hidden[judged]]] = True
            if isinstance(model, TCloseness) and (broken & ~together).any():
                text += EARLIER
            if (broken & together).any():
                size = int(found.people[together][0])
                text += f"{EXCEPT} {number} suppressed rows that leave as a group of {size}"
        texts.append(text)
    return tuple(texts)
