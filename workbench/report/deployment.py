"""A release as an entry of the public registry of deployments, tier 3.

The registry's schema says what an entry holds. What the release knows is filled in from
the release alone, in English; `ENTRY_FIELDS` are asked for; nothing else is stated.
"""

import json
import math
import re
from collections.abc import Mapping
from datetime import date
from fractions import Fraction
from typing import Any

from dpcore.errors import ParameterError
from dpcore.release import Release
from dpcore.schema.schema import uncovered_facts
from dpcore.synthesis import (
    Figures,
    FoundCategories,
    GaussianModel,
    SyntheticModel,
    describe_recipe,
)
from workbench.language.catalogues import ENGLISH
from workbench.language.messages import (
    N_,
    _,
    join,
    join_with_commas,
    translate,
    translate_stored,
    use_language,
)
from workbench.language.wording import (
    counted_rows_words,
    exact_tables_words,
    found_cells_sentences,
    from_data_words,
    loss_words,
    make_printable,
    number,
    reading_words,
    unchecked_source_words,
    unit_words,
)

ENTRY_FIELDS = {
    "name": N_("Name of what is published"),
    "data_curators": N_("Who publishes it, one per line"),
    "intended_use": N_("What the release is meant for"),
    "data_product_region": N_("Region that the data describe, or whose law applies"),
    "publication_date": N_("Day of publication"),
    "justification": N_("Why this epsilon and this privacy unit were chosen"),
    "registry_authors": N_("Who fills in this entry, one per line"),
}
"""What an entry needs and no release knows."""
MAX_FIELD_CHARACTERS = 2_000
NOISE_NAMES = {
    "laplace": "discrete Laplace noise",
    "gaussian": "discrete Gaussian noise",
    "max norm": "noise of the K-norm mechanism in the maximum norm",
}
_MAX_SLUG_LETTERS = 60  # characters of an address


def missing_fields(field_texts: Mapping[str, str]) -> list[str]:
    """Return the fields of `ENTRY_FIELDS` without any text, in their order."""
    return [name for name in ENTRY_FIELDS if not _lines(field_texts.get(name, ""))]


def deployment_entry(
    release: Release, field_texts: Mapping[str, str]
) -> dict[str, Any]:
    """Return the registry entry of a release as nested dictionaries and lists.

    Args:
        release: what the entry is about.
        field_texts: a text for each of `ENTRY_FIELDS`; the day in ISO order.

    Raises: ParameterError for a field that is missing, too long or unknown, or for a day
        that is none.
    """
    _check_fields(field_texts)
    with use_language(ENGLISH):
        return _entry(release, field_texts)


def to_yaml(data: Mapping[str, Any]) -> str:
    """Return nested mappings, lists of texts, texts and numbers as YAML.

    Texts are quoted, so that none is read as a number, a day or a command.
    """
    return "".join(_yaml_lines(data, ""))


def _check_fields(field_texts: Mapping[str, str]) -> None:
    if unknown := [name for name in field_texts if name not in ENTRY_FIELDS]:
        raise ParameterError(
            "this field of the entry cannot be filled in by hand: {name}",
            remedy="leave it out: it is taken from the release",
            name=unknown[0],
        )
    for name, title in ENTRY_FIELDS.items():
        if name in missing_fields(field_texts):
            raise ParameterError(
                "a field of the entry is empty: {name}",
                remedy="fill it in",
                name=title,
            )
        if len(field_texts[name]) > MAX_FIELD_CHARACTERS:
            raise ParameterError(
                "a field of the entry is too long: {name}",
                remedy="write at most {most:,} characters",
                name=title,
                most=MAX_FIELD_CHARACTERS,
            )
    try:
        date.fromisoformat(field_texts["publication_date"])
    except ValueError as error:
        raise ParameterError(
            "the day of publication is not a valid date",
            remedy="write it as 2026-01-31",
        ) from error


def _entry(release: Release, field_texts: Mapping[str, str]) -> dict[str, Any]:
    text = {name: " ".join(_lines(given)) for name, given in field_texts.items()}
    guarantee = release.guarantee
    return {
        "url_slug": _slug(text["name"]),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": text["name"],
                "data_curators": _lines(field_texts["data_curators"]),
                "intended_use": text["intended_use"],
                "data_product_type": _product_type(release),
                "data_product_region": text["data_product_region"],
                "description": _description(release),
                "publication_date": text["publication_date"],
            },
            "dp_variant": {
                "variant_name": _variant(guarantee.loss),
                "data_domain": _data_domain(release),
                "unprotected_quantities": _unprotected_quantities(release),
            },
            "privacy_loss": {
                "privacy_unit": f"Person: {_printable_text(unit_words(release.schema.unit))}",
                "privacy_unit_details": " ".join(
                    filter(
                        None,
                        [
                            f"Neighbors: {_printable_text(translate_stored(guarantee.unit))}.",
                            counted_rows_words(release.schema.unit),
                            *unchecked_source_words(guarantee, escape=make_printable),
                        ],
                    )
                ),
                "privacy_parameters": _parameters(guarantee.loss),
                "privacy_parameters_details": _parameter_details(release),
            },
            "deployment_model": {
                "model_name": "Central",
                "model_name_details": (
                    "Noise was added where the rows are stored, before any result left."
                ),
                "release_type": "One release",
                "access_type": "Non-interactive",
                "access_type_details": (
                    "Questions are answered from the release alone, not from the rows."
                ),
            },
            "accounting": {
                "post_processing": (
                    "The model, probabilities and drawn rows of the release are "
                    "computed from its measurements alone."
                ),
                "composition": _composition_sentence(guarantee.loss),
            },
            "implementation": {
                "mechanisms": _mechanisms(release),
                "justification": text["justification"],
            },
            "administrative": {
                "notes": "SHA-256 of the release: "
                + json.loads(release.to_json())["digest"],
                "registry_authors": _lines(field_texts["registry_authors"]),
            },
        },
    }


