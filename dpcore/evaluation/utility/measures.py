"""Similarity measures, with their best values and values for comparison."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure of how alike a release and the original are.

    Attributes:
        key: short and stable.
        higher_is_better: its direction.
        perfect: score of a copy of the original.
        independent: score of a table of independent columns, each with the original's
            values; None if it depends on the original and is computed with it. It
            equals `perfect` for measures of single columns: such a table is no
            competitor there.
    """

    key: str
    higher_is_better: bool = False
    perfect: float = 0
    independent: float | None = None


COLUMN_DISTANCE = Measure(key="column", independent=0)
"""Total variation distance of one column: the share of rows that would have to
change.
"""

WASSERSTEIN = Measure(key="wasserstein", independent=0)
"""How far values would have to move on average, as a share of the declared range."""

DECILE_DIFFERENCE = Measure(key="quantiles", independent=0)
"""The largest difference of a decile, as a share of the declared range."""

PAIR_DISTANCE = Measure(key="pairs")
"""Mean total variation distance of the pairs of columns."""

TRIPLE_DISTANCE = Measure(key="triples")
"""The same of the triples."""

COARSE_PAIR_DISTANCE = Measure(key="relations")
"""Mean total variation distance of the pairs, of columns with an order in at most 20
wide cells.
"""

ASSOCIATION = Measure(key="association")
"""Mean difference of Cramér's V over the pairs of columns."""

CORRELATION = Measure(key="correlation")
"""Mean difference of Pearson's correlation over the pairs of columns with an order."""

QUERY_ERROR = Measure(key="queries")
"""Mean relative error of random questions about several columns, none counted above
1.
"""

IMPOSSIBLE_PAIRS = Measure(key="impossible")
"""Share of released rows with a pair of values that no row of the original has."""

PROPENSITY = Measure(key="propensity", higher_is_better=True, perfect=1)
"""How little a classifier tells the two tables apart: 1 not at all, 0 always."""


@dataclass(frozen=True, kw_only=True)
class MeasureScore:
    """The score of one release on one measure.

    Attributes:
        value: of the release.
        floor: of a second sample of the original, by chance alone; None if not
            computed.
        independent: of the original with each column in an order of its own.
        worst: the columns with the worst figure, if that means something.
    """

    measure: Measure
    value: float
    floor: float | None = None
    independent: float | None = None
    worst: tuple[str, ...] = ()

    @property
    def no_better_than_independent(self) -> bool:
        """Whether a table without any relation would have scored as well.

        Never of a single column.
        """
        if self.independent is None or self.measure.independent is not None:
            return False
        if self.measure.higher_is_better:
            return self.value <= self.independent
        return self.value >= self.independent
