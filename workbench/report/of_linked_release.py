"""Page of a release of two linked tables: people and their events, with one promise."""

import dataclasses
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction

from dpcore.accounting.loss import loss_fields
from dpcore.schema import Clique
from dpcore.synthesis import queryable_columns
from dpcore.synthesis.release.linked import LinkedRelease
from workbench.language.messages import _, day, ngettext
from workbench.language.wording import (
    escape_markdown,
    guarantee_words,
    loss_number,
    loss_words,
    number,
    pair_sentences,
    whole_number_text,
)
from workbench.language.wording import make_printable as shown
from workbench.report import asking, downloads, explore, of_release, sentences
from workbench.report.document import BADGES, Document, Picture, link_files, render_page


def document(
    release: LinkedRelease,
    *,
    title: str = "",
    note: str = "",
    contents: Collection[str] = of_release.ALL_CONTENTS,
    pictures: Sequence[Clique] | None = None,
) -> Document:
    """Return the page of both tables; its arguments are as of `of_release.document`."""
    level = _joint_level(release)
    title = shown(title, max_length=120) or _("People and their events")
    drawn = _draw_pictures(
        release, chart_columns(release) if pictures is None else pictures, level
    )
    lead = _count_sentence(release, level)
    preview = _("Numbers with noise added, so that nobody can be found in them.")
    if downloads.PREVIEW in contents:
        preview = " ".join([lead, *(picture.sentence for picture in drawn[:1])])
    loss = loss_words(loss_fields(release.total_loss))
    return Document(
        title=title,
        lead=lead,
        badge="private",
        badge_text=f"{_(BADGES['private'])} · {loss}",
        note="\n".join(shown(line, max_length=2_000) for line in note.splitlines()),
        about=(
            _(
                "Numbers from two tables of personal data: people, and their events. "
                "Random noise was added, so that they reveal almost nothing about any "
                "one person. Made on {day}."
            ).format(day=day(release.people.created)),
            most_events_sentence(release),
        ),
        pictures=tuple(drawn),
        promise=tuple(promise_sentences(release, escape=shown)),
        explanations=of_release.needed_explanations(release.people)
        | of_release.needed_explanations(release.events),
        downloads=link_files(downloads.linked_file_names(release, contents)),
        takes_questions=downloads.QUESTIONS in contents
        and all(map(queryable_columns, release.halves.values())),
        citation=downloads.linked_citation(release, title),
        preview=preview,
    )


def stand_alone_page(release: LinkedRelease) -> bytes:
    """Return the page of both tables as one file that needs no server."""
    contents = {downloads.COUNTS, downloads.MODEL}
    complete = dataclasses.replace(
        document(release),
        takes_questions=False,
        downloads=downloads.embedded_data(
            downloads.linked_file_names(release, contents),
            lambda name: downloads.linked_file_content(release, name),
        ),
    )
    return render_page(complete).html().encode()


def interactive_file(release: LinkedRelease, view: str) -> bytes:
    """Return the interactive page of one of the tables as one file.

    Args:
        view: "people" or "events", whose release is `explorable`.
    """
    complete = of_release.without_server(document(release))
    return file_content(release, complete, explore.EXPLORE_FILES[view])


def file_content(release: LinkedRelease, page_document: Document, name: str) -> bytes:
    """Return the bytes of a file of both tables, or of an interactive page.

    Args:
        page_document: the document on it.
    """
    views = {file: view for view, file in explore.EXPLORE_FILES.items()}
    if name not in views:
        return downloads.linked_file_content(release, name)
    view = views[name]
    questions = ""
    if page_document.takes_questions:
        questions = question_form(release, f"{asking.TABLE_INPUT}={view}")
    section = explore.interactive_section(release.halves[view])
    return render_page(page_document, section, name).html(questions).encode()


def question_form(release: LinkedRelease, query: str) -> str:
    """Return the form that asks one of both tables, as `asking.question_form`."""
    return asking.linked_question_form(release.halves, query)


def chart_columns(release: LinkedRelease) -> list[Clique]:
    """Return the columns with charts: those of people, then those of events.

    Columns of the person are shown once, where they count people.
    """
    of_people = {column.name for column in release.people.schema.columns}
    of_events = of_release.chart_columns(release.events)
    return [
        *of_release.chart_columns(release.people),
        *(clique for clique in of_events if not of_people.issuperset(clique)),
    ]


def most_events_sentence(release: LinkedRelease) -> str:
    """Say how many events of a person count."""
    return ngettext(
        "At most {number} event of a person counts. Further ones are neither in "
        "these numbers nor in the drawn events.",
        "At most {number} events of a person count. Further ones are neither in "
        "these numbers nor in the drawn events.",
        release.events.schema.unit.max_rows,
    )


def promise_sentences(
    release: LinkedRelease, *, escape: Callable[..., str] = escape_markdown
) -> list[str]:
    """Write what both releases promise together, and what they do not.

    `escape` makes people's own texts harmless.
    """
    rows = release.events.schema.unit
    unit = ngettext(
        "one person with all rows in both tables is added or removed; at most "
        "{number} event of a person counts",
        "one person with all rows in both tables is added or removed; at most "
        "{number} events of a person count",
        rows.max_rows,
    )
    if rows.from_data:
        unit = _("{unit}, a number that was taken from the data").format(unit=unit)
    if rows.found:
        unit = _(
            "{unit}, a number that was found privately, for epsilon {epsilon}"
        ).format(unit=unit, epsilon=loss_number(Fraction(rows.found)))
    guarantee = dataclasses.replace(release.guarantee, unit=unit)
    first, *others = guarantee_words(guarantee, escape=escape)
    total = loss_fields(release.total_loss)
    searched = _("Together with the private searches for it: {loss}.").format(
        loss=loss_words(total)
    )
    return [
        first,
        *([searched] if total != guarantee.loss else []),
        *pair_sentences(release.total_loss),
        *others,
        _(
            "Every drawn event belongs to one drawn person. The keys are new numbers "
            "that have nothing to do with the original ones."
        ),
    ]


def _joint_level(release: LinkedRelease) -> float:
    """Return the level at which all sentences about both tables hold together."""
    columns_of_events = len(sentences.measured_columns(release.events))
    return sentences.joint_level(release.people, 1 + columns_of_events)


def _count_sentence(release: LinkedRelease, level: float) -> str:
    """State both numbers as intervals, which hold with all sentences of the page."""
    people, events = (half.answer((), level=level) for half in release.halves.values())
    return _(
        "{people} people and {events} events were counted, give or take {people_half} "
        "people and {events_half} events."
    ).format(
        people=whole_number_text(float(people.values)),
        events=whole_number_text(float(events.values)),
        people_half=number(people.max_distance_to_bound),
        events_half=number(events.max_distance_to_bound),
    )


def _draw_pictures(
    release: LinkedRelease, cliques: Sequence[Clique], level: float
) -> list[Picture]:
    """Draw the charts of both tables, each below the heading of its table."""
    of_people = {column.name for column in release.people.schema.columns}
    chosen = {
        "people": [clique for clique in cliques if of_people.issuperset(clique)],
        "events": [clique for clique in cliques if not of_people.issuperset(clique)],
    }
    headings = {"people": _("People"), "events": _("Events")}
    return [
        dataclasses.replace(picture, section=headings[view])
        for view, half in release.halves.items()
        for picture in of_release.pictures_of(half, chosen[view], level)
    ]
