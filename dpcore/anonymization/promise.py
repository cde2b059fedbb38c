"""The models that the table that leaves meets, in words, as its label."""

import numpy as np

from dpcore.anonymization.inputs import Inputs
from dpcore.anonymization.models import SensitiveModel
from dpcore.tables.classes import BoolArray, IntArray, class_index

EXCEPT = ", but for"
EARLIER = ", against the table before rows or values were left out"
"""What a text has where a model does not hold for all that leaves, or not by what
leaves alone.
"""


def promised(
    inputs: Inputs, classes: IntArray, *, hidden: BoolArray, leaves: BoolArray
) -> tuple[str, ...]:
    """Return one text for each model of a plan, true of the rows that leave, as a
    reader would count them.

    Every method sees to its models in the classes that are not suppressed, against all
    rows to be published. Judged here are the class of suppressed rows, where they
    leave, and models that compare classes with the whole table, since a table without
    some rows or values has another distribution. Of these the text says so where they
    hold by the chosen rows before some were left out alone.

    Args:
        inputs: the table and the plan.
        classes: (published rows,) class of each, by what it prints.
        hidden: (published rows,) whether it prints nothing but `*`.
        leaves: (published rows,) whether it is in the table that leaves.
    """
    plan = inputs.plan
    suppressed = hidden & leaves
    blanked = plan.suppressed == "blanked" and bool(suppressed.any())
    weights = inputs.published_weights
    number = int(suppressed.sum() if weights is None else weights[suppressed].sum())
    texts = []
    for model in plan.models:
        text = f"{model}"
        judged = leaves
        if isinstance(model, SensitiveModel) and blanked:
            text += f"{EXCEPT} {number} suppressed rows that leave without its values"
            judged = leaves & ~hidden
        if judged.any() and (model.compares_with_table or (suppressed & judged).any()):
            rows = inputs.among(judged)
            index = class_index([classes[judged]])
            groups = rows.groups(rows.spread(index))
            broken = model.violations(groups)
            together = np.zeros(len(groups.people), dtype=bool)
            together[index[hidden[judged]]] = True
            if model.compares_with_table and (broken & ~together).any():
                text += EARLIER + (
                    "" if inputs.subset is None else " of the research subset"
                )
            if (broken & together).any() or (model.joint and broken.any()):
                size = int(groups.people[together][0])
                text += (
                    f"{EXCEPT} {number} suppressed rows that leave as a group of {size}"
                )
        texts.append(text)
    return tuple(texts)
