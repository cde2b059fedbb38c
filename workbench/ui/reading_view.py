"""Show how a file was read, and offer to read it again with other options."""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpcore.io.encoding import DAMAGED_UTF8, ENCODING_CHOICES
from dpcore.io.options import (
    CURRENT_RULES,
    NO_SEPARATOR,
    ReadOptions,
)
from dpcore.io.read import ReadResult
from dpcore.io.workbooks import is_workbook
from workbench import session
from workbench.language.messages import _, day, translate_table
from workbench.language.wording import escape_markdown, printing
from workbench.session.draft import Draft, FileDraft
from workbench.ui.reading_words import SEPARATOR_WORDS, reading_sentences
from workbench.ui.widgets import ask_by_title

_NOT_CHOSEN = ""
"""Value of an option that a person leaves open."""


def current_reading_sentences() -> list[str]:
    """Return sentences on how the draft, or the open data set's file, was read."""
    tab = session.session()
    draft = tab.draft
    if isinstance(draft, FileDraft) and draft.read_result is not None:
        read = draft.read_result
        return reading_sentences(read.options, read.notes, len(draft.frame.columns))
    declaration = tab.data_set.declaration if tab.data_set is not None else None
    if draft is not None or declaration is None or declaration.reading is None:
        return []
    return reading_sentences(declaration.reading)


def printed_reading_sentences() -> list[str]:
    """Return the sentences on how the file was read, worded for print."""
    with printing():
        return current_reading_sentences()


def show_reading(page: str) -> None:
    """Show how the file was read: the main facts in one line, the rest in a fold.

    The file of a draft can be read anew there.

    Args:
        page: the page that is shown.
    """
    said = current_reading_sentences()
    draft = session.session().draft
    if not said and not _can_read_again(draft):
        return
    first = (
        escape_markdown(said[0], max_length=200) if said else _("How the file was read")
    )
    with st.expander(first):
        for sentence in said[1:]:
            st.caption(escape_markdown(sentence, max_length=300))
        if isinstance(draft, FileDraft) and draft.read_result is not None:
            _show_examples(draft.read_result)
            if _can_read_again(draft):
                wanted = draft.page if page == "upload" else page
                _ask_other_options(
                    draft.name,
                    draft.data,
                    draft.read_result.options,
                    wanted,
                    sheets=draft.read_result.sheets,
                    key=f"{draft.dataset}-{draft.version}",
                )
        else:
            st.caption(
                _(
                    "The file is read this way every time. It has one budget, "
                    "however it is read."
                )
            )


def ask_if_format_known(draft: Draft) -> None:
    """Ask whether files of this kind are always written as this one was read."""
    if not isinstance(draft, FileDraft) or draft.read_result is None:
        return
    options = draft.read_result.options
    if not options.seen:
        return
    is_known = st.checkbox(
        _(
            "I know from another source that files of this kind are always written "
            "this way"
        ),
        value=options.is_known,
        key=f"reading-known-{draft.dataset}-{draft.version}",
        help=_(
            "Without a tick, every release states that this format was detected in "
            "the file, where the row of one person can change it."
        ),
    )
    if is_known != options.is_known:
        draft.set_reading_known(is_known=is_known)


def offer_to_read_again() -> None:
    """Offer to read a file with other options, if it could not be read."""
    unread = session.read_note(session.UnreadFile)
    if unread is None:
        return
    with st.container(border=True):
        name = escape_markdown(unread.name, max_length=80)
        st.write(_("Read {name} in another way:").format(name=name))
        _ask_other_options(
            unread.name, unread.data, unread.options, unread.page, key="unread"
        )


def _can_read_again(draft: Draft | None) -> bool:
    return isinstance(draft, FileDraft) and bool(draft.data)


def _show_examples(read: ReadResult) -> None:
    """Show how numbers and dates of each column were understood."""
    if not read.understood_columns:
        return
    st.dataframe(
        pd.DataFrame(
            {
                _("column"): [column.column for column in read.understood_columns],
                _("written as"): [column.pattern for column in read.understood_columns],
                _("three examples and how they were read (private)"): [
                    "   ".join(f"{text} → {value}" for text, value in column.examples)
                    for column in read.understood_columns
                ],
            },
        ),
        hide_index=True,
        alt=_("Examples of how the columns were read"),
    )


