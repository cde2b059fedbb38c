"""Audits of tables that have no budget yet."""

from dataclasses import replace
from typing import Any

import pandas as pd

from dpcore.accounting.ledger import Ledger
from dpcore.accounting.loss import PureDP, loss_from_fields
from dpcore.accounting.memory import MemoryLedger
from dpcore.curator import Curator
from dpcore.evaluation.table.rows_of_people import read_privacy_unit
from dpcore.schema import Categorical, PrivacyUnit, Schema


def open_for_audit(
    frame: pd.DataFrame, dataset: str, ledger: Ledger, unit: PrivacyUnit, **options: Any
) -> Curator:
    """Open a table for an audit, which needs no budget.

    If it has an account on file, each result leaves a line there; otherwise it leaves
    none.

    Args:
        frame: its rows.
        dataset: its fingerprint.
        ledger: may have its account.
        unit: who is protected, if no unit is on file.
        options: for `Curator.open`.

    Raises: LedgerError.
    """
    account = ledger.account(dataset)
    on_file = None if account is None else read_privacy_unit(account, ledger)
    account = None if on_file is None else account
    unit = on_file or replace(unit, found="")
    name = next(
        (str(column) for column in frame.columns if column != unit.id_column), ""
    )
    # a schema needs a column; this one declares nothing about the rows
    nothing = Categorical(name=name, categories=("any",), other=True, missing=True)
    return Curator.open(
        frame,
        Schema(columns=(nothing,), unit=unit),
        budget=PureDP(epsilon=1)
        if account is None
        else loss_from_fields(account.promise),
        ledger=MemoryLedger() if account is None else ledger,
        **options,
    )
