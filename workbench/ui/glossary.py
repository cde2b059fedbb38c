"""The words of the field, each in one sentence."""

from __future__ import annotations

from workbench.ui.language import _

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
