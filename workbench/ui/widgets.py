"""Pieces that several pages show: the header line, error boxes, charts with their table, the loss picker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import streamlit as st

from dpcore.accounting.ledger import Account, Balance
from dpcore.accounting.loss import UNIT, AnyLoss
from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.evaluation.question import Evaluation, Result
from dpcore.release import PrivateReport, Release
from dpcore.synthesis import SyntheticModel
from dpcore.synthesis.noise_error import noise_errors
from workbench import reading, samples, session
from workbench.apart import line, process
from workbench.apart.asking import call
from workbench.ui import charts, file_view, unexpected
from workbench.ui.charts import Chart
from workbench.ui.glossary import GLOSSARY
from workbench.ui.language import _
from workbench.ui.wording import (
    SAMPLE_TITLES,
    delta_of,
    epsilon_verdict,
    epsilon_words,
    loss_words,
    number,
    plain,
    rule_unit,
    spent_epsilon,
)

DATASET = session.Widget[str]("header-dataset")
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0)


def header() -> None:
    """One line on every page: the data set, who is protected, and the budget as a bar of three parts.

    Where the ledger does not answer, the page ends here and says so.
    """
    held = session.session()
    _say_what_is_gone(held)
    if held.curator is None:
        return
    curator = held.curator
    try:
        balance = curator.balance()
    except DpcoreError as error:
        error_box(error)
        st.stop()
    unit = plain(_("Protected: {unit}").format(unit=curator.schema.unit), at_most=120)
    left, middle, right = st.columns([9, 10, 3], vertical_alignment="center")
    with left:
        if len(held.curators) > 1:
            st.selectbox(
                _("Data set"),
                list(held.curators),
                index=list(held.curators).index(curator.account.dataset),
                format_func=lambda dataset: held.curators[dataset].name,
                key=DATASET.key,
                on_change=lambda: held.choose(DATASET.value() or ""),
                label_visibility="collapsed",
            )
            st.caption(unit)
        else:
            st.markdown(f"**{plain(curator.name)}**  \n:small[:gray[{unit}]]")
    with middle:
        budget_bar(balance, curator.account)
    with right:
        st.page_link("pages/ledger.py", label=_("Ledger"), icon=":material/receipt_long:")


def _say_what_is_gone(held: session.Session) -> None:
    """Why a table that was open is not any more, and the way back."""
    back = _("What was spent and released is kept. Open the same table again to go on.")
    if held.dropped:
        names = ", ".join(plain(name, at_most=80) for name in held.dropped)
        gone = _("Nobody used this tab for a while, so {names} went from memory.").format(names=names)
    elif held.is_another:
        gone = _("This tab lost its server: it was restarted, or the tab was away for too long.")
    else:
        return
    st.warning(f"{gone} {back}", icon=":material/history:")
    st.button(_("Understood"), key="gone", on_click=_understood)


def _understood() -> None:
    held = session.session()
    held.dropped, held.is_another = (), False


def budget_bar(balance: Balance, account: Account) -> None:
    """Spent, held and left as one bar, with the numbers under it."""
    parts = [(balance.spent, "#0072B2"), (balance.held, "#D55E00"), (balance.left, "#C8C8C8")]
    label = _("{unit}: spent {spent} · held {held} · left {left}").format(
        unit=rule_unit(account),
        spent=number(balance.spent / UNIT),
        held=number(balance.held / UNIT),
        left=number(balance.left / UNIT),
    )
    cells = "".join(
        f'<div style="width:{100 * units / balance.budget:.3f}%;background:{color};height:14px"></div>'
        for units, color in parts
    )
    bar = "display:flex;border:1px solid #888;border-radius:7px;overflow:hidden"
    st.html(f'<div aria-hidden="true" style="{bar}">{cells}</div><small>{label}</small>')


def need_curator(would_do: str) -> Curator:
    """The open data set. Without one: what this page would do, and the ways there; then the page ends."""
    curator = session.session().curator
    if curator is None:
        _ways_to_a_table(would_do)
        st.stop()
    return curator


def _ways_to_a_table(would_do: str) -> None:
    st.info(would_do, icon=":material/info:")
    st.write(_("Open a data set first. The samples are invented, so you can try everything on them."))
    with st.container(horizontal=True):
        for sample in samples.SAMPLES:
            if st.button(
                _("Open a sample: {title}").format(title=SAMPLE_TITLES[sample.key]), key=f"need-{sample.key}"
            ):
                session.session().note = session.OpenSample(key=sample.key)
                st.switch_page("pages/upload.py")
        if st.button(_("Upload a table"), type="primary"):
            st.switch_page("pages/upload.py")


def error_box(error: Exception) -> None:
    """What happened and why, and what to do; an exception that nobody foresaw is only numbered."""
    unexpected.box(error)


@contextmanager
def in_line() -> Iterator[None]:
    """Wait, with the place shown, until it is this tab's turn to compute something long."""
    note = st.empty()
    with line.runs().turn(
        lambda place: note.caption(_("Other runs go first: place {place} in line.").format(place=place))
    ):
        note.empty()
        yield


