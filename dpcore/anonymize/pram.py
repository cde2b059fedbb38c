"""Post-randomization (PRAM) of columns that leave as they are; no guarantee by itself."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from dpcore.errors import UsageError, no_column
from dpcore.schema.values import canonical
from dpcore.tables.digests import row_draws
from dpcore.tables.rows import Microdata


def post_randomized(table: Microdata, shares: Mapping[str, float]) -> pd.DataFrame:
    """Return the rows with cells drawn anew by the invariant matrix of each column, missing ones as they are.

    A cell is drawn anew with chance p, and then takes the value of a row that is drawn uniformly: value i
    stays with chance 1 - p (1 - s_i), and becomes j with p s_j, where s are the shares of values. Expected
    shares stay as they are. A draw follows from the row, the name of the column and the table's key: the
    same table, in any order of rows, has the same draws by every plan, so that versions cannot be averaged.

    Args:
        table: with a key where anything is to be drawn.
        shares: column -> p, in (0, 1].
    Raises: SchemaError for a column that is not there, UsageError without a key.
    Source: Gouweleeuw, Kooiman, Willenborg, de Wolf (1998), "Post randomisation for statistical disclosure
        control: theory and implementation", on invariant matrices.
    """
    if shares and not table.key:
        raise UsageError("draws need the key of a ledger", remedy="anonymize by a curator")
    frame, drawn = table.frame, dict[str, pd.Series]()
    for name, share in shares.items():
        if name not in frame:
            raise no_column(name)
        cells = canonical(frame[name])
        rank = np.argsort(np.argsort(np.array(cells.values, dtype=object), kind="stable"))
        place = cells.put(rank, -1)
        known = np.append(np.argsort(place, kind="stable")[np.count_nonzero(place < 0) :], 0)
        anew, which = row_draws(frame, table.key, name).T
        others = known[(which * (len(known) - 1)).astype(np.int64)]
        rows = np.where((anew < share) & (place >= 0), others, np.arange(len(frame)))
        drawn[name] = frame[name].take(rows).set_axis(frame.index)
    return frame.assign(**drawn)
