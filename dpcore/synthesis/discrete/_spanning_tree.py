"""A private spanning tree of the strongest pairs, and their measurement.

Source: the MST mechanism (McKenna, Miklau, Sheldon 2021, "Winning the NIST contest",
section 4): one-way counts, rare values merged, a maximum spanning tree of the pairs by
their distance from independence, and its edges measured. Ours asks for all distances in
one release if Gaussian noise makes that cheap.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from dpcore.accounting.loss import Loss, PureDP, split_loss
from dpcore.mechanisms.measurer import Measurer
from dpcore.schema.domain import Clique
from dpcore.synthesis.discrete._workload import (
    FIT_NOISE_FACTOR,
    expected_error,
    split_over_cliques,
)
from dpcore.synthesis.graph.junction_tree import BoundedTree
from dpcore.tables.counts import Marginal, Values

SELECTION_SHARE = Fraction(7, 100)  # of what the one-way counts leave


def measure_tree_pairs(
    measurer: Measurer,
    estimates: Mapping[Clique, Values],
    loss: Loss,
    tree: BoundedTree,
) -> tuple[Marginal, ...]:
    """Choose a spanning tree of pairs and measure those that fit within the limit.

    Pairs with many cells are penalized: the noise expected to remain after the fit is
    subtracted from their distance.

    Args:
        measurer: of the table over groups.
        estimates: pairs -> their counts if columns were independent. If empty, all of
            the loss goes to the columns alone.
        loss: spent whole.
        tree: the present junction tree, to which the edges are added; only constraints
            can fill it.
    """
    domain = tree.domain
    if not estimates:
        return measurer.measure([(name,) for name in domain.names], loss)
    spend = loss.share(1 - SELECTION_SHARE)
    count = len({name for pair in estimates for name in pair}) - 1
    penalties = {
        pair: FIT_NOISE_FACTOR
        * expected_error(
            domain.cells(pair), spend.share(Fraction(1, count)), measurer.rows
        )
        for pair in estimates
    }
    edges = choose_spanning_tree(
        measurer, estimates, penalties, loss.share(SELECTION_SHARE)
    )
    cliques = [edge for edge in edges if tree.add(edge)] or [
        (name,) for name in domain.names
    ]
    return measurer.measure(cliques, spend, split_over_cliques(domain, cliques, spend))


def choose_spanning_tree(
    measurer: Measurer,
    estimates: Mapping[Clique, Values],
    penalties: Mapping[Clique, float],
    loss: Loss,
) -> list[Clique]:
    """Privately choose pairs that connect all columns, preferring large distances.

    Gaussian noise: all distances in one release, then the maximum spanning tree, which
    is free. Laplace noise on so many distances would cost more than the d - 1 private
    choices that Prim's algorithm needs.

    Args:
        measurer: of the table over groups.
        estimates: pairs -> the counts from which distances are taken.
        penalties: pairs -> rows subtracted from the distance.
        loss: spent whole if the pairs join all columns.
    """
    columns = {name: frozenset({name}) for pair in estimates for name in pair}
    edges: list[Clique] = []
    if not isinstance(loss, PureDP):
        gaps = measurer.measure_gaps(estimates, loss)
        for pair in sorted(
            gaps, key=lambda pair: gaps[pair] - penalties[pair], reverse=True
        ):
            a, b = (columns[name] for name in pair)
            if a != b:
                edges.append(pair)
                columns.update(dict.fromkeys(a | b, a | b))
        return edges
    joined = {next(iter(columns))}
    for step in split_loss(loss, len(columns) - 1):
        across = {
            pair: table
            for pair, table in estimates.items()
            if len(joined & set(pair)) == 1
        }
        if across:
            edges.append(measurer.select_clique(across, step, penalties))
            joined |= set(edges[-1])
    return edges


def triangle_closing_pairs(
    pairs: Sequence[Clique], edges: Sequence[Clique]
) -> list[Clique]:
    """Return the pairs with a common neighbor along the edges.

    They enlarge a junction tree least.
    """
    near = _neighbors(edges)
    return [(a, b) for a, b in pairs if near.get(a, set()) & near.get(b, set())]


def triangles(names: Sequence[str], cliques: Sequence[Clique]) -> list[Clique]:
    """Return the triples whose three pairs are all among these cliques."""
    pairs = [clique for clique in dict.fromkeys(cliques) if len(clique) == 2]
    near = _neighbors(pairs)
    triples = {frozenset((a, b, c)) for a, b in pairs for c in near[a] & near[b]}
    place = {name: at for at, name in enumerate(names)}
    return sorted(
        (tuple(sorted(triple, key=place.__getitem__)) for triple in triples),
        key=lambda triple: [place[name] for name in triple],
    )


def _neighbors(edges: Sequence[Clique]) -> dict[str, set[str]]:
    near: dict[str, set[str]] = {}
    for a, b in edges:
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    return near
