"""Describe the privacy models that a published table meets."""

import numpy as np

from dpcore.anonymization.inputs import Inputs
from dpcore.anonymization.models import SensitiveModel
from dpcore.tables.classes import BoolArray, IntArray, class_index

EXCEPTION_TEXT = ", but for"
EARLIER_TABLE_TEXT = ", against the table before rows or values were left out"
"""Additions to a model's text: exceptions, and models of the table before deletions."""


def describe_models(
    inputs: Inputs,
    classes: IntArray,
    *,
    is_suppressed: BoolArray,
    is_published: BoolArray,
) -> tuple[str, ...]:
    """Describe each model, with the exceptions that hold for the published rows.

    Every method meets its models in the classes that are not suppressed, compared with
    all rows to be published. Checked here are the class of suppressed rows, if they
    leave, and models that compare classes with the whole table, since leaving out rows
    or values changes its distribution. If such a model holds only against the table
    before that, its text says so.

    Args:
        inputs: the table and the plan.
        classes: (published rows,) classes of rows with the same labels.
        is_suppressed: (published rows,) whether a row is suppressed.
        is_published: (published rows,) whether it is in the table that leaves.
    """
    plan = inputs.plan
    suppressed = is_suppressed & is_published
    blanked = plan.suppressed == "blanked" and bool(suppressed.any())
    weights = inputs.published_weights
    number = int(suppressed.sum() if weights is None else weights[suppressed].sum())
    texts = []
    for model in plan.models:
        text = f"{model}"
        checked = is_published
        if isinstance(model, SensitiveModel) and blanked:
            text += f"{EXCEPTION_TEXT} {number} suppressed rows that leave without its values"
            checked = is_published & ~is_suppressed
        if checked.any() and (
            model.compares_with_table or (suppressed & checked).any()
        ):
            rows = inputs.select_rows(checked)
            index = class_index([classes[checked]])
            groups = rows.group_by_class(rows.expand_to_rows(index))
            broken = model.violations(groups)
            together = np.zeros(len(groups.people), dtype=bool)
            # Mark the class of suppressed rows
            together[index[is_suppressed[checked]]] = True
            if model.compares_with_table and (broken & ~together).any():
                text += EARLIER_TABLE_TEXT + (
                    "" if inputs.is_in_subset is None else " of the research subset"
                )
            if (broken & together).any() or (model.joint and broken.any()):
                size = int(groups.people[together][0])
                text += f"{EXCEPTION_TEXT} {number} suppressed rows that leave as a group of {size}"
        texts.append(text)
    return tuple(texts)