def once_in_line(
    curator: Curator, key: tuple[Any, ...], evaluation: Callable[[], Evaluation[Result]]
) -> Result:
    """`session.once` for what takes long: it waits for its turn."""
    if key in session.session().reports:
        return session.once(curator, key, evaluation)
    with in_line():
        return session.once(curator, key, evaluation)


def compute_in_line(function: Callable[..., Result], *given: Any) -> Result:
    """A function of a module that reads nothing private, in another process when its turn comes."""
    with in_line():
        answer: Result = process.compute(call, function, *given, cancelled=session.unwanted())
        return answer


def show_chart(chart: Chart, *, key: str) -> None:
    """A chart with words for those who do not see it, and its table under an expander."""
    st.altair_chart(chart.spec, alt=chart.alt, key=key)
    with st.expander(_("The same as a table")):
        st.dataframe(chart.table, hide_index=True, key=f"{key}-table")


def private_badge(release: Release | PrivateReport) -> None:
    """The badge of differentially private results, with their loss and unit."""
    st.badge(
        _("differentially private · {loss} · {unit}").format(
            loss=loss_words(release.guarantee.loss), unit=plain(release.guarantee.unit, at_most=200)
        ),
        color="blue",
        icon=":material/verified_user:",
        help=GLOSSARY["privacy unit"],
    )


def internal_badge() -> None:
    """The badge of everything that reads the original."""
    st.badge(
        _("internal: reads the original, do not publish"), color="orange", icon=":material/visibility_lock:"
    )


def table_uploader(label: str, *, key: str) -> pd.DataFrame | None:
    """A second table from a file, read once; None while there is none. Errors are shown beside the field."""
    read = session.table_in(key)
    if read is not None:
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.markdown(f"{plain(label, at_most=200)}: **{plain(read[0], at_most=100)}**")
        right.button(_("Remove"), key=f"{key}-remove", on_click=session.drop_table, args=(key,))
        return read[1]
    held = session.session()
    widget = f"{key}-{held.uploads}"
    file = file_view.file_uploader(label, type=["csv", "tsv", "txt", "data", "parquet"], key=widget)
    if file is None:
        if held.failed.get(key) is not None:
            error_box(held.failed[key])
        return None
    held.uploads += 1  # another field, so that the server forgets the bytes
    held.failed.pop(key, None)
    try:
        found = reading.read(file.getvalue(), file.name, cancelled=session.is_gone())
        held.tables[key] = (file.name, found.table.frame)
    except DpcoreError as error:
        held.failed[key] = error
    session.drop_uploads()
    return st.rerun()


def epsilon_picker(label: str, *, key: str, default: float, largest: float) -> float:
    """An epsilon by slider and by number; both always agree."""
    slider, box = session.Widget[float](f"{key}-slider"), session.Widget[float](f"{key}-number")
    options = [value for value in EPSILONS if value <= largest] or [largest]
    if slider.value() not in options:  # at first, and when less is left than was chosen before
        chosen = box.value()
        start = min(default if chosen is None else chosen, largest)
        box.put(start)
        slider.put(_nearest(options, start))
    columns = st.columns([3, 1], vertical_alignment="bottom")
    columns[0].select_slider(
        label,
        options,
        key=slider.key,
        on_change=lambda: box.put(slider.value() or 0.0),
        help=GLOSSARY["epsilon"],
        persist_state="session",
    )
    value = columns[1].number_input(
        _("exactly"),
        min_value=0.0,
        format="%g",
        step=0.1,
        key=box.key,
        on_change=lambda: slider.put(_nearest(options, box.value() or 0.0)),
        persist_state="session",
    )
    return float(value or 0.0)


def loss_of(curator: Curator, epsilon: float) -> AnyLoss:
    """The loss that `epsilon` means under the account's rule.

    Raises: ParameterError when epsilon is not above 0.
    """
    return curator.rule.stated(repr(epsilon), delta_of(curator.account))


def epsilon_left(curator: Curator) -> float:
    """What is left, as an epsilon that one more release could state."""
    return spent_epsilon(max(0, curator.balance().left), curator.account)


def say_epsilon(epsilon: float) -> None:
    """What an epsilon means, in words."""
    st.caption(f"{epsilon_words(epsilon)} {epsilon_verdict(epsilon)}")


def _nearest(options: list[float], value: float) -> float:
    return min(options, key=lambda option: abs(option - value))


def link_root(address: str, kind: str) -> str:
    """Where pages for people with a link are, seen from the address of one of ours."""
    parts = urlsplit(address)
    folder = parts.path.rsplit("/", 1)[0]
    return f"{parts.scheme}://{parts.netloc}{folder}/{kind}/"


def show_noise(model: SyntheticModel) -> None:
    """The error of every pair that the noise alone explains."""
    found = noise_errors(model)
    if len(found.columns) < 2:
        st.info(_("There is one column only."))
        return
    st.caption(
        _(
            "Expected total variation distance of each pair by noise alone. It was computed from the release "
            "and may be published. White pairs were not measured."
        )
    )
    chart = charts.heatmap(found.columns, found.pairs, title=_("error by noise"))
    show_chart(chart, key="noise")
