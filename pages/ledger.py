"""Ledger: the budget, every charge, what the total covers and what it does not."""

import streamlit as st

from dpcore.errors import DpcoreError
from workbench.ledger import lines, opened_view
from workbench.ui import widgets
from workbench.ui.glossary import GLOSSARY
from workbench.ui.language import _
from workbench.ui.wording import amount, budget_words, number, plain, spent_epsilon

st.title(_("Ledger"))
opened_view.show()
curator = widgets.need_curator(
    _(
        "Here is every charge on a data set: what was asked, what it cost, and what is left. "
        "Nothing is read before its line is written."
    )
)
balance = curator.balance()

spent, held, left = st.columns(3)
spent.metric(_("Spent"), amount(balance.spent, curator.account), help=GLOSSARY["charge"])
held.metric(
    _("Held"),
    amount(balance.held, curator.account),
    help=_("Reserved by a run that has not ended. It counts as spent."),
)
left.metric(_("Left"), amount(balance.left, curator.account), help=GLOSSARY["budget"])
widgets.budget_bar(balance, curator.account)
st.caption(
    _("Budget: {budget}. Protected: {unit}. Rule: {rule}. All three are fixed.").format(
        budget=budget_words(curator.account),
        unit=plain(curator.schema.unit, at_most=200),
        rule=_("basic, epsilons add up") if curator.rule.pure else _("zCDP, rhos add up"),
    )
)
if not curator.rule.pure:
    st.caption(
        _("What is spent amounts to epsilon {epsilon} at the delta of this budget.").format(
            epsilon=number(spent_epsilon(balance.spent + balance.held, curator.account))
        )
    )

st.header(_("Charges"))
charges = lines.charges(curator)
if charges.empty:
    st.info(_("Nothing was spent yet. The first release will be listed here."))
else:
    st.dataframe(charges, hide_index=True)

covers, not_covered = st.columns(2)
with covers.container(border=True):
    st.subheader(_("What this total covers"))
    st.write(
        _(
            "Every histogram, marginal and synthetic table that was released from this data set here, "
            "and everything computed from them."
        )
    )
with not_covered.container(border=True):
    st.subheader(_("What it does not cover"))
    for sentence in lines.not_covered(curator):
        st.markdown(f"- {sentence}")

st.header(_("The same spends under other rules"))
st.caption(
    _(
        "Information only: the budget is kept by its own rule, which holds even when later questions "
        "depend on earlier answers."
    )
)
comparison = lines.comparison(curator)
if comparison is None:
    st.write(_("There is nothing to compare yet."))
else:
    st.dataframe(comparison, hide_index=True)

st.header(_("Check and keep"))
with st.container(horizontal=True):
    verify = st.button(_("Verify the chain of lines"), icon=":material/link:")
    st.download_button(
        _("Export the ledger (JSON)"),
        lines.export(curator),
        "ledger.json",
        "application/json",
        on_click="ignore",
        icon=":material/download:",
    )
if verify:
    try:
        curator.verify()
        st.success(_("All {lines} lines are as they were written.").format(lines=len(curator.lines())))
    except DpcoreError as error:
        widgets.error_box(error)
