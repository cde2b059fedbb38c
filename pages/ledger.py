"""Ledger: the budget, every charge, what the total covers and what it does not."""

import streamlit as st

from dpcore.accounting.attacker import FALSE_ALARMS, max_true_positives
from dpcore.accounting.loss import loss_from_fields
from workbench.language.budget import budget_words, spent_epsilon, split_percent
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import _
from workbench.language.textbook_names import textbook_names
from workbench.language.wording import (
    attacker_words,
    escape_markdown,
    number,
    unit_words,
)
from workbench.records import lines, opened_view, people_view
from workbench.report.files import file_name
from workbench.store.ledger.datasets import public_name
from workbench.ui import (
    data_sets_view,
    file_view,
    kept_view,
    same_people_words,
    widgets,
)

st.title(_("Ledger"))
opened_view.show()
data_set = data_sets_view.need_data_set()
kept_view.show(data_set.id)
balance = data_set.balance()
st.caption(textbook_names("ledger"))

shares = split_percent(
    [balance.spent, balance.reserved, balance.remaining_units], data_set.account
)
spent, held, left = st.columns(3)
spent.metric(_("Spent"), shares[0], help=_(GLOSSARY["charge"]))
held.metric(
    _("Reserved"),
    shares[1],
    help=_("Reserved by a run that has not ended. It counts as spent."),
)
left.metric(_("Left"), shares[2], help=_(GLOSSARY["budget"]))
if data_set.account.source is None:
    st.caption(
        _(
            "This account belongs to these rows: a table with other rows gets its "
            "own account."
        ),
    )
else:
    st.caption(
        _(
            "This account belongs to the connected source {name}, even if its rows "
            "change."
        ).format(
            name=escape_markdown(data_set.account.source),
        ),
    )
st.caption(
    _("Budget: {budget}. Protected: {unit}. Rule: {rule}. All three are fixed.").format(
        budget=budget_words(data_set.account),
        unit=escape_markdown(
            unit_words(data_set.unit, is_linked=data_set.is_linked), max_length=200
        ),
        rule=_("basic: epsilons add up")
        if data_set.rule.is_pure
        else _("zCDP: rhos add up"),
    ),
)
promised_loss = loss_from_fields(data_set.account.promise)
st.caption(
    _("When the whole budget is spent: {limits}").format(
        limits=attacker_words(
            {rate: max_true_positives(promised_loss, rate) for rate in FALSE_ALARMS}
        ),
    ),
)
if not data_set.rule.is_pure:
    used = balance.spent + balance.reserved
    st.caption(
        _(
            "In total, epsilon {epsilon} is spent. The shares of the lines add up "
            "to this total; their epsilons add up to more."
        ).format(epsilon=number(spent_epsilon(used, data_set.account))),
    )

for sentence in same_people_words.list_spending(data_set.id):
    st.caption(sentence)

st.header(_("Charges"))
charges = lines.list_charges(data_set)
notes = lines.list_notes(data_set)
search_text = ""
if len(charges) + len(notes) > 3:
    search_text = st.text_input(_("Show only lines with"), key="ledger-words")
if charges.empty:
    st.info(_("Nothing has been spent yet. The first release will be listed here."))
else:
    st.dataframe(
        lines.filter_lines(charges, search_text), hide_index=True, alt=_("Charges")
    )
if not notes.empty:
    with st.expander(
        _("Free work, not counted in the total: {number}").format(number=len(notes))
    ):
        st.dataframe(
            lines.filter_lines(notes, search_text),
            hide_index=True,
            alt=_("Work outside the total"),
        )

covers, not_covered = st.columns(2)
with covers.container(border=True):
    st.subheader(_("What this total covers"))
    st.write(
        _(
            "Every histogram, marginal and synthetic table released from this "
            "data set here, and everything computed from them."
        )
    )
with not_covered.container(border=True):
    st.subheader(_("What it does not cover"))
    for sentence in lines.list_not_covered(data_set):
        st.markdown(f"- {sentence}")

if (comparison := lines.compare_rules(data_set)) is not None:
    st.header(_("The same spending under other rules"))
    st.caption(
        _(
            "For information only. The budget follows its own rule, which remains "
            "valid even if later questions depend on earlier answers."
        )
    )
    st.dataframe(
        comparison, hide_index=True, alt=_("The same spending under other rules")
    )

with st.container(horizontal=True):
    verify = st.button(_("Check that no line was changed"), icon=":material/link:")
    file_view.download(
        f"{_('Ledger')} (JSON)",
        lines.export_lines(data_set),
        file_name(public_name(data_set.lines()), "ledger", "json"),
    )
people_view.show(data_set.id)
if verify:
    with widgets.catch_and_show_errors():
        data_set.verify()
        st.success(
            _("All {lines} lines are unchanged.").format(lines=len(data_set.lines()))
        )
