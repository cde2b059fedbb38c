"""Exact tables in words and files: the public page, and the owner's report.

A page is made of what was published alone. Why a single count is hidden is for the
owner: a mark that said "too small" would itself bound the count.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from dpcore.io.xlsx import to_xlsx
from dpcore.suppression.layout import Layout
from dpcore.suppression.outcome import CountBounds
from dpcore.suppression.published import HIDDEN_MARK, ExactTable, PublishedTable
from dpcore.suppression.rules import HidingRule
from dpcore.tables.rows import PublicTable
from workbench.language.labels import translate_name
from workbench.language.messages import (
    N_,
    _,
    join_with_commas,
    localize_number,
    ngettext,
)
from workbench.language.wording import make_printable, number, percent
from workbench.report.document import (
    Document,
    Picture,
    TextTable,
    link_files,
    render_page,
)

FILES = ("table.csv", "table.xlsx", "table.json")
"""The files of a published table."""

REASONS = {
    "small": N_("fewer people than the rule requires"),
    "empty": N_("nobody is in this cell, and the rule hides empty cells"),
    "full": N_("all people of a group are in this cell"),
    "protects others": N_("it protects another count"),
    "earlier table": N_("hidden in an earlier exact table"),
    "other table": N_("hidden in a table that is published together with it"),
    "few changed": N_("too close to the count in a table about the same people"),
}
PRESET_NAMES = {
    "acro": N_("ACRO: at least 10, and empty and full cells are hidden too"),
    "cms": N_("CMS cell size: at least 11"),
    "nhs": N_("NHS-like: at least 5"),
    "": N_("a rule of your own"),
}


VERDICTS = {"pass": N_("pass"), "review": N_("review"), "fail": N_("fail")}
"""Verdicts for whoever checks what leaves; a table that fails is refused."""
MAX_HIDDEN_SHARE = 0.5  # of all counts, beyond which coarser groups are proposed


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was checked before a table may leave.

    Attributes:
        verdict: "pass", or "review" if a person has to read and decide.
        sentence: what was checked and found, for the owner alone.
    """

    verdict: str
    sentence: str


def list_checks(made: ExactTable) -> list[Check]:
    """Return what was checked of a table, for its owner and whoever checks outputs."""
    table = made.published
    if table.rounding_base:
        return [_check_rounding(made), _check_attack(made), *_list_other_checks(made)]
    risky = sum(
        reason in ("small", "empty", "full") for reason in made.reasons.values()
    )
    checks = [
        Check(
            verdict="pass",
            sentence=ngettext(
                "The rule hides {number} count, and it is hidden.",
                "The rule hides {number} counts, and they are hidden.",
                risky,
            ),
        ),
        _check_attack(made),
    ]
    return [*checks, *_list_other_checks(made)]


def _check_rounding(made: ExactTable) -> Check:
    """Return the check of rounded counts, with how far they are off."""
    shown = (count for count in made.published.counts if count is not None)
    errors = [
        abs(count - people)
        for count, people in zip(shown, made.true_counts, strict=True)
    ]
    words = _(
        "Every count is a multiple of {base}, and all sums hold. The counts are {mean} "
        "people off on average, and {most} at most."
    ).format(
        base=number(made.published.rounding_base),
        mean=localize_number(f"{sum(errors) / len(errors):.1f}"),
        most=number(max(errors)),
    )
    return Check(verdict="pass", sentence=words)


