"""What an attacker can learn from one release at most, given its noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from dpcore.accounting.attacker import (
    FALSE_ALARMS,
    gaussian_mu,
    max_true_positives,
    true_positives_of_mu,
    true_positives_of_steps,
)
from dpcore.accounting.composition import total_loss
from dpcore.accounting.loss import (
    ZCDP,
    ApproxDP,
    Loss,
    PureDP,
    loss_from_fields,
    split_loss,
)
from dpcore.mechanisms.sensitivity import gaussian_scale
from dpcore.release import Release
from dpcore.synthesis._marginals import FixedCliques
from dpcore.synthesis.base import Recipe, SomeColumns, load_recipe


def attacker_limits(release: Release) -> dict[float, float]:
    """Return the largest true positive rate at each of the `FALSE_ALARMS` rates.

    If the tables of the release were named in advance, they follow from the law of
    their noise; else, and if the release stands on others, from the stated loss. What
    private searches cost counts too. Facts that were taken from the data are not
    covered.
    """
    extra = float(Fraction(release.guarantee.loss.get("threshold_delta", "0")))
    return {
        rate: min(1.0, _max_true_positives(release, rate) + extra)
        for rate in FALSE_ALARMS
    }


def _max_true_positives(release: Release, false_alarms: float) -> float:
    """Return the largest true positive rate, before the threshold delta is added."""
    stated = stated_loss(release)
    paid = release.losses_paid
    if len(paid) > 1:  # private searches, of which no law is known here
        searched = [_parse_loss(fields) for fields in paid[1:]]
        return max_true_positives(total_loss([stated, *searched]), false_alarms)
    limit = max_true_positives(stated, false_alarms)
    parts = table_losses(release)
    if not parts:
        return limit
    if isinstance(stated, PureDP):
        epsilons = [float(part.amount) for part in parts]
        return min(limit, true_positives_of_steps(epsilons, false_alarms))
    rows = release.schema.unit.max_rows
    mus = [
        gaussian_mu(gaussian_scale(max_rows=rows, queries=1, rho=part.amount), rows)
        for part in parts
    ]
    known = [mu for mu in mus if mu is not None]
    if len(known) < len(mus):
        return limit
    return min(limit, true_positives_of_mu(math.hypot(*known), false_alarms))


def stated_loss(release: Release) -> Loss:
    """Return the loss that a release states, epsilon or rho."""
    return _parse_loss(release.guarantee.loss)


def _parse_loss(stated: Mapping[str, str]) -> Loss:
    fields = dict(stated)
    fields.pop("threshold_delta", None)
    loss = loss_from_fields(fields)
    return ZCDP(rho=loss.rho) if isinstance(loss, ApproxDP) else loss


def table_losses(release: Release) -> tuple[Loss, ...]:
    """Return the loss of each table that was named in advance.

    Empty if the recipe chose its tables, or if its loss is not all the release's own.
    """
    recipe = fixed_cliques_recipe(release)
    if recipe is None or release.guarantee.stands_on:
        return ()
    return split_loss(
        stated_loss(release), len(recipe.measured_cliques), recipe.clique_weights
    )


def fixed_cliques_recipe(release: Release) -> FixedCliques | None:
    """Return the recipe of a release if it names its tables in advance, else None."""
    recipe: Recipe | None = load_recipe(release.recipe)
    if isinstance(recipe, SomeColumns):
        recipe = recipe.recipe
    return recipe if isinstance(recipe, FixedCliques) else None
