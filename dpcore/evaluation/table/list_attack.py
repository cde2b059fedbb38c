"""Linkage attack on an anonymized table, with a list of known people.

It uses the hierarchies of the table's plan.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.plan import Plan
from dpcore.errors import LimitError, ParameterError, no_common_columns_error
from dpcore.release import AnonymizedTable
from dpcore.risk.linkage import Linkage
from dpcore.schema.values import SUPPRESSED, list_texts

MAX_GROUPS = 20_000  # of the table; each person is compared with all of them
_PEOPLE_PER_BLOCK = 1_000  # compared at once, to bound memory


def attack_with_list(anonymized: AnonymizedTable, people: pd.DataFrame) -> Linkage:
    """Link a list of known people to the table, after recoding it like the table.

    The list is compared in its quasi-identifiers. A row may be somebody's if each of
    its labels there is the person's value, or the label of that value on some level.
    Every such row counts; `*` fits everybody. Reads the published rows, and of the plan
    the hierarchies.

    Raises: ParameterError for a method that cuts freely, whose labels are no levels of
        a hierarchy, and for a list without any of the columns; LimitError for too many
        groups.
    """
    plan = Plan.from_json(anonymized.plan)
    names = [name for name in plan.quasi_identifiers if name in people]
    if not plan.method.needs_hierarchies:
        raise ParameterError(
            (
                "this method cuts its groups freely, so a list cannot be recoded by "
                "levels"
            ),
            remedy="use the full-domain method, or weaken the requirements",
        )
    if not names or people.empty:
        raise no_common_columns_error()
    published = anonymized.table.frame
    groups = pd.DataFrame(
        {name: list_texts(published[name]) for name in names}
    ).value_counts(sort=False)
    if len(groups) > MAX_GROUPS:
        raise LimitError(
            "the table has {groups} groups, more than {limit}",
            remedy="raise k",
            groups=len(groups),
            limit=MAX_GROUPS,
        )
    sizes = groups.to_numpy()
    fits = [
        _labels_of_leaves(
            plan.hierarchies[name], groups.index.get_level_values(name).tolist()
        )
        for name in names
    ]
    leaves = [plan.hierarchies[name].encode(people[name]) for name in names]
    met = np.zeros(len(people), dtype=np.int64)
    for first in range(0, len(people), _PEOPLE_PER_BLOCK):
        block = slice(first, first + _PEOPLE_PER_BLOCK)
        agree = np.logical_and.reduce(
            [fit[column[block]] for fit, column in zip(fits, leaves, strict=True)]
        )
        met[block] = agree @ sizes
    matches = met[met > 0]
    return Linkage(
        people=len(people),
        matched_people=len(matches),
        unique_matches=int((matches == 1).sum()),
        smallest_class_rows=int(matches.min()) if len(matches) else 0,
        expected_correct=float((1 / matches).sum()),
    )


def _labels_of_leaves(
    hierarchy: Hierarchy, labels: Sequence[str]
) -> npt.NDArray[np.bool_]:
    """Return a mask, shape (leaves + 1, groups), of labels that may stand for a leaf.

    The last row is for a value without a path.
    """
    own = [
        np.array(level, dtype=object) for level in (hierarchy.values, *hierarchy.levels)
    ]
    shown = np.array(labels, dtype=object)
    of_leaves = np.logical_or.reduce(
        [level[:, None] == shown[None, :] for level in own]
    )
    return np.vstack([of_leaves, shown[None, :] == SUPPRESSED])