def _list_other_checks(made: ExactTable) -> list[Check]:
    """Return what was checked besides the counts that the rule protects."""
    table = made.published
    hidden = len(made.reasons)
    checks = []
    impossible = sum(bound.high == 0 for bound in made.bounds.values())
    if impossible and not made.told_before:
        words = ngettext(
            "{number} hidden count is known to be zero by readers who know which "
            "values go together, such as towns and their districts.",
            "{number} hidden counts are known to be zero by readers who know which "
            "values go together, such as towns and their districts.",
            impossible,
        )
        checks.append(Check(verdict="pass", sentence=words))
    if table.exceptions:
        words = ngettext(
            "{number} count is shown though the rule hides it. Read the reason.",
            "{number} counts are shown though the rule hides them. Read the reasons.",
            len(table.exceptions),
        )
        checks.append(Check(verdict="review", sentence=words))
    if table.compared:
        words = ngettext(
            "People have come or left since {number} other exact table was made. "
            "The attack looked for the people who came or left, too. Sums and "
            "differences of several counts may still tell that a few did. Compare the "
            "tables before you publish.",
            "People have come or left since {number} other exact tables were made. "
            "The attack looked for the people who came or left, too. Sums and "
            "differences of several counts may still tell that a few did. Compare the "
            "tables before you publish.",
            table.compared,
        )
        checks.append(Check(verdict="review", sentence=words))
    if made.unlisted:
        words = _(
            "Some values of this file are not listed in these earlier tables, which "
            "count people with such values only in their totals: {tables}."
        )
        names = join_with_commas(map(make_printable, made.unlisted))
        checks.append(Check(verdict="review", sentence=words.format(tables=names)))
    if table.unrelated:
        names = join_with_commas(map(make_printable, table.unrelated))
        words = _(
            "You said that these columns of other exact tables have nothing to do "
            "with this table, so the attack left them out: {columns}. It used the "
            "totals of those tables, and their other columns."
        )
        checks.append(Check(verdict="review", sentence=words.format(columns=names)))
    if table.miscoded:
        words = ngettext(
            "You said that rare pairs of these columns are errors of coding: "
            "{columns}. {number} person has such a pair and is not protected as a "
            "small group.",
            "You said that rare pairs of these columns are errors of coding: "
            "{columns}. {number} people have such a pair and are not protected as "
            "small groups.",
            made.miscoded_people,
            columns=_name_pairs(table.miscoded),
        )
        checks.append(Check(verdict="review", sentence=words))
    if table.anonymized:
        words = ngettext(
            "Rows of this data set have been anonymized {number} time. The attack "
            "does not know these rows. Compare them with the table if they left.",
            "Rows of this data set have been anonymized {number} times. The attack "
            "does not know these rows. Compare them with the table if they left.",
            table.anonymized,
        )
        checks.append(Check(verdict="review", sentence=words))
    share = hidden / len(table.counts)
    if share > MAX_HIDDEN_SHARE:
        words = _("{share} of the counts are hidden. Coarser groups would show more.")
        checks.append(
            Check(verdict="review", sentence=words.format(share=percent(share)))
        )
    return checks


def _name_pairs(pairs: Sequence[tuple[str, str]]) -> str:
    """Return pairs of columns in words."""
    return join_with_commas(make_printable(" × ".join(pair)) for pair in pairs)


def _check_attack(made: ExactTable) -> Check:
    """Return the check of what the attack found."""
    if made.told_before:
        words = ngettext(
            "The earlier tables already give away {number} count. This table does "
            "not add to that, and the attack could work out no other hidden count.",
            "The earlier tables already give away {number} counts. This table does "
            "not add to that, and the attack could work out no other hidden count.",
            made.told_before,
        )
        return Check(verdict="review", sentence=words)
    others = made.published.attacked + made.published.bundled
    words = _("The attack could work out no hidden count below the rule's threshold.")
    if made.published.rounding_base:
        words = _(
            "The attack could not tell that a count is below the rule's threshold."
        )
        if others:
            words = ngettext(
                "The attack could not tell that a count is below the rule's "
                "threshold, even together with {number} other table.",
                "The attack could not tell that a count is below the rule's "
                "threshold, even together with {number} other tables.",
                others,
            )
    elif others:
        words = ngettext(
            "The attack could work out no hidden count below the rule's threshold, "
            "even together with {number} other exact table.",
            "The attack could work out no hidden count below the rule's threshold, "
            "even together with {number} other exact tables.",
            others,
        )
    return Check(verdict="pass", sentence=words)


def find_verdict(checks: Sequence[Check]) -> str:
    """Return "review" if any check asks for it, else "pass"."""
    return "review" if any(check.verdict == "review" for check in checks) else "pass"


