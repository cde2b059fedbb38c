"""Terms that pages explain, each with its sentence in docs/glossary.md.

A test compares the two.
"""

from workbench.language.messages import N_

GLOSSARY = {
    "privacy unit": N_(
        "The person whom the promise protects, with all of their rows up to a "
        "stated number."
    ),
    "epsilon": N_(
        "The privacy loss: how much more certain anybody can become about one "
        "person. Smaller is safer."
    ),
    "delta": N_(
        "A small chance that the promise with epsilon does not hold. Keep it far "
        "below 1 / number of people."
    ),
    "budget": N_(
        "All the loss that may ever be spent on one data set. It never grows."
    ),
    "charge": N_(
        "The amount that one release takes off the budget. There are no refunds. "
        "Shares of the budget add up. Beside a share is the epsilon of that share "
        "alone: half of the budget can have more than half of its epsilon."
    ),
    "domain": N_(
        "The cells that a column can have. They are known without looking at the data."
    ),
    "cell": N_("One value, interval or combination of values that is counted."),
    "marginal": N_("A table of noisy counts over one or several columns."),
    "sensitivity": N_("How much one person can change the counts."),
    "quasi-identifier": N_(
        "A column that others may know about a person, such as age or zip code."
    ),
    "sensitive attribute": N_("A column whose value for a person should stay unknown."),
    "equivalence class": N_("The rows that look alike in all quasi-identifiers."),
    "suppression": N_(
        "Replacing the values that others may know about a row with *, so that the "
        "row hides in one large group."
    ),
    "sampling weight": N_(
        "The number of people in the population that one row of a sample stands "
        "for. Figures about groups that use this weight are estimates, never "
        "guarantees."
    ),
    "household risk": N_(
        "The chance that at least one person of a household is found, which gives "
        "away the whole household."
    ),
    "post-processing": N_(
        "Any computation that uses only a release. It costs nothing."
    ),
    "report": N_(
        "The randomly changed answer that is sent in place of a person's true answer."
    ),
    "basic composition": N_("Epsilons add up. Best for few, larger releases."),
    "zCDP": N_(
        "Losses add up in rho. Best for many small releases and for synthetic tables "
        "of many columns."
    ),
    "local model": N_(
        "People change their own answers at random before anything leaves them."
    ),
}
