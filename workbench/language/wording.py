"""Words for people: errors, guarantees and terms as sentences.

Every visible string goes through `_`.
"""

import contextlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from fractions import Fraction

from dpcore.accounting.attacker import FALSE_ALARMS, max_true_positives
from dpcore.accounting.loss import Loss, PureDP, epsilon_of_rho, loss_fields
from dpcore.errors import DpcoreError
from dpcore.release import Guarantee
from dpcore.schema import PrivacyUnit
from dpcore.schema.origin import CellSearch
from dpcore.schema.schema import LEFT_OUT_MARK, ROW_FACTS_MARK, uncovered_facts
from dpcore.synthesis import RowCount
from dpcore.synthesis.statistics import Figure
from workbench.language.messages import (
    N_,
    _,
    join,
    join_with_commas,
    localize_number,
    ngettext,
    percent_sign,
    problem_and_remedy,
    retranslate,
    translate_stored,
    translate_table,
)

SAMPLE_TITLES = {
    "census": N_("Census"),
    "hospital": N_("Hospital visits"),
    "customers": N_("Customers"),
    "patients": N_("Patients in China"),
}
SAMPLE_DESCRIPTIONS = {
    "census": N_(
        "20,000 invented people: education, work, family, income. One row is one "
        "person."
    ),
    "hospital": N_(
        "5,000 invented visits: names, zip codes, birth dates, diagnoses. One to "
        "eight per person."
    ),
    "customers": N_(
        "12,000 invented customers of a company: age, occupation, marital status. "
        "One row is one person."
    ),
    "patients": N_(
        "2,000 invented patients in Chinese: names, resident ids, birth dates, "
        "postal codes, diagnoses. One row is one person."
    ),
}
PLAINLY_PUBLIC = N_("plainly public")
"""From where facts are known that any table of this kind has."""
ROLE_WORDS = {
    "identifier": N_("identifier"),
    "quasi-identifier": N_("quasi-identifier"),
    "sensitive": N_("sensitive"),
    "insensitive": N_("insensitive"),
    "undecided": N_("not decided"),
}
COUNTED_WORDS = {
    "people": N_("people"),
    "rows": N_("rows"),
    "households": N_("households"),
    "events": N_("events"),
}
"""What is counted: units of the size of a group, and events of linked tables."""
LOSS_UNIT_WORDS = {
    "epsilon": N_("epsilon"),
    "rho": N_("rho"),
}
SURENESS_SENTENCES = {
    "presence": N_(
        "Someone who is 50 % sure that a person is in the table could become "
        "at most {sure} % sure by seeing this."
    ),
    "presence, certain": N_(
        "Someone who is 50 % sure that a person is in the table can become all but "
        "certain."
    ),
    "answer": N_(
        "Someone who is 50 % sure of your answer could become at most {sure} %"
        " sure by seeing this."
    ),
    "answer, certain": N_(
        "Someone who is 50 % sure of your answer can become all but certain."
    ),
}
FACT_NAMES = {
    "low": N_("low"),
    "high": N_("high"),
    "categories": N_("categories"),
    "special": N_("special numbers, each with its own cell"),
    "missing": N_("cell for missing"),
    "missing_tokens": N_("means missing"),
    "other": N_("cell for other"),
    "kind": N_("kind"),
    "cuts": N_("cuts"),
    "bin_width": N_("step"),
    "step": N_("step"),
    "decimals": N_("decimals"),
    "written": N_("how times are written"),
    "start": N_("column that holds the start"),
    "unit": N_("unit"),
    "synonyms": N_("counts as"),
    "unreadable_is_missing": N_("what cannot be read"),
    "spellings": N_("joined spellings"),
    "true_label": N_("text for true"),
    "false_label": N_("text for false"),
    "ordered": N_("order"),
    LEFT_OUT_MARK: N_("whether left out"),
    ROW_FACTS_MARK: N_("facts that hold for every row"),
}
_ROUND_CHANCES = {
    1e6: N_("1 in a million"),
    1e9: N_("1 in a billion"),
    1e12: N_("1 in a trillion"),
}
DEFAULT_DELTA = "1e-9"
"""Far below one in the number of people of any table here."""
_IS_PRINTING = ContextVar("printed", default=False)
_ESCAPED_SIGN = re.compile(r"\\([^A-Za-z0-9\s])")
_AUTOLINK_POSITION = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)
"""Places without which Markdown makes no link of an address."""
_WORD_JOINER = "\u2060"
_MARKDOWN_SIGN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:@&^=/])")


