"""Post-randomization (PRAM) of published columns; no guarantee by itself."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import ParameterError, UsageError, missing_column_error
from dpcore.schema.values import CanonicalColumn, canonicalize
from dpcore.tables.digests import row_messages, uniform_draws
from dpcore.tables.rows import Microdata


def post_randomize(table: Microdata, shares: Mapping[str, float]) -> pd.DataFrame:
    """Redraw cells by the invariant matrix of each column; missing ones stay.

    A cell is drawn anew with chance p, and then takes the value of a row that is drawn
    uniformly: value i stays with chance 1 - p (1 - s_i), and becomes j with p s_j,
    where s are the shares of values. Expected shares stay as they are. Draws are
    determined by the row, the name of the column and the table's key: the same table,
    in any order of rows, has the same draws in every plan, so that versions cannot be
    averaged.

    A cell is drawn anew at the times of a Poisson process, and shows the last draw
    before the time -ln(1 - p). So the table of a larger share is drawn from that of a
    smaller one,
    without access to the original: both together tell no more than that of the smaller
    share.

    Args:
        table: with a key if anything is to be drawn.
        shares: column -> p, in (0, 1].

    Raises: SchemaError for a column that is not there, UsageError without a key.

    Source: Gouweleeuw, Kooiman, Willenborg, de Wolf (1998), "Post randomisation for
    statistical disclosure control: theory and implementation", on invariant matrices.
    """
    if shares and not table.key:
        raise UsageError(
            "draws need the key of a ledger", remedy="anonymize by a curator"
        )
    frame = table.frame
    drawn = dict[str, pd.Series]()
    messages = row_messages(frame, table.key) if shares else []
    for name, share in shares.items():
        if name not in frame:
            raise missing_column_error(name)
        cells = canonicalize(frame[name])
        rank = np.argsort(
            np.argsort(np.array(cells.values, dtype=object), kind="stable")
        )
        place = cells.spread_to_rows(rank, -1)
        known = np.argsort(place, kind="stable")[np.count_nonzero(place < 0) :]
        drawn[name] = frame[name].take(
            _draw_source_rows(messages, known, table.key, name, share)
        )
        drawn[name] = drawn[name].set_axis(frame.index)
    return frame.assign(**drawn)


def check_no_copy(frame: pd.DataFrame, redrawn_names: Iterable[str]) -> None:
    """Refuse to redraw a column if another column has the same information.

    If both are drawn, cells that agree are almost surely true; if one stays as it is,
    it gives away the other.

    Args:
        frame: the columns that are published with values of their own.
        redrawn_names: names of those that are drawn anew.

    Raises: ParameterError that names both.
    """
    cells = {name: canonicalize(frame[name]) for name in frame.columns}
    for name in redrawn_names:
        for other in frame.columns:
            if other != name and _has_same_values(cells[name], cells[other]):
                raise ParameterError(
                    (
                        "columns {name!r} and {other!r} hold the same information, "
                        "so one would reveal the values that are drawn anew in the "
                        "other"
                    ),
                    remedy="leave one of them out of the anonymized table",
                    name=name,
                    other=other,
                )


def _has_same_values(left: CanonicalColumn, right: CanonicalColumn) -> bool:
    """Return whether the values of two columns determine each other.

    Both need more than one value. Columns without repeated values must have equal ones.
    """
    present = left.codes >= 0
    if not np.array_equal(present, right.codes >= 0):
        return False
    ours = pd.factorize(left.persons()[present])[0]
    theirs = pd.factorize(right.persons()[present])[0]
    if not np.array_equal(ours, theirs) or not ours.any():
        return False
    if ours.max() + 1 < len(ours):
        return True
    texts, others = (
        column.spread_to_rows(
            np.array([value[1:] for value in column.values], dtype=object), ""
        )
        for column in (left, right)
    )
    return np.array_equal(texts, others)


def _draw_source_rows(
    messages: Sequence[bytes],
    present_rows: npt.NDArray[np.int64],
    key: bytes,
    name: str,
    share: float,
) -> npt.NDArray[np.int64]:
    """Return the row from which each row takes its published value in a column.

    Args:
        messages: of the rows.
        present_rows: the rows with a value, in the order of values.
        key: of the table.
        name: of the column.
        share: of cells drawn anew.
    """
    rows = np.arange(len(messages))
    # At a share of 1 every cell is redrawn infinitely often; only the last draw counts,
    # and it does not depend on earlier ones
    if share == 1:
        _, which = uniform_draws(
            [messages[row] for row in present_rows], key, f"last draw of {name}"
        ).T
        rows[present_rows] = present_rows[(which * len(present_rows)).astype(np.int64)]
        return rows
    # Redraw repeatedly until each cell's Poisson time has passed; `undrawn` is the
    # chance that a cell has not been redrawn by its latest draw
    undrawn = np.ones(len(messages))
    waiting = np.sort(present_rows)
    number = 0
    while len(waiting):
        purpose = f"draws of {name}" if number == 0 else f"draw {number + 1} of {name}"
        wait, which = uniform_draws([messages[row] for row in waiting], key, purpose).T
        undrawn[waiting] *= 1 - wait
        in_time = undrawn[waiting] > 1 - share
        waiting = waiting[in_time]
        which = which[in_time]
        rows[waiting] = present_rows[(which * len(present_rows)).astype(np.int64)]
        number += 1
    return rows