def rule_words(rule: HidingRule, *, is_first: bool, base: int = 0) -> str:
    """Describe what a rule protects, and to what counts are rounded.

    Args:
        is_first: whether no other table is protected by hiding empty cells.
        base: to whose multiples all counts are rounded; 0 if small ones are hidden.
    """
    if base:
        words = [
            ngettext(
                "Readers cannot tell that a count is only {number}",
                "Readers cannot tell that a count is only 1 to {number}",
                rule.threshold - 1,
            )
        ]
    else:
        words = [
            ngettext(
                "Counts of {number} person or more are shown",
                "Counts of {number} people or more are shown",
                rule.threshold,
            )
        ]
        if rule.shows_zeros and is_first:
            words.append(_("empty cells are shown"))
        elif not rule.hide_zeros:
            words.append(
                _("empty cells are shown, unless they are hidden to protect others")
            )
    if rule.hide_full:
        words.append(_("the table does not reveal that a whole group is in one cell"))
    if rule.members:
        words.append(
            _(
                "the rule also protects against readers who know that somebody is in a "
                "cell"
            )
        )
    sentence = join_with_commas(words) + "."
    if not base:
        return sentence
    rounding = _(
        "All counts are rounded up or down to multiples of {base}. None is hidden, and "
        "all sums hold. Each count is at most {off} people off; a 0 may be up to {off} "
        "people."
    ).format(base=number(base), off=number(base - 1))
    return f"{rounding} {sentence}"


def bounds_words(bound: CountBounds | None) -> str:
    """Say how closely a hidden count can be told."""
    if bound is None:
        return _("not bounded")
    words = (
        _("{low} to {high}")
        if bound.is_exact
        else _("{low} to {high}, or a wider range")
    )
    return words.format(low=number(bound.low), high=number(bound.high))


def hidden_cells(made: ExactTable) -> pd.DataFrame:
    """Return one line per hidden cell: its count, why it is hidden, what can be told.

    For the owner alone.
    """
    layout = made.published.layout
    lines = [
        {
            **dict(zip(layout.columns, group_names(layout, cell), strict=True)),
            _("people"): made.true_counts[cell],
            _("readers can tell"): bounds_words(made.bounds.get(cell)),
            _("hidden because"): _(REASONS[reason]),
        }
        for cell, reason in made.reasons.items()
    ]
    return pd.DataFrame(lines)


def crosstab(table: PublishedTable) -> pd.DataFrame:
    """Return the table as texts, with the mark of hidden cells."""
    heading, *lines = [list(map(translate_name, line)) for line in table.crosstab()]
    return pd.DataFrame(lines, columns=heading)


def _show_true_counts(made: ExactTable) -> pd.DataFrame:
    """Return the counts of a rounded table before rounding, for the owner alone."""
    exact = dataclasses.replace(made.published, counts=made.true_counts)
    return crosstab(exact)


def group_names(layout: Layout, cell: int) -> list[str]:
    """Return the name of a cell's group on each axis, in the current language."""
    return list(map(translate_name, layout.labels(cell)))


def exceptions(table: PublishedTable) -> list[str]:
    """Return a sentence for each cell that is shown though the rule would hide it."""
    return [
        _("Shown by way of exception: {cell}. {reason}").format(
            cell=make_printable(" × ".join(group_names(table.layout, cell))),
            reason=make_printable(reason, max_length=500),
        )
        for cell, reason in table.exceptions.items()
    ]


