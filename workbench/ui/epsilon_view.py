"""An epsilon: how it is chosen, what it means, and how much of it is left."""

import math

import streamlit as st

from dpcore.accounting.loss import AnyLoss
from dpcore.curator import Curator
from workbench import session
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import _
from workbench.language.wording import (
    delta_of,
    epsilon_verdict,
    epsilon_words,
    number,
    spent_epsilon,
)

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0)


def box(key: str) -> session.Widget[float]:
    """Return the field in which the epsilon of a picker is typed."""
    return session.Widget(f"{key}-number")


def picker(label: str, *, key: str, default: float, largest: float) -> float:
    """Ask for an epsilon by slider and by number, which always agree.

    What a person chose is never changed: where less is left by now, the page says so.
    """
    slider = session.Widget[float](f"{key}-slider")
    typed = box(key)
    ends = math.floor(1000 * largest) / 1000
    before = typed.value()
    value = (min(default, ends) or default) if before is None else before
    options = sorted({each for each in EPSILONS if each < ends} | {ends, value} - {0.0})
    typed.put(value)
    slider.put(value if value in options else options[0])
    columns = st.columns([3, 1], vertical_alignment="bottom")
    columns[0].select_slider(
        label,
        options,
        format_func=number,
        key=slider.key,
        on_change=lambda: typed.put(slider.value() or 0.0),
        help=_(GLOSSARY["epsilon"]),
        persist_state="session",
    )
    exactly = columns[1].number_input(
        _("exactly"),
        min_value=0.0,
        format="%g",
        step=0.1,
        key=typed.key,
        persist_state="session",
    )
    return float(exactly or 0.0)


def loss(curator: Curator, epsilon: float) -> AnyLoss:
    """Return the loss that `epsilon` means under the account's rule.

    Raises: ParameterError when epsilon is not above 0.
    """
    return curator.rule.loss_of(repr(epsilon), delta_of(curator.account))


def left(curator: Curator) -> float:
    """Return what is left, as an epsilon that one more release could state."""
    return spent_epsilon(max(0, curator.balance().left), curator.account)


def say(epsilon: float) -> None:
    """Say what an epsilon means."""
    st.caption(f"{epsilon_words(epsilon)} {epsilon_verdict(epsilon)}")
