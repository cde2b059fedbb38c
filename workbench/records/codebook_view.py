"""Show the declaration of a data set as a table, and offer it as a file."""

import pandas as pd
import streamlit as st

from dpcore.schema.linked import LinkedSchema
from workbench import session
from workbench.language.columns import form_of, values_words
from workbench.language.messages import N_, _, join_with_commas, ngettext, translate
from workbench.language.wording import (
    escape_markdown,
    fact_words,
    found_cells_sentences,
    reading_words,
    source_words,
    unit_words,
)
from workbench.report.files import file_name
from workbench.store.ledger.datasets import DataSet, Declaration, public_name
from workbench.ui import file_view

ORIGIN_WORDS = {
    "public rule": N_("by a public rule"),
    "told by the owner": N_("told by the owner"),
    "from the data": N_("from the data"),
    "found privately": N_("found privately"),
}


def codebook_table(declaration: Declaration) -> pd.DataFrame:
    """Return a table with one row for each column that may be released.

    Of two linked tables, it says in which of them a column is.
    """
    linked = declaration.linked
    return pd.DataFrame(
        [
            {
                _("column"): column.name,
                **(
                    {_("in the table of"): _table_of(column.name, linked.schema)}
                    if linked
                    else {}
                ),
                _("kind"): _(form_of(column).title),
                _("values"): values_words(column),
                _("cells"): column.size,
                _("source of the values"): _(ORIGIN_WORDS[column.values_origin]),
                _("taken from the data"): join_with_commas(
                    map(fact_words, column.from_data)
                )
                or _("no"),
                _("known from"): source_words(column.known_from),
                _("counts as"): join_with_commas(
                    f"{text} = {value}" for text, value in column.synonyms
                ),
                _("why"): translate(column.reason),
            }
            for column in declaration.schema.columns
        ],
    )


def _table_of(name: str, linked: LinkedSchema) -> str:
    """Return in which of two linked tables a column of their views is."""
    for table, schema in ((_("people"), linked.people), (_("events"), linked.events)):
        if any(column.name == name for column in schema.columns):
            return table
    return _("neither: counted by the program")


def show(data_set: DataSet) -> None:
    """Show the declaration, its download, and a button to declare the data anew."""
    declaration = data_set.declaration
    if declaration is None:
        st.info(
            _(
                "This data set was opened by an earlier version, which kept no "
                "description of it. Open its file once on the Data page."
            ),
        )
        return
    schema = declaration.schema
    st.markdown(
        ngettext(
            "**{number} column may be released. Protected: {unit}.**",
            "**{number} columns may be released. Protected: {unit}.**",
            len(schema.columns),
            unit=escape_markdown(
                unit_words(data_set.unit, is_linked=data_set.is_linked)
            ),
        )
    )
    st.dataframe(
        codebook_table(declaration),
        hide_index=True,
        alt=_("What is publicly known about each column"),
    )
    if schema.excluded:
        left_out = "; ".join(
            f"{column.name} ({translate(column.reason)})" for column in schema.excluded
        )
        st.caption(
            _("**Left out:** {columns}.").format(
                columns=escape_markdown(left_out, max_length=1000)
            )
        )
    for sentence in found_cells_sentences(schema.found):
        st.write(sentence)
    if schema.columns_from_data:
        st.warning(
            _(
                "Some facts were taken from the data: {columns}. Every guarantee "
                "mentions these facts, because they reveal something about the "
                "table.",
            ).format(
                columns=escape_markdown(
                    join_with_commas(schema.columns_from_data), max_length=400
                )
            ),
        )
    if schema.reading_from_data:
        st.warning(reading_words())
    with st.container(horizontal=True):
        file_view.download(
            f"{_('Codebook')} (JSON)",
            (declaration.linked.schema if declaration.linked else schema)
            .without_private_texts()
            .to_json(),
            file_name(public_name(data_set.lines()), "codebook", "json"),
            help=_(
                "Load this file on the Data page together with a new version of the "
                "table. The file omits texts from this table that stand for missing "
                "values or count as other values.",
            ),
        )
        if st.button(_("Declare it anew"), icon=":material/edit:"):
            choice = session.own(session.TableChoice)
            choice.redeclared_dataset = data_set.id
            choice.is_open = True
            st.switch_page(session.page_script("upload"))
    st.caption(
        _(
            "You need the file or both files for this. The data set keeps its budget "
            "and charges, and the ledger records the new description. Earlier "
            "releases keep the description that they were made with.",
        ),
    )