def _printable_text(text: str) -> str:
    return make_printable(text, max_length=MAX_FIELD_CHARACTERS)


def _lines(text: str) -> list[str]:
    """Return the lines of a text that hold something, without invisible characters."""
    lines = (_printable_text(line).strip() for line in text.splitlines())
    return [line for line in lines if line]


def _slug(name: str) -> str:
    words = "-".join(re.findall(r"\w+", name.lower()))
    return words[:_MAX_SLUG_LETTERS].strip("-") or "deployment"


def _product_type(release: Release) -> str:
    draws_rows = isinstance(release.model, SyntheticModel | GaussianModel)
    return "Synthetic data" if draws_rows else "Summary statistics"


def _description(release: Release) -> str:
    what = _printable_text(translate(describe_recipe(release.recipe)))
    if release.part is None:
        return f"{what}."
    column, category = map(_printable_text, release.part)
    return f"{what}. " + _(
        "Only rows with {category} in {column} were counted."
    ).format(category=category, column=column)


def _variant(loss: Mapping[str, str]) -> str:
    has_delta = "delta" in loss or "threshold_delta" in loss
    if "epsilon" in loss:
        return "Approximate DP" if has_delta else "Pure DP"
    return "Custom" if has_delta else "Zero-concentrated DP"


def _parameters(loss: Mapping[str, str]) -> dict[str, float]:
    """Return the stated loss as numbers that are never below the exact ones."""
    main = "epsilon" if "epsilon" in loss else "rho"
    delta = sum(Fraction(loss.get(name, 0)) for name in ("delta", "threshold_delta"))
    exact = {main: Fraction(loss[main])} | ({"delta": delta} if delta else {})
    return {name: _round_up(value) for name, value in exact.items()}


def _round_up(exact: Fraction) -> float:
    value = float(exact)
    return value if Fraction(value) >= exact else math.nextafter(value, math.inf)


def _parameter_details(release: Release) -> str:
    loss = release.guarantee.loss
    sentences = [
        "Exact numbers: "
        + join_with_commas(f"{name} {loss[name]}" for name in loss)
        + "."
    ]
    if release.guarantee.stands_on:
        sentences.append(
            _(
                "This includes {losses} for earlier releases whose numbers were "
                "used for this one."
            ).format(
                losses=join([loss_words(each) for each in release.guarantee.stands_on])
            )
        )
    sentences += found_cells_sentences(release.guarantee.found, escape=make_printable)
    return " ".join(sentences)


def _data_domain(release: Release) -> str:
    columns = (
        f"{_printable_text(column.name)} ({column.size:,} cells)"
        for column in release.schema.columns
    )
    return f"Tables of any number of rows with the columns {join_with_commas(columns)}."


def _unprotected_quantities(release: Release) -> str:
    guarantee = release.guarantee
    sentences = []
    if taken := uncovered_facts(guarantee.from_data, guarantee.found):
        sentences.append(from_data_words(taken, escape=make_printable))
    if guarantee.reading_from_data:
        sentences.append(reading_words())
    sentences += exact_tables_words(guarantee)
    return " ".join(sentences) or (
        "The guarantee of the release names no such quantities."
    )


def _composition_sentence(loss: Mapping[str, str]) -> str:
    unit = "Epsilons" if set(loss) <= {"epsilon", "threshold_delta"} else "Rhos"
    return (
        f"{unit} of all draws of noise add up (sequential composition). The cells of one "
        "table share no row and cost once (parallel composition)."
    )


def _mechanisms(release: Release) -> str:
    sentences = ["Noise is drawn on whole numbers by OpenDP, not in floating point."]
    if isinstance(release.model, Figures | FoundCategories | GaussianModel):
        return sentences[0]
    for noise, name in NOISE_NAMES.items():
        tables = {
            " x ".join(map(_printable_text, clique)) or "number of rows": marginal
            for clique, marginal in release.marginals.items()
            if marginal.noise == noise
        }
        if tables:
            deviations = join_with_commas(
                f"{columns} ({number(marginal.measured_variance**0.5)})"
                for columns, marginal in tables.items()
            )
            sentences.append(
                f"Tables with {name}, and the standard deviation of a cell in rows: "
                f"{deviations}."
            )
    return " ".join(sentences)


def _yaml_lines(data: Mapping[str, Any], indent: str) -> list[str]:
    lines = []
    for key, value in data.items():
        if isinstance(value, Mapping):
            lines.append(f"{indent}{key}:\n")
            lines += _yaml_lines(value, indent + "  ")
        elif isinstance(value, list):
            lines.append(f"{indent}{key}:\n")
            lines += [f"{indent}  - {_yaml_scalar(each)}\n" for each in value]
        else:
            lines.append(f"{indent}{key}: {_yaml_scalar(value)}\n")
    return lines


def _yaml_scalar(value: str | float) -> str:
    """Write a quoted text, or a number with a point if it has an exponent.

    Without a point, YAML 1.1 reads 1e-09 as a text.
    """
    written = json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and "e" in written and "." not in written:
        return written.replace("e", ".0e")
    return written
