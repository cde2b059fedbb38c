"""What other data sets about the same people have spent. Internal."""

from workbench import session
from workbench.language.budget import amount_words
from workbench.language.messages import _
from workbench.language.wording import escape_markdown
from workbench.store.ledger.datasets import load_data_set
from workbench.store.people.same_people import name_of, same_people


def list_spending(dataset: str) -> list[str]:
    """Return a sentence on each other data set about the same people that has spent
    something.
    """
    ledger = session.ledger()
    sentences = []
    for other in same_people(dataset, ledger):
        data_set = load_data_set(other, ledger)
        if data_set is None:
            continue
        balance = data_set.balance()
        spent = balance.spent + balance.reserved
        if spent:
            sentences.append(
                _(
                    "{name} is about the same people and has spent {amount} of its "
                    "own. Both losses add up."
                ).format(
                    name=escape_markdown(name_of(other, ledger)),
                    amount=amount_words(spent, data_set.account),
                )
            )
    return sentences
