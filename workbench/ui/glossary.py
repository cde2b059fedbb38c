"""The words of the field, each in one sentence."""

from __future__ import annotations

from workbench.ui.language import N_, Words

GLOSSARY = Words(
    {
        "privacy unit": N_(
            "Whom the promise protects: one person, with all their rows up to a stated number."
        ),
        "neighboring relation": N_("Two tables are neighbors when one person was added or removed."),
        "epsilon": N_(
            "The privacy loss: how much more certain anybody can become about one person. Smaller is safer."
        ),
        "delta": N_(
            "A small chance that the promise with epsilon does not hold. "
            "Keep it far below 1 / number of people."
        ),
        "rho": N_(
            "The privacy loss in zero-concentrated differential privacy; many small releases add up better."
        ),
        "budget": N_("All the loss that may ever be spent on one data set. It never grows."),
        "charge": N_("What one release takes off the budget. There are no refunds."),
        "ledger": N_("The book of all charges. A line is written before anything is read."),
        "domain": N_("The cells a column can have, known without looking at the data."),
        "cell": N_("One value, interval or combination of values that is counted."),
        "marginal": N_("A table of noisy counts over one or several columns."),
        "sensitivity": N_("How much one person can change the counts."),
        "synthetic table": N_("Invented rows that follow the noisy counts. No row belongs to a person."),
        "total variation distance": N_(
            "Half the sum of absolute differences of two distributions: 0 is equal, 1 is disjoint."
        ),
        "sampling floor": N_("The distance that chance alone would bring between two samples of this size."),
        "quasi-identifier": N_("A column that others may know about a person, such as age or zip code."),
        "sensitive attribute": N_("A column whose value for a person should stay unknown."),
        "equivalence class": N_("The rows that look alike in all quasi-identifiers."),
        "suppression": N_(
            "Replacing what others may know about a row by *, so that it hides in one large group."
        ),
        "information loss": N_("How much was generalized or suppressed: 0 is nothing, 1 is everything."),
        "post-processing": N_("Whatever is computed from a release alone. It costs nothing."),
        "basic composition": N_("Epsilons add up. Best for few, larger releases."),
        "zCDP": N_(
            "Losses add up in rho. Best for many small releases and for synthetic tables of many columns."
        ),
    }
)