def _ask_other_options(
    name: str,
    data: bytes,
    options: ReadOptions,
    page: str,
    *,
    sheets: Sequence[str] = (),
    key: str,
) -> None:
    """Ask for other options, and read the file again with them."""
    # A form lets Enter read the file again.
    with st.form(f"read-again-{key}", border=False):
        asked = _ask_options(name, options, sheets, key)
        is_sent = st.form_submit_button(_("Read it again"))
    if is_sent:
        session.leave_note(
            session.BringTable(page=page, name=name, data=data, options=asked)
        )
        st.switch_page(session.page_script("upload"))


def _ask_options(
    name: str, used: ReadOptions, sheets: Sequence[str], key: str
) -> ReadOptions:
    """Ask for each reading option; those that are left open are detected in the
    file.
    """
    open_words = _("as the file shows")
    places = itertools.cycle(st.columns(3))

    def ask(option: str, label: str, titles: Mapping[Any, str]) -> Any:
        value = getattr(used, option)
        value = _NOT_CHOSEN if value is None else value
        choices = {_NOT_CHOSEN: open_words, **titles}
        choices.setdefault(value, str(value))
        chosen = ask_by_title(
            next(places).selectbox,
            label,
            choices,
            index=list(choices).index(value),
            key=f"read-{option}-{key}",
        )
        return None if chosen == _NOT_CHOSEN else chosen

    asked: dict[str, Any] = {}
    if is_workbook(name):
        if len(sheets) > 1:
            titles = {sheet: sheet for sheet in sheets}
            asked["sheet"] = ask("sheet", _("Sheet"), titles)
    else:
        encodings = {
            encoding: encoding for encoding in (*ENCODING_CHOICES, DAMAGED_UTF8)
        }
        asked["encoding"] = ask("encoding", _("Encoding"), encodings)
        signs = translate_table(SEPARATOR_WORDS) | {NO_SEPARATOR: _("none")}
        asked["separator"] = ask("separator", _("Separator"), signs)
    asked |= _ask_header(next(places), used, key)
    skip = next(places).number_input(
        _("Lines above the table"),
        0,
        100,
        value=used.skip,
        placeholder=open_words,
        key=f"read-skip-{key}",
    )
    asked["skip"] = None if skip is None else int(skip)
    numbers = {".": "1,234.5", ",": "1.234,5"}
    asked["decimal"] = ask("decimal", _("Decimal sign"), numbers)
    orders = {
        True: f"06/04/2002 = {day('2002-04-06')}",
        False: f"06/04/2002 = {day('2002-06-04')}",
    }
    asked["day_first"] = ask("day_first", _("Dates"), orders)
    names = st.text_input(
        _("Column names separated by commas, if no line contains them"),
        ", ".join(used.names),
        key=f"read-names-{key}",
    )
    asked["names"] = (
        ()
        if asked["header"]
        else tuple(part.strip() for part in names.split(",") if part.strip())
    )
    # another sheet has a header of its own
    if asked.get("sheet", used.sheet) != used.sheet:
        asked |= {"header": None, "header_lines": None, "skip": None}
    seen = tuple(
        option
        for option in used.seen
        if option in asked and asked[option] == getattr(used, option)
    )
    return dataclasses.replace(
        used,
        **asked,
        columns=None,
        row_fields=None,
        seen=seen,
        is_known=False,
        rules=CURRENT_RULES,
    )


def _ask_header(place: Any, used: ReadOptions, key: str) -> dict[str, Any]:
    """Ask which lines name the columns; return the options by name."""
    titles = {
        "": _("as the file shows"),
        "one": _("from the first line of the table"),
        "two": _("from the first two lines, joined"),
        "none": _("in no line of the file"),
    }
    lines = {"one": 1, "two": 2}
    if used.header is None:
        value = ""
    elif not used.header:
        value = "none"
    else:
        value = "two" if used.header_lines == 2 else "one"
    chosen = ask_by_title(
        place.selectbox,
        _("Column names"),
        titles,
        index=list(titles).index(value),
        key=f"read-header-{key}",
    )
    if not chosen:
        return {"header": None, "header_lines": None}
    return {"header": chosen != "none", "header_lines": lines.get(str(chosen))}
