"""Names of protocols and mechanisms, and sentences about them."""

from collections.abc import Sequence

import dpcore.local as dl
from workbench.language.messages import N_, _, join_with_commas
from workbench.language.wording import escape_markdown, percent, percent_number
from workbench.local_dp.design import half_width

PROTOCOL_TITLES = {
    "randomized response": N_("Randomized response"),
    "subset selection": N_("Subset selection"),
    "optimized unary": N_("Optimized unary"),
    "symmetric unary": N_("Symmetric unary"),
    "local hashing": N_("Local hashing"),
    "Hadamard response": N_("Hadamard response"),
    "rounded response": N_("Rounded at random, then randomized response"),
    "Duchi": N_("Duchi's mechanism"),
    "piecewise": N_("Piecewise mechanism"),
    "true": N_("true"),
    "rounded at the middle": N_("Rounded at the middle (not private)"),
    "rounded at random": N_("Rounded at random (not private)"),
}

REPORT_SENTENCES = {
    "randomized response": N_(
        "A report is one of the answers: often the true one, otherwise any other."
    ),
    "subset selection": N_(
        "A report names a few answers; the true one is among them more often "
        "than any other."
    ),
    "optimized unary": N_(
        "A report says yes or no to every answer, each changed at random."
    ),
    "symmetric unary": N_(
        "A report says yes or no to every answer, each changed at random."
    ),
    "local hashing": N_(
        "A report sorts all answers into groups at random, and names one group."
    ),
    "Hadamard response": N_(
        "A report is a number that stands for about half of all answers."
    ),
}

WAY_SENTENCES = {
    "split": N_("Everybody answers all questions, each with epsilon {part}"),
    "sample": N_(
        "Everybody answers one question, drawn at random, with epsilon {epsilon}"
    ),
}


def plus_minus(share: float) -> str:
    """Write a half width of shares, in percent."""
    return f"± {percent_number(100 * share)}"


def recommendation_reason(options: Sequence[dl.ProtocolOption]) -> str:
    """Explain with numbers why the first of the recommended protocols comes first."""
    best = options[0]
    other = options[1]
    alike = [option for option in options[1:] if option.times_best < 1.005]
    if alike:
        return _(
            "{best} has the smallest error. Equally good, but less simple: {others}."
        ).format(
            best=_(PROTOCOL_TITLES[best.protocol.kind]),
            others=join_with_commas(
                _(PROTOCOL_TITLES[option.protocol.kind]) for option in alike
            ),
        )
    return _(
        "{best} has the smallest average error over the answers: {least}, compared "
        "with {more} for {other}."
    ).format(
        best=_(PROTOCOL_TITLES[best.protocol.kind]),
        least=plus_minus(half_width(best.standard_error)),
        more=plus_minus(half_width(other.standard_error)),
        other=_(PROTOCOL_TITLES[other.protocol.kind]),
    )


def error_verdict(option: dl.ProtocolOption) -> str:
    """Say whether the expected error is small enough to tell answers apart."""
    half = half_width(option.standard_error)
    fair = 1 / option.protocol.categories
    if half > fair:
        return _(
            "Too noisy to tell the answers apart: if {fair} of the people give an "
            "answer, the estimate may be anything from nobody to twice as many. Ask "
            "more people, or raise epsilon."
        ).format(fair=percent(fair))
    return _(
        "If {fair} of the people give an answer, the estimate is right within "
        "{half} in 95 of 100 surveys."
    ).format(
        fair=percent(fair),
        half=plus_minus(half),
    )


def coverage_sentence(estimate: dl.Estimate, truth: Sequence[float]) -> str:
    """Say for how many answers the interval holds the truth."""
    low, high = estimate.interval(0.95)
    covered = sum(
        bool(below <= true <= above)
        for below, true, above in zip(low, truth, high, strict=True)
    )
    return _(
        (
            "The interval contains the true share for {held} of {all} answers; it "
            "should for 95 of 100."
        ),
    ).format(held=covered, all=len(truth))


def most_said_sentence(
    answers: Sequence[str], low: Sequence[float], high: Sequence[float]
) -> str:
    """Say which answer is the most frequent, as far as its interval tells.

    "Most" is said of more than half of the people alone.

    Args:
        answers: that could be given.
        low, high: ends of intervals of their shares, which hold all together.
    """
    top = max(range(len(answers)), key=lambda place: low[place] + high[place])
    rivals = [end for place, end in enumerate(high) if place != top]
    if rivals and low[top] <= max(rivals):
        return _("Too noisy to tell which answer is the most frequent.")
    sentence = _("The most frequent answer is {answer}: {low} to {high} gave it.")
    if low[top] > 0.5:
        sentence = _(
            "Most people said {answer}: {low} to {high} of those who answered."
        )
    return " ".join(
        [
            sentence.format(
                answer=escape_markdown(answers[top]),
                low=percent(max(0.0, low[top])),
                high=percent(min(1.0, high[top])),
            ),
            _("That holds in 95 of 100 cases."),
        ]
    )
