"""A table's account in the ledger, without any rows."""

import dataclasses

from dpcore.accounting.composition import Rule
from dpcore.accounting.ledger import Account, Balance, Ledger, Line
from dpcore.curator.tabulating import count_exact_tables, list_published_tables
from dpcore.errors import unknown_name_error
from dpcore.release import Guarantee, PrivateReport, Release
from dpcore.suppression.published import PublishedTable


class TableOnFile:
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

    @property
    def reading_from_data(self) -> bool:
        """Whether the format of the table's file was inferred from the file."""
        return False

    def balance(self) -> Balance:
        """Return the spent, reserved and remaining budget, from the ledger as of now."""
        return self.ledger.standing(self.account.dataset).balance

    def lines(self) -> tuple[Line, ...]:
        """Return every line of the table."""
        return self.ledger.lines(self.account.dataset)

    def verify(self) -> None:
        """Check that the account's lines in the ledger were not altered.

        Raises: LedgerCorrupt when it was altered.
        """
        self.ledger.verify(self.account.dataset)

    def release(self, request_id: str) -> Release:
        """Return a stored release.

        Releases of earlier versions do not say how the file was read; the account does.

        Raises: ParameterError where there is none.
        """
        release = Release.from_json(self._load_text(request_id))
        guarantee = self.update_guarantee(release.guarantee)
        if not self.reading_from_data:
            return dataclasses.replace(release, guarantee=guarantee)
        return dataclasses.replace(
            release,
            schema=dataclasses.replace(release.schema, reading_from_data=True),
            guarantee=dataclasses.replace(guarantee, reading_from_data=True),
        )

    def report(self, request_id: str) -> PrivateReport:
        """Return a stored private report.

        Raises: ParameterError where there is none.
        """
        report = PrivateReport.from_json(self._load_text(request_id))
        guarantee = self.update_guarantee(report.guarantee)
        if self.reading_from_data:
            guarantee = dataclasses.replace(guarantee, reading_from_data=True)
        return dataclasses.replace(report, guarantee=guarantee)

    def exact_tables(self) -> list[PublishedTable]:
        """Return the exact tables that were published."""
        return list_published_tables(self.lines())

    def update_guarantee(self, guarantee: Guarantee) -> Guarantee:
        """Return a guarantee that says how many exact tables were published by now."""
        return dataclasses.replace(
            guarantee, exact_tables=count_exact_tables(self.lines())
        )

    def _load_text(self, request_id: str) -> str:
        text = self.ledger.release(self.account.dataset, request_id)
        if text is None:
            raise unknown_name_error()
        return text