def make_printable(text: object, *, max_length: int = 80) -> str:
    """Replace invisible characters, such as text-direction marks; shorten long
    texts.
    """
    shown = "".join(sign if sign.isprintable() else " " for sign in str(text))
    return shown if len(shown) <= max_length else shown[: max_length - 1] + "…"


def escape_markdown(text: object, *, max_length: int = 80) -> str:
    """Escape a text that a person typed, so that Markdown shows it literally."""
    return _MARKDOWN_SIGN.sub(
        r"\\\1",
        _AUTOLINK_POSITION.sub(
            _WORD_JOINER, make_printable(text, max_length=max_length)
        ),
    )


def strip_markdown(text: str) -> str:
    """Remove the Markdown escapes from a sentence, for a page without Markdown."""
    return _ESCAPED_SIGN.sub(r"\1", text).replace(_WORD_JOINER, "")


def number(value: float) -> str:
    """Write a number with three significant digits, without decimals from 1,000 on."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "∞"
    if abs(value) >= 1000:
        return whole_number_text(value)
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.{decimals}f}"
    return localize_number(text.rstrip("0").rstrip(".") if "." in text else text)


def loss_number(loss: Fraction) -> str:
    """Write a privacy loss, rounded up to three digits so as not to understate it."""
    is_whole = loss >= 1000  # then `number` writes no decimals
    return number(math.ceil(loss) if is_whole else _round_up(loss, 3))


def _round_up(value: Fraction, significant_digits: int) -> float:
    """Round a number up to so many significant digits."""
    if not value:
        return 0.0
    step = Fraction(10) ** (math.floor(math.log10(value)) - significant_digits + 1)
    return float(math.ceil(value / step) * step)


def whole_number_text(value: float) -> str:
    """Write a count of rows or people without decimals."""
    return (
        localize_number(str(round(value)), grouped=True)
        if math.isfinite(value)
        else "∞"
    )


def figure_words(figure: Figure) -> str:
    """Write the value of a statistic.

    A quantile, which is known to its cell, is written with the cell's bounds.
    """
    low, high = figure.cell or (figure.value, figure.value)
    if low == high:
        return number(figure.value)
    return _("between {low} and {high}, middle {value}").format(
        low=number(low),
        high=number(high),
        value=number(figure.value),
    )


def unit_words(unit: PrivacyUnit, *, is_linked: bool = False) -> str:
    """Describe the privacy unit in a few words.

    Args:
        is_linked: whether it is that of the events of two linked tables.
    """
    if unit.id_column is None and unit.max_rows == 1:
        return _("each row is one person")
    if is_linked:
        return _linked_unit_words(unit)
    rows = ngettext("{number} row", "{number} rows", unit.max_rows)
    if unit.id_column is None:
        return _("a person has at most {rows} (declared, not checked)").format(
            rows=rows
        )
    if unit.from_data:
        rows = _("{rows} (a number that was taken from the data)").format(rows=rows)
    if unit.found:
        epsilon = loss_number(Fraction(unit.found))
        rows = _("{rows} (found privately, for epsilon {epsilon})").format(
            rows=rows, epsilon=epsilon
        )
    return _("people by {column}, at most {rows} each").format(
        column=unit.id_column, rows=rows
    )


def _linked_unit_words(unit: PrivacyUnit) -> str:
    """Describe the unit of two linked tables in a few words."""
    words = ngettext(
        "one person with all rows in both tables; at most {number} event of a person "
        "counts",
        "one person with all rows in both tables; at most {number} events of a person "
        "count",
        unit.max_rows,
    )
    if unit.from_data:
        return _("{unit} (a number that was taken from the data)").format(unit=words)
    if unit.found:
        return _("{unit} (found privately, for epsilon {epsilon})").format(
            unit=words, epsilon=loss_number(Fraction(unit.found))
        )
    return words


def counted_rows_words(unit: PrivacyUnit) -> str:
    """Say how many rows of each person were counted at most.

    Empty if all rows count.
    """
    return (
        ""
        if unit.id_column is None
        else ngettext(
            (
                "At most 1 row of each person was counted, so these numbers are "
                "people, not visits."
            ),
            (
                "At most {number} rows of each person were counted. Any "
                "further rows are left out."
            ),
            unit.max_rows,
        )
    )


def loss_words(loss: Mapping[str, str]) -> str:
    """Write a privacy loss whose exact numbers are given as texts."""
    numbers = {name: Fraction(text) for name, text in loss.items()}
    name = "epsilon" if "epsilon" in numbers else "rho"
    delta = sum(numbers.get(part, Fraction(0)) for part in ("delta", "threshold_delta"))
    if delta:
        return _("{name} {loss} with delta {delta}").format(
            name=_(LOSS_UNIT_WORDS[name]),
            loss=loss_number(numbers[name]),
            delta=delta_words(_round_up(Fraction(delta), 6)),
        )
    return _("{name} {loss}").format(
        name=_(LOSS_UNIT_WORDS[name]), loss=loss_number(numbers[name])
    )


def delta_words(delta: float) -> str:
    """Write a chance as "1 in a billion"."""
    times = 1 / delta
    for size, words in _ROUND_CHANCES.items():
        if math.isclose(times, size, rel_tol=1e-9):
            return _(words)
    return _("1 in {times}").format(times=number(times))


def max_membership_probability(epsilon: float, prior: float = 0.5) -> float:
    """Return the highest probability of membership that an attacker can reach.

    From Bayes' rule with a likelihood ratio of at most e^epsilon and the given
    prior. Source: Kasiviswanathan, Smith (2014).
    """
    return 1 / (1 + (1 / prior - 1) * math.exp(-min(epsilon, 700)))


def epsilon_words(epsilon: float) -> str:
    """Explain an epsilon in one sentence."""
    return _sureness_sentence("presence", epsilon)


def answer_words(epsilon: float) -> str:
    """Explain an epsilon to a person who answers a survey."""
    return _sureness_sentence("answer", epsilon)


def _sureness_sentence(subject: str, epsilon: float) -> str:
    sure = 100 * max_membership_probability(epsilon)
    if sure > 99.99:
        return _(SURENESS_SENTENCES[f"{subject}, certain"])
    return _(SURENESS_SENTENCES[subject]).format(
        sure=number(sure) if sure < 99 else localize_number(f"{sure:.2f}")
    )


def attacker_words(limits: Mapping[float, float]) -> str:
    """Write the largest share of people whom an attacker can find, rounded up.

    Args:
        limits: most true positives at each of `FALSE_ALARMS`.
    """
    strict, loose = (
        localize_number(f"{math.ceil(1_000 * limits[rate] - 1e-6) / 10:g}")
        for rate in FALSE_ALARMS
    )
    return _(
        "An attacker who knows all other rows and accepts a false-alarm rate of 1 % "
        "finds at most {strict} % of the people in the table. At a rate of 5 %, it "
        "is at most {loose} %."
    ).format(strict=strict, loose=loose)


def pair_sentences(loss: Loss) -> list[str]:
    """Explain the loss of both halves of a release of linked tables together."""
    epsilon = (
        float(loss.epsilon)
        if isinstance(loss, PureDP)
        else epsilon_of_rho(float(loss.rho), float(DEFAULT_DELTA))
    )
    return [epsilon_words(epsilon), attacker_words(pair_limits(loss))]


def pair_limits(loss: Loss) -> dict[float, float]:
    """Return the largest true positive rate at each of the `FALSE_ALARMS` rates.

    Args:
        loss: of both halves of a release of linked tables.
    """
    return {rate: max_true_positives(loss, rate) for rate in FALSE_ALARMS}


def other_half_words(loss: Loss) -> str:
    """Say that the other half of a release is about the same people.

    Args:
        loss: of both halves together.
    """
    together = _(
        "The other half of this release, people or events, is about the same people. "
        "Their losses add up to {loss}. For somebody who sees both halves:"
    ).format(loss=loss_words(loss_fields(loss)))
    return " ".join([together, *pair_sentences(loss)])


def row_count_sentences(count: RowCount, counted: str = "") -> list[str]:
    """Write an estimated number of rows in sentences, with its interval if measured.

    Args:
        counted: noun of what was counted; rows if not given.
    """
    rows = _("About {rows} {counted}.").format(
        rows=whole_number_text(count.value), counted=counted or _("rows")
    )
    if not count.is_measured:
        return [
            rows,
            _(
                "This number comes from the model, because no table of these "
                "columns was measured. It is wrong if the columns are related in "
                "another way, and no interval can say by how much.",
            ),
        ]
    low, high = map(whole_number_text, (count.low, count.high))
    return [
        rows,
        _("The true number lies between {low} and {high} in 95 of 100 cases.").format(
            low=low, high=high
        ),
    ]


def epsilon_verdict(epsilon: float) -> str:
    """Judge the strength of an epsilon in a few words."""
    if epsilon <= 1:
        return _("A strong promise.")
    if epsilon <= 4:
        return _("A moderate promise, common in practice.")
    if epsilon <= 10:
        return _("A weak promise: think about who may see the result.")
    return _("Close to no promise. Choose less if you can.")


def guarantee_words(
    guarantee: Guarantee, *, escape: Callable[..., str] = escape_markdown
) -> list[str]:
    """Write what a release promises and what it does not.

    `escape` makes people's own texts harmless.
    """
    sentences = [
        _("Differentially private with {loss}.").format(
            loss=loss_words(guarantee.loss)
        ),
        _(
            "Limits what anybody can learn about whether one person is in the "
            "table. Protected change: {unit}."
        ).format(
            unit=escape(translate_stored(guarantee.unit), max_length=200),
        ),
    ]
    if guarantee.stands_on:
        sentences.append(
            _(
                "This includes {losses} for earlier releases whose numbers were "
                "used for this one."
            ).format(
                losses=join([loss_words(loss) for loss in guarantee.stands_on]),
            ),
        )
    if taken := uncovered_facts(guarantee.from_data, guarantee.found):
        sentences.append(from_data_words(taken, escape=escape))
    if guarantee.reading_from_data:
        sentences.append(reading_words())
    sentences += found_cells_sentences(guarantee.found, escape=escape)
    for source in dict.fromkeys(guarantee.known_from.values()):
        columns = join_with_commas(
            escape(name)
            for name, origin in guarantee.known_from.items()
            if origin == source
        )
        sentences.append(
            _("Declared from outside knowledge ({source}): {columns}.").format(
                source=escape(source_words(source), max_length=200),
                columns=columns,
            ),
        )
    sentences += unchecked_source_words(guarantee, escape=escape)
    sentences += exact_tables_words(guarantee)
    sentences.append(
        _("Anything computed from this release alone is as safe as the release.")
    )
    return sentences


def source_words(source: str) -> str:
    """Return from where facts are known, in the current language if it is proposed."""
    return retranslate(source, PLAINLY_PUBLIC)


def from_data_words(
    taken: Mapping[str, Sequence[str]], *, escape: Callable[..., str] = escape_markdown
) -> str:
    """Write the sentence that names facts taken from the data itself, by column."""
    columns = [
        f"{escape(name)} ({join_with_commas(map(fact_words, facts))})"
        for name, facts in taken.items()
        if tuple(facts) != (LEFT_OUT_MARK,)
    ]
    not_read = [
        name for name, facts in taken.items() if tuple(facts) == (LEFT_OUT_MARK,)
    ]
    if not_read:
        columns.append(
            f"{join_with_commas(map(escape, not_read))} ({fact_words(LEFT_OUT_MARK)})"
        )
    words = _("Not covered, because it was taken from the data itself: {facts}.")
    return words.format(facts="; ".join(columns))


def reading_words() -> str:
    """Write the sentence that says a file's format was detected from the file
    itself.
    """
    return _(
        "Not covered: the format of the file, because it was detected from the file "
        "itself (encoding, separator, header, first line, sheet, decimal sign, "
        "order of dates). The cells of one person can change how all cells are read."
    )


def fact_words(fact: str) -> str:
    """Name a fact of a declaration."""
    return translate_table(FACT_NAMES).get(fact, fact)


def one_label_words(names: Sequence[str]) -> str:
    """Name the columns of a table that have the same label in every row."""
    return ngettext(
        "{columns} says nothing any more: every row has the same label.",
        "{columns} say nothing any more: every row has the same label.",
        len(names),
        columns=list_names(names),
    )


def found_cells_words(
    columns: Iterable[str],
    loss: Mapping[str, str],
    *,
    escape: Callable[..., str] = escape_markdown,
) -> str:
    """Name the columns whose cells were found privately, and the charge."""
    words = _(
        "Found privately, for another {loss}: the cells of {columns}. The table "
        "itself was used only to see whether they hold whole numbers or decimals.",
    )
    return words.format(
        loss=loss_words(loss),
        columns=join_with_commas(escape(name) for name in columns),
    )


def found_cells_sentences(
    found: Mapping[str, CellSearch], *, escape: Callable[..., str] = escape_markdown
) -> list[str]:
    """Write one sentence per private search of cells, with its columns and charge."""
    return [
        found_cells_words(
            search.columns or [name for name, own in found.items() if own == search],
            search.loss,
            escape=escape,
        )
        for search in dict.fromkeys(found.values())
    ]


def exact_tables_words(guarantee: Guarantee) -> list[str]:
    """Write the sentence about exact tables that were published from the same data."""
    tables = guarantee.exact_tables
    return [exact_tables_sentence(tables)] if tables else []


def exact_tables_sentence(tables: int) -> str:
    """Say that a promise does not cover exact tables of the same data."""
    return ngettext(
        "Not covered: {number} exact table of counts was published from the same "
        "data. Its counts have no noise.",
        "Not covered: {number} exact tables of counts were published from the same "
        "data. Their counts have no noise.",
        tables,
    )


def unchecked_source_words(
    guarantee: Guarantee, *, escape: Callable[..., str] = escape_markdown
) -> list[str]:
    """Write the sentence about a source whose rows cannot be checked."""
    if not guarantee.declared_by:
        return []
    return [
        _(
            "{name} declared that each row of the source comes from one person. "
            "Nobody has checked this. If it is not true, this promise does not hold.",
        ).format(name=escape(guarantee.declared_by, max_length=80)),
    ]


def error_words(error: DpcoreError) -> tuple[str, str]:
    """Return the problem and remedy of an error as sentences for an error box."""
    problem, remedy = problem_and_remedy(error)
    return _capitalize_sentence(problem), _capitalize_sentence(remedy)


def _capitalize_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """Write figures for a printed file in this block.

    Shares are in whole percent, and no count of people from 1 to 10 is printed.
    """
    before = _IS_PRINTING.set(True)
    try:
        yield
    finally:
        _IS_PRINTING.reset(before)


def is_printing() -> bool:
    """Return whether figures are being written for a printed file."""
    return _IS_PRINTING.get()


def people_words(people: float) -> str:
    """Write a number of people; in print, numbers from 1 to 10 are not shown."""
    return (
        _("fewer than 11")
        if _IS_PRINTING.get() and 1 <= people <= 10
        else whole_number_text(people)
    )


def percent(share: float) -> str:
    """Write a share as a percentage; in print, in whole percent."""
    if _IS_PRINTING.get() and not 0.99 < share < 1:
        return (
            _("under 1 %") if 0 < share < 0.01 else f"{100 * share:.0f}{percent_sign()}"
        )
    if 0 < share < 0.001:
        return _("under 0.1 %")
    if (0.99 if _IS_PRINTING.get() else 0.995) <= share < 1:
        return _("over 99 %")
    if share == 0:
        return f"0{percent_sign()}"
    return (
        localize_number(f"{100 * share:.{1 if round(share, 3) < 0.1 else 0}f}")
        + percent_sign()
    )


def limit_words(limit: float) -> str:
    """Write a share as it was chosen: 2 %, not 2.0 %."""
    return localize_number(f"{100 * limit:g}") + percent_sign()


def percent_number(value: float) -> str:
    """Write a number that is already in percent, with a percent sign."""
    return number(value) + percent_sign()


def list_names(names: Sequence[str], *, max_names: int = 8) -> str:
    """Write a list of names that people chose; of a long list, only the first ones."""
    more = (
        [_("{more} more").format(more=len(names) - max_names)]
        if len(names) > max_names
        else []
    )
    return join([*map(escape_markdown, names[:max_names]), *more])
