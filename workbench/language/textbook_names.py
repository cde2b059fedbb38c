"""Names that textbooks use for what the pages show.

Titles of pages, lessons and forms are plain words. Whoever comes from a text looks for
its names, so they stand beside the thing.
"""

from workbench.language.messages import N_, _

TEXTBOOK_NAMES = {
    "lesson noise": N_("Laplace mechanism, neighboring data sets"),
    "lesson floats": N_(
        "sensitivity, discrete Laplace mechanism, floating-point attack"
    ),
    "lesson sequential": N_("sequential composition, privacy budget"),
    "lesson parallel": N_("parallel composition"),
    "lesson after": N_("post-processing"),
    "lesson ranges": N_("range query, percent error"),
    "lesson columns": N_("contingency table, curse of dimensionality"),
    "lesson holes": N_(
        "k-anonymity, l-diversity, linkage attack, homogeneity attack, "
        "re-identification"
    ),
    "lesson local": N_(
        "local differential privacy, randomized response, maximum likelihood"
    ),
    "lesson hiding": N_("cell suppression, complementary suppression, differencing"),
    "lesson unit": N_("user-level and event-level privacy, group privacy"),
    "lesson classes": N_(
        "covariance matrix, hierarchical clustering, feature-level microaggregation"
    ),
    "histogram": N_(
        "histogram, Laplace mechanism, Gaussian mechanism, one-way marginal"
    ),
    "marginals": N_("contingency table, crosstab, two-way marginal"),
    "table": N_("synthetic data, synthetic representation"),
    "learning": N_("generative model, normalization, feature-level microaggregation"),
    "statistics": N_("private mean, clipping bounds"),
    "range query": N_("range query, post-processing"),
    "drawn rows": N_("synthetic data, sampling"),
    "audit": N_("re-identification, linkage attack, homogeneity attack"),
    "anonymize": N_(
        "k-anonymity, generalization, suppression, outlier removal, global and local "
        "recoding"
    ),
    "local design": N_("randomized response, unary encoding, privacy budget"),
    "local answer": N_("perturbation, randomized response"),
    "local estimate": N_(
        "frequency estimation, maximum likelihood, discretization, stochastic rounding"
    ),
    "ledger": N_("privacy budget, sequential composition, parallel composition"),
    "questions": N_("range query, relative error, percent error"),
    "columns": N_("marginal distribution, total variation distance"),
    "pairs": N_("correlation, contingency table"),
    "utility": N_("utility, classification accuracy, mean squared error"),
}
"""Names by place, in the order of a reader: the nearest name first."""


def textbook_names(place: str) -> str:
    """Return a sentence that lists the textbook names for one place on a page."""
    return _("In textbooks: {names}").format(names=_(TEXTBOOK_NAMES[place]))
