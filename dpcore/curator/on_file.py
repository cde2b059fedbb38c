"""A table's account in the ledger, without any rows."""

from dpcore.accounting.composition import Rule
from dpcore.accounting.ledger import Account, Balance, Ledger, Line
from dpcore.errors import nothing_named
from dpcore.release import PrivateReport, Release


class OnFile:
    """A table as the ledger knows it, with its budget, its lines and its releases.

    Attributes:
        account: of the table.
        ledger: keeps the account.
    """

    account: Account
    ledger: Ledger

    @property
    def rule(self) -> Rule:
        """The rule that adds up charges."""
        return self.account.rule

    def balance(self) -> Balance:
        """Return the spent, reserved and remaining budget, from the ledger as of now."""
        return self.ledger.standing(self.account.dataset).balance

    def lines(self) -> tuple[Line, ...]:
        """Return every line of the table."""
        return self.ledger.lines(self.account.dataset)

    def verify(self) -> None:
        """Walk the chain of the ledger.

        Raises: LedgerCorrupt when it was altered.
        """
        self.ledger.verify(self.account.dataset)

    def release(self, request_id: str) -> Release:
        """Return a stored release.

        Raises: ParameterError where there is none.
        """
        return Release.from_json(self._text(request_id))

    def report(self, request_id: str) -> PrivateReport:
        """Return a stored private report.

        Raises: ParameterError where there is none.
        """
        return PrivateReport.from_json(self._text(request_id))

    def _text(self, request_id: str) -> str:
        text = self.ledger.release(self.account.dataset, request_id)
        if text is None:
            raise nothing_named()
        return text
