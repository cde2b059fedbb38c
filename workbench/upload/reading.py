"""How a file was read, and the controls to read it otherwise."""

import dataclasses

import pandas as pd
import streamlit as st

from dpcore.io.encoding import CHOICES, DAMAGED_UTF8
from dpcore.io.options import BLANKS, SEPARATORS, ReadOptions
from dpcore.io.read import ReadResult
from workbench.language.messages import _, commas, day
from workbench.language.wording import plain
from workbench.session.draft import FileDraft
from workbench.ui.widgets import ask_by_title
from workbench.upload import opening


def show_reading(draft: FileDraft) -> None:
    """Show how numbers and dates were read, with controls; not for Parquet."""
    read = draft.read
    if read is None or read.kind == "parquet":
        return
    with st.expander(_("How the file was read")):
        if read.understood:
            st.dataframe(
                pd.DataFrame(
                    {
                        _("column"): [column.column for column in read.understood],
                        _("written as"): [column.pattern for column in read.understood],
                        _("three examples, and how they are understood (private)"): [
                            "   ".join(
                                f"{text} → {value}" for text, value in column.examples
                            )
                            for column in read.understood
                        ],
                    },
                ),
                hide_index=True,
            )
        # a form, so that Enter reads the file again
        with st.form("read-again", border=False):
            options = ask_options(draft, read)
            again = st.form_submit_button(_("Read it again"))
    if again:
        opening.read_again(options)
        st.rerun()


def ask_order(read: ReadResult) -> None:
    """Ask for the order of day and month if both orders fit."""
    st.warning(
        _("The dates of {columns} can be read in two ways.").format(
            columns=commas(plain(name) for name in read.undecided),
        ),
    )
    with st.container(horizontal=True):
        for meant, first in (("2002-04-06", True), ("2002-06-04", False)):
            options = dataclasses.replace(read.options, day_first=first, columns=None)
            st.button(
                f"06/04/2002 = {day(meant)}",
                on_click=opening.read_again,
                args=(options,),
            )


def ask_options(draft: FileDraft, read: ReadResult) -> ReadOptions:
    """Ask for encoding, separator, decimal sign, header and skipped lines."""
    used = read.options
    key = f"{draft.dataset}-{draft.version}"
    left, middle, right = st.columns(3)
    encodings = tuple(dict.fromkeys((used.encoding or "utf-8", *CHOICES, DAMAGED_UTF8)))
    encoding = left.selectbox(_("Encoding"), encodings, key=f"read-encoding-{key}")
    signs = {sign: sign for sign in SEPARATORS}
    signs |= {"\t": _("tab"), BLANKS: _("blanks")}
    at = [*signs].index(used.separator or ",")
    field = f"read-separator-{key}"
    separator = ask_by_title(
        middle.selectbox, _("Separator"), signs, index=at, key=field
    )
    numbers = {"": _("as each column shows"), ".": "1,234.5", ",": "1.234,5"}
    at = [*numbers].index(used.decimal or "")
    field = f"read-decimal-{key}"
    decimal = ask_by_title(
        right.selectbox, _("Decimal sign"), numbers, index=at, key=field
    )
    skip = left.number_input(
        _("Lines above the table"), 0, 100, value=used.skip or 0, key=f"read-skip-{key}"
    )
    header = middle.checkbox(
        _("The first line names the columns"),
        value=used.header is not False,
        key=f"read-header-{key}",
    )
    text = right.text_input(
        _("Names of the columns, with commas between"),
        ", ".join(used.names),
        key=f"read-names-{key}",
    )
    given = (
        ()
        if header
        else tuple(part.strip() for part in text.split(",") if text.strip())
    )
    asked = {
        "encoding": encoding,
        "separator": separator,
        "header": bool(header),
        "skip": int(skip),
    }
    return dataclasses.replace(
        used,
        **asked,
        decimal=decimal or None,
        names=given,
        columns=None,
        seen=tuple(
            name
            for name in used.seen
            if name in asked and asked[name] == getattr(used, name)
        ),
    )
