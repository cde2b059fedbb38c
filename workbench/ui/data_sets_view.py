"""List the data sets on file, and bring back their rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dpcore.curator import Curator, LinkedCurator
from dpcore.errors import DpcoreError
from workbench import session
from workbench.language.budget import budget_line
from workbench.language.messages import N_, _, minute, ngettext
from workbench.language.wording import (
    SAMPLE_DESCRIPTIONS,
    SAMPLE_TITLES,
    escape_markdown,
    list_names,
    unit_words,
)
from workbench.session import person
from workbench.store.ledger import datasets
from workbench.store.ledger.datasets import DataSet, Entry
from workbench.ui import file_view, releases, reopening, unexpected

FIRST_LISTED = 5  # data sets listed at first
DATA_SETS_PER_PAGE = 50  # data sets added by a click on "more"
PAGE_PURPOSES = {
    "ledger": N_(
        "This page lists everything that was spent on a data set: what was asked, "
        "what it cost, and what is left. Each line is written before any row is "
        "read."
    ),
    "links": N_(
        "Here you create a link to a release. Whoever opens the link sees charts, "
        "tables and the guarantee on one page. They need no account, and they have "
        "no access to the rows."
    ),
    "evaluate": N_(
        "Here you compare a release with the original: its columns, its pairs of "
        "columns, its answers to questions such as how many people are between 20 "
        "and 30, what a model learns from it, and what it reveals about people."
    ),
    "audit": N_(
        "Here you find out how easily people can be found in a table: how many"
        " are unique, which columns identify them, and what somebody with a "
        "voter list would find."
    ),
    "anonymize": N_(
        "Here you make a table k-anonymous: what others may know about people "
        "becomes coarser until everybody looks like at least k - 1 others. You"
        " see what each k costs before you choose."
    ),
    "tables": N_(
        "Here you publish exact counts of people by one or two columns. Small "
        "counts are hidden, and so are some others, so that nobody can work out the "
        "small ones from the totals."
    ),
    "codebook": N_(
        "This page shows what was declared about a data set: its columns, "
        "their values, and who is protected."
    ),
    "synthesize": N_(
        "Here you release a histogram, a few marginals or a synthetic table: first "
        "you see the expected error and the cost, then you decide."
    ),
}


@dataclass(kw_only=True)
class ListState:
    """Number of data sets that this tab lists."""

    most: int = FIRST_LISTED


def list_data_sets() -> bool:
    """List the data sets of this person; return whether there is any.

    The last used comes first.
    """
    state = session.own(ListState)
    try:
        ledger = session.ledger()
        on_file = ledger.datasets()
        data_sets, broken = datasets.list_readable(ledger, on_file[: state.most])
    except DpcoreError as error:
        unexpected.show_error(error)
        return False
    for problem in broken:
        unexpected.show_error(problem)
    if not data_sets:
        return False
    st.header(_("My data sets"))
    for entry in data_sets:
        _show_entry(entry)
    if (rest := len(on_file) - state.most) > 0:
        words = _("{more} more").format(more=rest)
        more = (state, "most", state.most + DATA_SETS_PER_PAGE)
        st.button(words, icon=":material/expand_more:", on_click=setattr, args=more)
    return True


def _show_entry(entry: Entry) -> None:
    data_set = entry.data_set
    facts = [
        unit_words(data_set.unit, is_linked=data_set.is_linked),
        budget_line(entry.balance, data_set.account),
        ngettext(
            "{number} release",
            "{number} releases",
            len(releases.list_from_lines(entry.lines, data_set.account)),
        ),
        _("last used {when} UTC").format(when=minute(entry.lines[-1].at)),
    ]
    with st.container(border=True):
        left, right = st.columns([4, 2], vertical_alignment="center")
        left.markdown(
            f"**{escape_markdown(data_set.name)}**  "
            f"\n:small[{escape_markdown(' · '.join(facts), max_length=400)}]"
        )
        right.button(
            _("Continue with {name}").format(
                name=escape_markdown(data_set.name, max_length=40)
            ),
            key=f"continue-{data_set.id}",
            on_click=reopening.continue_with,
            args=(data_set.id,),
            width="stretch",
        )


def list_earlier_releases(data_set: DataSet) -> None:
    """List the releases of a data set; opening one costs nothing."""
    lines = releases.list_with_pairs(data_set)
    if lines:
        st.header(_("Releases of this data set"))
    for line in lines[:20]:
        left, right = st.columns([3, 2], vertical_alignment="center")
        what = escape_markdown(
            " · ".join(filter(None, (line["what"], line["part"]))), max_length=160
        )
        label = _("Open {what}").format(what=what)
        key = f"open-{line['request_id']}"
        if left.button(
            label, key=key, type="tertiary", icon=":material/verified_user:"
        ):
            session.session().runs.show(line["request_id"])
            st.switch_page(session.page_script("synthesize"))
        right.caption(
            _("{when} UTC · {cost}").format(when=line["when"], cost=line["cost"])
        )


def ask_for_rows(data_set: DataSet) -> None:
    """Ask for the table of a data set on file."""
    tab = session.session()
    declaration = data_set.declaration
    if declaration is not None and declaration.linked and data_set.account.source:
        people, events = map(escape_markdown, declaration.linked.names)
        st.write(
            _(
                "The rows are in the connected sources {people} and {events}. Show the "
                "first rows of one on the Data page, and link the other with it."
            ).format(people=people, events=events)
        )
        return
    if data_set.account.source is not None:
        st.write(
            _(
                "The rows are in the connected source {name}. Open it on the Data page."
            ).format(
                name=escape_markdown(data_set.account.source),
            ),
        )
        return
    if notice := tab.notices.get(reopening.NOTICE):
        unexpected.show_error(notice)
    if not session.ledger().is_mine(data_set.id):
        st.write(
            _(
                "You can see the releases of this data set. Only its steward has "
                "the rows."
            )
        )
        return
    if declaration is None:
        st.write(
            _(
                "This data set was opened by an earlier version, which kept no "
                "description of it. Open its file once on the Data page."
            ),
        )
        return
    if declaration.sample in reopening.SAMPLES:
        st.button(
            _("Load the rows of {name} again").format(
                name=_(SAMPLE_TITLES[declaration.sample])
            ),
            type="primary",
            on_click=reopening.take_sample,
            args=(data_set,),
        )
        return
    if declaration.linked is not None:
        ask_for_pair(
            _("Drop {people} and {events} here, both at once").format(
                people=escape_markdown(declaration.linked.names[0]),
                events=escape_markdown(declaration.linked.names[1]),
            )
        )
        return
    names = reopening.columns_of(data_set)
    columns = list_names(names, max_names=15)
    name = escape_markdown(declaration.name)
    st.markdown(
        _(
            "The rows are not kept here. Upload the table with these {number} "
            "columns: {columns}. Its file was called **{name}**."
        ).format(number=len(names), columns=columns, name=name)
    )
    file_view.file_uploader(
        _("Drop a table here"),
        type=file_view.FILE_ENDINGS,
        key=session.file_field(reopening.NOTICE).key,
        on_change=reopening.take_file,
        args=(data_set,),
    )


def show_page_purpose() -> None:
    """Say what the page does with a data set."""
    st.info(_(PAGE_PURPOSES[session.session().page]), icon=":material/info:")


def offer_ways_to_open() -> None:
    """Say what the page does, and offer ways to open a data set."""
    show_page_purpose()
    if not person.is_steward():
        st.write(_("Open a data set first."))
        list_data_sets()
        return
    st.write(_("Open a data set first."))
    draft = session.session().draft
    if draft and st.button(
        _("Continue with {name}").format(name=escape_markdown(draft.name)),
        type="primary",
    ):
        st.switch_page(session.page_script("upload"))
    ask_for_table(
        _("Drop a table here"),
        _("Open this sample: {title}"),
        page=session.session().page,
    )
    list_data_sets()


def ask_for_table(
    label: str,
    sample_label: str,
    *,
    page: str,
    keys: Sequence[str] = tuple(reopening.SAMPLES),
) -> None:
    """Offer an upload field and samples; the Data page then reads the chosen table.

    Two files at once are taken for tables about the same people.

    Args:
        label: label of the field.
        sample_label: label of a sample's button, with its title as a field.
        page: page that wants the table.
        keys: keys of the samples.
    """
    files = file_view.multiple_file_uploader(
        label, type=file_view.FILE_ENDINGS, key=session.file_field(f"table-{page}").key
    )
    if len(files) == 1:
        session.renew_file_fields()
        _hand_to_data_page(
            session.BringTable(page=page, name=files[0].name, data=files[0].getvalue())
        )
    _bring_pair(files)
    for place, key in enumerate(keys):
        label = sample_label.format(title=_(SAMPLE_TITLES[key]))
        if st.button(
            label,
            key=f"sample-{page}-{key}",
            type="primary" if place == 0 else "secondary",
        ):
            _hand_to_data_page(session.BringTable(page=page, sample=key))
        st.caption(_(SAMPLE_DESCRIPTIONS[key]))


def ask_for_pair(label: str) -> None:
    """Offer an upload field for two files about the same people."""
    _bring_pair(
        file_view.multiple_file_uploader(
            label, type=file_view.FILE_ENDINGS, key=session.file_field("pair").key
        )
    )


def _bring_pair(files: Sequence[UploadedFile]) -> None:
    """Hand several files to the Data page, which refuses more than two."""
    if files:
        session.renew_file_fields()
        _hand_to_data_page(
            session.BringPair(
                files=tuple((file.name, file.getvalue()) for file in files)
            )
        )


def _hand_to_data_page(note: session.BringTable | session.BringPair) -> None:
    session.leave_note(note)
    st.switch_page(session.page_script("upload"))


def need_data_set() -> DataSet:
    """Return the data set of this tab.

    Without one, show what the page would do, and end it.
    """
    data_set = session.session().data_set
    if data_set is None:
        offer_ways_to_open()
        st.stop()
    return data_set


def need_rows() -> Curator:
    """Return a curator of the draft, which needs no budget, or of the open table.

    End the page for two linked files that are not open yet.
    """
    tab = session.session()
    if tab.draft is None or not tab.draft.has_rows:
        return need_file()
    if tab.linked_draft is not None:
        st.info(
            _(
                "These two tables are not open yet. Open them on *Data*. This page then "
                "looks at people and their events together."
            ),
            icon=":material/info:",
        )
        st.stop()
    return reopening.draft_curator()


def linked_on_page() -> LinkedCurator | None:
    """Return the curator of two linked files; None if the page is about one table.

    Without their rows, ask for them, and end the page.
    """
    tab = session.session()
    declared = tab.data_set.declaration if tab.data_set is not None else None
    if declared is None or declared.linked is None:
        return None
    need_curator()
    return tab.linked


def need_file() -> Curator:
    """Return the curator of this tab; end the page for two linked files.

    A view of them leaves out rows that do not fit, so that its exact figures are not
    those of a file.
    """
    declared = need_data_set().declaration
    if declared is not None and declared.linked is not None:
        first, second = (escape_markdown(name) for name in declared.linked.names)
        st.info(
            _("This page looks at one file. Open {first} or {second} alone.").format(
                first=first, second=second
            ),
            icon=":material/info:",
        )
        st.stop()
    return need_curator()


def need_curator() -> Curator:
    """Return the curator of this tab.

    Without its rows, ask for them, and end the page.
    """
    data_set = need_data_set()
    curator = session.session().curator
    if curator is None:
        show_page_purpose()
        ask_for_rows(data_set)
        st.stop()
    return curator