def not_promised(table: PublishedTable) -> list[str]:
    """Return what an exact table does not promise, with numbers."""
    hidden = sum(count is None for count in table.counts)
    compared = ngettext(
        "Some people came or left since {number} exact table about the same people. "
        "No count that both tables show differs by 1 to {below} people. Sums and "
        "differences of several counts may still tell that a few people came or left. "
        "The attack assumed that as few as possible did. Readers who know more about "
        "them may learn more.",
        "Some people came or left since {number} exact tables about the same people. "
        "No count that this table and one of those show differs by 1 to {below} "
        "people. Sums and differences of several counts may still tell that a few "
        "people came or left. The attack assumed that as few as possible did. Readers "
        "who know more about them may learn more.",
        table.compared,
        below=number(table.rule.threshold - 1),
    )
    related = _(
        "The attack assumed readers who know which values of these columns go "
        "together, such as towns and their districts, and which are exceptions: "
        "{columns}. Readers who know more of the people may learn more."
    )
    unrelated = _(
        "The owner says that these columns of other exact tables have nothing to do "
        "with this table: {columns}. The attack left them out."
    )
    anonymized = ngettext(
        "Rows of the same data set have been anonymized {number} time. The attack did "
        "not use these rows. If they were published, readers may find true counts "
        "in them.",
        "Rows of the same data set have been anonymized {number} times. The attack "
        "did not use these rows. If they were published, readers may find true "
        "counts in them.",
        table.anonymized,
    )
    noisy = ngettext(
        "{number} release with noise left the same data set before. Together with this "
        "table, it lets readers guess true counts more closely, as far as its epsilon "
        "allows.",
        "{number} releases with noise left the same data set before. Together with this "
        "table, they let readers guess true counts more closely, as far as their "
        "epsilon allows.",
        table.noisy,
    )
    bundled = ngettext(
        "It was published and attacked together with {number} other exact table.",
        "It was published and attacked together with {number} other exact tables.",
        table.bundled,
    )
    return [
        _(
            "There is no epsilon. {shown} counts are shown, each at most {off} people "
            "off. Readers who know some of the people can compare."
        ).format(shown=number(len(table.counts)), off=number(table.rounding_base - 1))
        if table.rounding_base
        else _(
            "There is no epsilon. {shown} exact counts are shown, and {hidden} are "
            "hidden. Readers who know some of the people can compare."
        ).format(shown=number(len(table.counts) - hidden), hidden=number(hidden)),
        ngettext(
            "The table was attacked together with {number} earlier exact table about "
            "the same people. Tables from other servers or other owners, and files "
            "that nobody said are about the same people, were not known.",
            "The table was attacked together with {number} earlier exact tables about "
            "the same people. Tables from other servers or other owners, and files "
            "that nobody said are about the same people, were not known.",
            table.attacked,
        )
        if table.attacked
        else _(
            "Tables from other servers or other owners, and files that nobody said "
            "are about the same people, were not known."
        )
        if table.compared
        else _(
            "No earlier exact table about the same people was known. There may be "
            "such tables from other servers or other owners, or from files that "
            "nobody declared to be about the same people."
        ),
        *([bundled] if table.bundled else []),
        *([compared] if table.compared else []),
        *(
            [
                related.format(
                    columns=join_with_commas(
                        " × ".join(map(make_printable, pair)) for pair in table.related
                    )
                )
            ]
            if table.related
            else []
        ),
        *(
            [
                unrelated.format(
                    columns=join_with_commas(map(make_printable, table.unrelated))
                )
            ]
            if table.unrelated
            else []
        ),
        *(
            _(
                "The owner says that rows whose {inner} lies in another {outer} are "
                "errors of coding. So readers may find out that some rows are coded "
                "wrong, how many, of which {inner}, and in which other cells they "
                "are. Small counts stay protected."
            ).format(inner=make_printable(inner), outer=make_printable(outer))
            for inner, outer in table.miscoded
        ),
        *([anonymized] if table.anonymized else []),
        *([noisy] if table.noisy else []),
        *(
            _not_promised_of_rounding(table)
            if table.rounding_base
            else _not_promised_of_hiding(table)
        ),
        _(
            "Somebody who knows the counts of several cells from elsewhere may work "
            "out the others."
        ),
    ]


def _not_promised_of_rounding(table: PublishedTable) -> list[str]:
    """Return what rounded counts do not promise."""
    base = number(table.rounding_base)
    return [
        _(
            "Readers know that each count is less than {base} people away from the "
            "truth. One end of that interval may be much more likely."
        ).format(base=base),
        _(
            "Differences of several counts add up their errors. Use the totals that "
            "the table shows."
        ),
        _(
            "Readers are taken to know how many people the file has. So the total is "
            "always rounded down."
        ),
        _(
            "Whoever knows that somebody is in a cell whose count is 0 knows that it has "
            "1 to {off} people."
        ).format(off=number(table.rounding_base - 1)),
        _(
            "Tables of a later version of the file cannot be checked together with this "
            "one, so this program refuses them. Tables from elsewhere that show people "
            "who came or left may tell more."
        ),
    ]


