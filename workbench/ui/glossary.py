"""The words of the field, each in one sentence; docs/glossary.md is the same, and a test compares them."""

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
        "recipe": N_("A frozen description of what to learn from a table."),
        "release": N_("What may leave, with its guarantee."),
        "link": N_("An address that shows one release to whoever has it, until it ends or is revoked."),
        "release file": N_("A release as one file, which opens and answers questions without the table."),
        "guarantee": N_("What is promised, for whom, and what is not covered."),
        "ledger": N_("The book of all charges. A line is written before anything is read."),
        "domain": N_("The cells a column can have, known without looking at the data."),
        "cell": N_("One value, interval or combination of values that is counted."),
        "clique": N_("A tuple of column names that are counted together."),
        "counts": N_("Exact numbers of rows per cell: private."),
        "marginal": N_("A table of noisy counts over one or several columns."),
        "workload": N_("The cliques that should come out right."),
        "measurement": N_("A noisy answer to one question about the rows."),
        "mechanism": N_("The law that noise is drawn from."),
        "event": N_("The record of one draw in the ledger: what was read, with which noise."),
        "sensitivity": N_("How much one person can change the counts."),
        "synthetic table": N_("Invented rows that follow the noisy counts. No row belongs to a person."),
        "total variation distance": N_(
            "Half the sum of absolute differences of two distributions: 0 is equal, 1 is disjoint."
        ),
        "sampling floor": N_("The distance that chance alone would bring between two samples of this size."),
        "direct identifier": N_("A column that names a person."),
        "quasi-identifier": N_("A column that others may know about a person, such as age or zip code."),
        "sensitive attribute": N_("A column whose value for a person should stay unknown."),
        "equivalence class": N_("The rows that look alike in all quasi-identifiers."),
        "generalization hierarchy": N_("Steps from exact values to *, which says nothing."),
        "level": N_("One step of a generalization hierarchy."),
        "lattice node": N_("One level for every quasi-identifier."),
        "suppression": N_(
            "Replacing what others may know about a row by *, so that it hides in one large group."
        ),
        "unique set": N_(
            "Columns by which a row is like nobody else's, while fewer of them would not do. Few columns, "
            "and many such sets, make a row easy to find."
        ),
        "sampling weight": N_(
            "How many people of the population a row of a sample stands for. What it says of groups is an "
            "estimate, never a guarantee."
        ),
        "household risk": N_(
            "The chance that at least one person of a household is found, and all of them with that one."
        ),
        "information loss": N_("How much was generalized or suppressed: 0 is nothing, 1 is everything."),
        "post-processing": N_("Whatever is computed from a release alone. It costs nothing."),
        "report": N_("What leaves a person in place of the true answer: it was changed at random."),
        "basic composition": N_("Epsilons add up. Best for few, larger releases."),
        "zCDP": N_(
            "Losses add up in rho. Best for many small releases and for synthetic tables of many columns."
        ),
        "local model": N_("People change their own answers at random before anything leaves them."),
        "protocol": N_("The law by which an answer becomes a report, and reports become estimates."),
        "support": N_("A report supports the answers that it speaks for; protocols differ in which."),
        "frequency estimate": N_("How common an answer is, computed from reports."),
        "invitation": N_("A link for one person that takes one report."),
        "control": N_(
            "People of the same kind as those in a release, who are not in it: "
            "what works on them too is no leak."
        ),
        "baseline": N_("What an attacker reaches without the release."),
        "canary": N_(
            "An invented person, planted with chance one half: guessing who was in bounds epsilon from below."
        ),
        "relations kept": N_(
            "How much of what pairs of columns tell, beyond single columns, is in a release."
        ),
    }
)
