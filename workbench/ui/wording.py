"""Words for people: errors, guarantees and terms as sentences. Every visible string goes through `_`."""

from __future__ import annotations

import gettext
import math
import re
from collections.abc import Mapping
from fractions import Fraction

from dpcore.accounting.ledger import Account
from dpcore.accounting.loss import UNIT, epsilon_of
from dpcore.errors import DpcoreError
from dpcore.release import Guarantee

_ = gettext.translation("workbench", localedir=None, fallback=True).gettext

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:@&^=/])")


def plain(text: object, *, at_most: int = 80) -> str:
    """A person's own text, such as a column name, so that Markdown shows it to the letter."""
    shown = "".join(sign if sign.isprintable() else " " for sign in str(text))
    shown = shown if len(shown) <= at_most else shown[: at_most - 1] + "…"
    return _MARKDOWN.sub(r"\\\1", shown)


def number(value: float) -> str:
    """A number with the digits that mean something."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "∞"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def amount(units: int, account: Account) -> str:
    """Units of the ledger as "epsilon 0.5" or "rho 0.0042"."""
    return f"{rule_unit(account)} {number(units / UNIT)}"


def rule_unit(account: Account) -> str:
    """The unit in which an account is kept."""
    return _("epsilon") if account.rule == "basic" else _("rho")


def budget_words(account: Account) -> str:
    """The whole promise of an account."""
    return loss_words(account.promise)


def loss_words(loss: Mapping[str, str]) -> str:
    """A stated loss, from the texts of its exact numbers."""
    numbers = {name: float(Fraction(text)) for name, text in loss.items()}
    name = "epsilon" if "epsilon" in numbers else "rho"
    delta = numbers.get("delta", 0.0) + numbers.get("threshold_delta", 0.0)
    if delta:
        return _("{name} {loss} with delta {delta:g}").format(
            name=_(name), loss=number(numbers[name]), delta=delta
        )
    return _("{name} {loss}").format(name=_(name), loss=number(numbers[name]))


def odds(epsilon: float, prior: float = 0.5) -> float:
    """The largest chance that somebody can come to assign to a person's being in the table.

    From Bayes' rule with a likelihood ratio of at most e^epsilon. Source: Kasiviswanathan, Smith (2014).
    """
    return 1 / (1 + (1 / prior - 1) * math.exp(-min(epsilon, 700)))


def epsilon_words(epsilon: float) -> str:
    """What an epsilon means, in one sentence."""
    sure = 100 * odds(epsilon)
    if sure > 99.99:
        return _("Someone who is 50 % sure that a person is in the table can become all but certain.")
    return _(
        "Someone who is 50 % sure that a person is in the table can become at most {sure} % sure."
    ).format(sure=number(sure) if sure < 99 else f"{sure:.2f}")


def epsilon_verdict(epsilon: float) -> str:
    """How strong a promise that is."""
    if epsilon <= 1:
        return _("A strong promise.")
    if epsilon <= 4:
        return _("A moderate promise, common in practice.")
    if epsilon <= 10:
        return _("A weak promise: think about who may see the result.")
    return _("Close to no promise. Choose less if you can.")


def spent_epsilon(units: int, account: Account) -> float:
    """What `units` amount to as epsilon: themselves, or by conversion at the account's delta."""
    if account.rule == "basic":
        return units / UNIT
    delta = float(Fraction(account.promise.get("delta", "1/1000000000")))
    return epsilon_of(units / UNIT, delta)


def guarantee_words(guarantee: Guarantee) -> list[str]:
    """What a release promises and what not, as sentences."""
    promise = _("Differentially private with {loss}.").format(loss=loss_words(guarantee.loss))
    sentences = [
        promise,
        _("Protects against learning whether one person is in the table: {unit}.").format(
            unit=plain(guarantee.unit, at_most=200)
        ),
    ]
    if guarantee.from_data:
        columns = ", ".join(plain(name) for name in guarantee.from_data)
        sentences.append(
            _("Not covered: bounds or categories that were taken from the data itself, of {columns}.").format(
                columns=columns
            )
        )
    sentences.append(_("Anything computed from this release alone is as safe as the release."))
    return sentences


def error_words(error: Exception) -> tuple[str, str]:
    """(what happened and why, what to do) for an error box; never a value from the table."""
    if isinstance(error, DpcoreError):
        return _sentence(error.problem), _sentence(error.remedy)
    return (
        _("Something went wrong here that the program did not foresee ({kind}).").format(
            kind=type(error).__name__
        ),
        _("Nothing was lost. Try again; if it happens again, report it with what you did."),
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


GLOSSARY: dict[str, str] = {
    "privacy unit": _("Whom the promise protects: one person, with all their rows up to a stated number."),
    "neighbouring relation": _("Two tables are neighbours when one person was added or removed."),
    "epsilon": _(
        "The privacy loss: how much more certain anybody can become about one person. Smaller is safer."
    ),
    "delta": _(
        "A small chance that the promise with epsilon does not hold. Keep it far below 1 / number of people."
    ),
    "rho": _(
        "The privacy loss in zero-concentrated differential privacy; many small releases add up better."
    ),
    "budget": _("All the loss that may ever be spent on one data set. It never grows."),
    "charge": _("What one release takes off the budget. There are no refunds."),
    "ledger": _("The book of all charges. A line is written before anything is read."),
    "domain": _("The cells a column can have, known without looking at the data."),
    "cell": _("One value, interval or combination of values that is counted."),
    "marginal": _("A table of noisy counts over one or several columns."),
    "sensitivity": _("How much one person can change the counts."),
    "synthetic table": _("Invented rows that follow the noisy counts. No row belongs to a person."),
    "total variation distance": _(
        "Half the sum of absolute differences of two distributions: 0 is equal, 1 is disjoint."
    ),
    "sampling floor": _("The distance that chance alone would bring between two samples of this size."),
    "quasi-identifier": _("A column that others may know about a person, such as age or zip code."),
    "sensitive attribute": _("A column whose value for a person should stay unknown."),
    "equivalence class": _("The rows that look alike in all quasi-identifiers."),
    "suppression": _("Replacing what others may know about a row by *, so that it hides in one large group."),
    "information loss": _("How much was generalized or suppressed: 0 is nothing, 1 is everything."),
    "post-processing": _("Whatever is computed from a release alone. It costs nothing."),
    "basic composition": _("Epsilons add up. Best for few, larger releases."),
    "zCDP": _("Losses add up in rho. Best for many small releases and for synthetic tables of many columns."),
}
