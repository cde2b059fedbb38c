"""Controls to choose an epsilon, directly or as a share of the budget."""

import math
from fractions import Fraction

import streamlit as st

from dpcore.accounting.loss import AnyLoss
from dpcore.curator import Curator
from workbench import session
from workbench.language.budget import (
    SHARE_NAMES,
    affordable_epsilon,
    charged_units,
    delta_of,
    share_epsilon,
    share_words,
)
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import _
from workbench.language.wording import epsilon_verdict, epsilon_words, number

# The slider offers these values of epsilon.
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0)


def number_field(key: str) -> session.Widget[float]:
    """Return the number field of the epsilon control that has this key."""
    return session.Widget(f"{key}-number")


def ask_epsilon(label: str, *, key: str, default: float, largest: float) -> float:
    """Ask for an epsilon by a slider and a number that always agree.

    A choice is never changed. If less is left by now, the page says so.
    """
    slider = session.Widget[float](f"{key}-slider")
    typed = number_field(key)
    ends = math.floor(1000 * largest) / 1000
    before = typed.current_value()
    value = (min(default, ends) or default) if before is None else before
    options = sorted({step for step in EPSILONS if step < ends} | {ends, value} - {0.0})
    typed.put(value)
    slider.put(value if value in options else options[0])
    columns = st.columns([3, 1], vertical_alignment="bottom")
    columns[0].select_slider(
        label,
        options,
        format_func=number,
        key=slider.key,
        on_change=lambda: typed.put(slider.current_value() or 0.0),
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


def ask_share(key: str, *, curator: Curator, default: Fraction) -> float:
    """Ask for a share of the budget; return it as the epsilon of one release.

    The exact epsilon stands beside the shares and may be typed: it is what is kept, so
    that a choice never changes when the rest of the budget does. What nobody changed is
    no choice: of it, no more than the rest is proposed.
    """
    account = curator.account
    left = max(0, curator.balance().remaining_units)
    epsilons = {
        share_epsilon(share, account): share
        for share in SHARE_NAMES
        if share * account.units < left
    }
    rest = affordable_epsilon(left, account)
    slider = session.Widget[float](f"{key}-slider")
    typed = number_field(key)
    value = typed.current_value()
    proposed = share_epsilon(default, account)
    # a proposal follows the budget, unlike a choice
    if value is None or (value == proposed and rest):
        value = min(proposed, rest)
    options = sorted({*epsilons, rest, value} - {0.0})
    typed.put(value)
    slider.put(value if value in options else rest)
    columns = st.columns([3, 1], vertical_alignment="bottom")
    if len(options) > 1:
        columns[0].select_slider(
            _("Share of the budget"),
            options,
            format_func=lambda epsilon: (
                _("all that is left")
                if epsilon == rest
                else share_words(charged_units(epsilon, account), account)
            ),
            key=slider.key,
            on_change=lambda: typed.put(slider.current_value() or 0.0),
            help=_(GLOSSARY["budget"]),
            persist_state="session",
        )
    exactly = columns[1].number_input(
        _("epsilon"),
        min_value=0.0,
        format="%.6g",
        step=0.1,
        key=typed.key,
        help=_(GLOSSARY["epsilon"]),
        persist_state="session",
    )
    return float(exactly or 0.0)


def loss_of_epsilon(curator: Curator, epsilon: float) -> AnyLoss:
    """Return the loss of `epsilon` under the account's rule.

    Raises: ParameterError when epsilon is not above 0.
    """
    return curator.rule.make_loss(repr(epsilon), delta_of(curator.account))


def remaining_epsilon(curator: Curator) -> float:
    """Return the remaining budget as the epsilon of one more release."""
    return affordable_epsilon(
        max(0, curator.balance().remaining_units), curator.account
    )


def show_meaning(epsilon: float) -> None:
    """Show a sentence on what an epsilon means."""
    st.caption(f"{epsilon_words(epsilon)} {epsilon_verdict(epsilon)}")
