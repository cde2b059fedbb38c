"""Data sets on file as pages show them: the list of all, and what to bring where rows are needed."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from dpcore.errors import DpcoreError
from workbench import session
from workbench.session import person
from workbench.store import datasets
from workbench.store.datasets import DataSet, Entry
from workbench.ui import file_view, releases, reopening, unexpected
from workbench.ui.language import Words, _, minute, n_
from workbench.ui.wording import SAMPLE_LINES, SAMPLE_TITLES, budget_line, listed, plain, unit_words

ENDINGS = (
    "csv", "tsv", "txt", "data", "parquet", "xlsx", "xlsm", "xls", "ods", "sav", "zsav", "dta", "sas7bdat",
    "deid",
)  # fmt: skip
SHOWN, MORE = 5, 50
WHAT_FOR, SAYS = Words("ui.what_for"), Words("ui.files")


@dataclass(kw_only=True)
class ListState:
    """How many data sets are listed in this tab."""

    most: int = SHOWN


def my_data_sets() -> bool:
    """List the data sets of this person, the last used first; return whether there is any."""
    state = session.own(ListState)
    try:
        ledger = session.ledger()
        on_file = ledger.datasets()
        data_sets, broken = datasets.known(ledger, on_file[: state.most])
    except DpcoreError as error:
        unexpected.box(error)
        return False
    for problem in broken:
        unexpected.box(problem)
    if not data_sets:
        return False
    st.subheader(_("My data sets"))
    for each in data_sets:
        _line(each)
    if (rest := len(on_file) - state.most) > 0:
        words, more = _("{more} more").format(more=rest), (state, "most", state.most + MORE)
        st.button(words, icon=":material/expand_more:", on_click=setattr, args=more)
    return True


def _line(entry: Entry) -> None:
    data_set = entry.data_set
    facts = [
        unit_words(data_set.unit),
        budget_line(entry.balance, data_set.account),
        n_("releases", len(releases.of_lines(entry.lines, data_set.account))),
        _("last used {when} UTC").format(when=minute(entry.lines[-1].at)),
    ]
    with st.container(border=True):
        left, right = st.columns([4, 2], vertical_alignment="center")
        left.markdown(f"**{plain(data_set.name)}**  \n:small[{plain(' · '.join(facts), at_most=400)}]")
        right.button(
            _("Continue with {name}").format(name=plain(data_set.name, at_most=40)),
            key=f"continue-{data_set.id}",
            on_click=reopening.continue_with,
            args=(data_set.id,),
            width="stretch",
        )


def earlier_releases(data_set: DataSet) -> None:
    """List the releases of a data set; opening one costs nothing."""
    lines = releases.earlier(data_set)
    if lines:
        st.subheader(_("Releases of this data set"))
    for line in lines[:20]:
        left, right = st.columns([3, 2], vertical_alignment="center")
        what = plain(" · ".join(filter(None, (line["what"], line["part"]))), at_most=160)
        label, key = _("Open {what}").format(what=what), f"open-{line['request_id']}"
        if left.button(label, key=key, type="tertiary", icon=":material/verified_user:"):
            session.session().shown, session.session().running = line["request_id"], None
            st.switch_page("pages/synthesize.py")
        right.caption(_("{when} UTC · {cost}").format(when=line["when"], cost=line["cost"]))


def bring_rows(data_set: DataSet) -> None:
    """Ask for the table of a data set on file: which one, and the field to bring it."""
    tab = session.session()
    declaration = data_set.declaration
    if data_set.account.source is not None:
        st.write(
            _("The rows are in the connected source {name}. Open it on the Data page.").format(
                name=plain(data_set.account.source)
            )
        )
        return
    if notice := tab.notices.get(reopening.NOTICE):
        unexpected.box(notice)
    if not session.ledger().is_mine(data_set.id):
        st.write(_("Its releases are shown to you. The rows are with its steward."))
        return
    if declaration is None:
        st.write(
            _("This data set was opened before descriptions were kept. Open its file on the Data page once.")
        )
        return
    if declaration.sample in reopening.SAMPLES:
        st.button(
            _("Bring the rows of {name} back").format(name=SAMPLE_TITLES[declaration.sample]),
            type="primary",
            on_click=reopening.take_sample,
            args=(data_set,),
        )
        return
    names = reopening.columns_of(data_set)
    columns, name = listed(names, most=15), plain(declaration.name)
    st.markdown(SAYS.say("bring", number=len(names), columns=columns, name=name))
    file_view.file_uploader(
        _("Drop a table here"),
        type=ENDINGS,
        key=session.file_field(reopening.NOTICE).key,
        on_change=reopening.take_file,
        args=(data_set,),
    )


def say_what_for() -> None:
    """Show what the page would do with a data set and its rows."""
    st.info(WHAT_FOR[session.session().page], icon=":material/info:")


def ways_to_a_table() -> None:
    """Show what the page would do, and the ways to a data set, where there is none."""
    say_what_for()
    if not person.is_steward():
        st.write(_("Open a data set first."))
        my_data_sets()
        return
    st.write(_("Open a data set first."))
    draft = session.session().draft
    if draft and st.button(_("Continue with {name}").format(name=plain(draft.name)), type="primary"):
        st.switch_page("pages/upload.py")
    bring_table(_("Drop a table here"), _("Open this sample: {title}"), page=session.session().page)
    my_data_sets()


def bring_table(
    label: str, of_sample: str, *, page: str, keys: Sequence[str] = tuple(reopening.SAMPLES)
) -> None:
    """Offer a field for a table, and samples; the Data page reads what is brought.

    Args:
        label: of the field.
        of_sample: label of the button of a sample, with its title as a field.
        page: where the table is wanted.
        keys: of the samples.
    """
    file = file_view.file_uploader(label, type=ENDINGS, key=session.file_field(f"table-{page}").key)
    if file is not None:
        session.session().uploads += 1
        _bring(session.BringTable(page=page, name=file.name, data=file.getvalue()))
    with st.container(horizontal=True):
        for key in keys:
            label = of_sample.format(title=SAMPLE_TITLES[key])
            if st.button(label, key=f"sample-{page}-{key}", help=SAMPLE_LINES[key]):
                _bring(session.BringTable(page=page, sample=key))


def _bring(note: session.BringTable) -> None:
    session.leave(note)
    st.switch_page("pages/upload.py")