def _not_promised_of_hiding(table: PublishedTable) -> list[str]:
    """Return what hidden counts do not promise."""
    return [
        _(
            "Readers may narrow a hidden count below {threshold} to an interval "
            "that also contains {threshold}. One end of that interval may still be "
            "much more likely."
        ).format(threshold=number(table.rule.threshold)),
        _(
            "Whoever knows that two values never go together, such as childhood and "
            "marriage, knows that this count is zero. If all empty cells of a line are "
            "known in this way, the small counts beside them may follow."
        ),
        _(
            "Which counts are hidden depends on the counts themselves. Somebody who "
            "runs this program on every table that is consistent with the shown "
            "counts may rule out some of these tables and, if the table is small, "
            "even find a hidden count."
        ),
    ]


def _describe(table: PublishedTable) -> str:
    """Return what a table shows and what it hides."""
    if table.rounding_base:
        return _("Rounded counts of people.")
    return _(
        "Exact counts of people. {mark} marks a hidden count. Some counts "
        "are hidden because they are small, others so that nobody can work "
        "out the small ones; the table does not say which is which."
    ).format(mark=HIDDEN_MARK)


def document(table: PublishedTable, *, title: str = "", note: str = "") -> Document:
    """Return the page of a published table."""
    return Document(
        title=make_printable(title, max_length=120)
        or (
            _("Rounded table: {columns}")
            if table.rounding_base
            else _("Exact table: {columns}")
        ).format(columns=make_printable(table.title)),
        badge="syntactic",
        note="\n".join(
            make_printable(line, max_length=2_000) for line in note.splitlines()
        ),
        about=(
            _describe(table),
            rule_words(table.rule, is_first=table.is_first, base=table.rounding_base),
            *exceptions(table),
        ),
        boxes=((_("What this does not promise"), (*not_promised(table),)),),
        pictures=(
            Picture(
                title=make_printable(table.title),
                table=TextTable.from_frame(crosstab(table)),
                folded=False,
            ),
        ),
        downloads=link_files(FILES),
    )


def content(table: PublishedTable, name: str) -> bytes:
    """Return the bytes of one of `FILES`."""
    if name == "table.xlsx":
        return to_xlsx(PublicTable(workbook_frame(table)))
    texts = {"table.csv": table.to_csv, "table.json": table.to_json}
    return texts[name]().encode()


def workbook_frame(table: PublishedTable) -> pd.DataFrame:
    """Return the table with numbers for counts, and the mark of hidden ones."""
    heading, *lines = table.list_file_lines()
    labels = table.label_columns
    cells = [
        [
            *line[:labels],
            *(text if text == HIDDEN_MARK else int(text) for text in line[labels:]),
        ]
        for line in lines
    ]
    return pd.DataFrame(cells, columns=heading, dtype=object)


def public_page(table: PublishedTable) -> bytes:
    """Return the published table as one file that needs no server."""
    whole = dataclasses.replace(document(table), downloads=())
    return render_page(whole).html().encode()


def report_page(made: ExactTable) -> bytes:
    """Return the owner's report as one HTML file: reasons, and what can be told."""
    public = document(made.published)
    extra = ngettext(
        "{number} hidden cell, with the reason and what readers can work out",
        "{number} hidden cells, with the reasons and what readers can work out",
        len(made.reasons),
    )
    checks = list_checks(made)
    summary = tuple(f"{_(VERDICTS[one.verdict])}: {one.sentence}" for one in checks)
    title = _("Summary: {verdict}").format(verdict=_(VERDICTS[find_verdict(checks)]))
    cells = Picture(
        title=extra, table=TextTable.from_frame(hidden_cells(made)), folded=False
    )
    if made.published.rounding_base:
        cells = Picture(
            title=_("Counts before they were rounded"),
            table=TextTable.from_frame(_show_true_counts(made)),
            folded=False,
        )
    report = dataclasses.replace(
        public,
        badge="internal",
        boxes=((title, summary), *public.boxes),
        pictures=(*public.pictures, cells),
        downloads=(),
    )
    return render_page(report).html().encode()
