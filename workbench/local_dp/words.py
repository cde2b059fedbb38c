"""Names of protocols and mechanisms, and sentences about them."""

from collections.abc import Sequence

import dpcore.local as dl
from workbench.local_dp.design import half_width
from workbench.ui.language import Words, _, commas
from workbench.ui.wording import hundredths, percent

TITLES = Words("local_dp.titles")

REPORTS = Words("local_dp.reports")

WAYS = Words("local_dp.ways")

NOTES = Words("local_dp.notes")


def plus_minus(share: float) -> str:
    """Write a half width of shares, in percent."""
    return f"± {hundredths(100 * share)}"


def reason(options: Sequence[dl.Option]) -> str:
    """Explain with numbers why the first of the recommended protocols comes first."""
    best, other = options[0], options[1]
    alike = [each for each in options[1:] if each.times_best < 1.005]
    if alike:
        return _("{best} errs least, and no more than {others}, which is less simple.").format(
            best=TITLES[best.protocol.kind], others=commas(TITLES[each.protocol.kind] for each in alike)
        )
    return _("{best} errs least, on average over the answers: {least}, against {more} of {other}.").format(
        best=TITLES[best.protocol.kind],
        least=plus_minus(half_width(best.standard_error)),
        more=plus_minus(half_width(other.standard_error)),
        other=TITLES[other.protocol.kind],
    )


def verdict(option: dl.Option) -> str:
    """Say whether the expected error leaves anything to see."""
    half = half_width(option.standard_error)
    fair = 1 / option.protocol.categories
    if half > fair:
        return NOTES["noisy"].format(fair=percent(fair))
    return _("An answer that {fair} give comes out within {half} in 95 of 100 surveys.").format(
        fair=percent(fair), half=plus_minus(half)
    )


def coverage(estimate: dl.Estimate, truth: Sequence[float]) -> str:
    """Say for how many answers the interval holds the truth."""
    low, high = estimate.interval(0.95)
    covered = sum(bool(below <= true <= above) for below, true, above in zip(low, truth, high, strict=True))
    return _(
        "The interval holds the true share of {held} of {all} answers; 95 of 100 intervals should."
    ).format(held=covered, all=len(truth))
