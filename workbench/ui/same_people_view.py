"""What other data sets about the same people have spent. Internal."""

import streamlit as st

from workbench import session
from workbench.language.budget import amount_words
from workbench.language.messages import _
from workbench.language.wording import escape_markdown
from workbench.store.ledger.datasets import load_data_set
from workbench.store.people.same_people import name_of, same_people


def say_spending(dataset: str) -> None:
    """Say what each other data set about the same people has spent, if anything."""
    ledger = session.ledger()
    for other in same_people(dataset, ledger):
        data_set = load_data_set(other, ledger)
        if data_set is None:
            continue
        balance = data_set.balance()
        spent = balance.spent + balance.reserved
        if spent:
            st.caption(
                _(
                    "{name} is about the same people and has spent {amount} of its "
                    "own. Both losses add up."
                ).format(
                    name=escape_markdown(name_of(other, ledger)),
                    amount=amount_words(spent, data_set.account),
                )
            )
