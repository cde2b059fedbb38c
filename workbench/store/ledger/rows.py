"""Convert rows of the ledger's tables to objects, and check each for alteration."""

import json
from dataclasses import fields
from typing import Any

import sqlalchemy as sa

from dpcore.accounting.chain import check_seal
from dpcore.accounting.ledger import (
    NO_CHARGE,
    Account,
    Charge,
    Line,
    altered_error,
    altered_line_error,
    check_request_states,
)
from workbench.store.database.tables import accounts, has_types, lines, releases

PRESUMED_FAILURE = {"error": "the program ended before the run did"}
"""Content of the line that ends a request whose process seemed to be gone."""
_UNCONVERTED_FIELDS = [
    field.name for field in fields(Line) if field.name not in ("charge", "content")
]
"""The fields of a line that are columns of its row."""
_IS_IN_DATASET = lines.c.dataset == sa.bindparam("dataset")
# built once, since every page runs these queries many times
_ACCOUNT_QUERY = sa.select(accounts).where(
    accounts.c.dataset == sa.bindparam("dataset")
)
_LAST_LINE_QUERY = (
    sa.select(lines).where(_IS_IN_DATASET).order_by(lines.c.number.desc()).limit(1)
)
_NUMBERED_LINE_QUERY = sa.select(lines).where(
    _IS_IN_DATASET, lines.c.number == sa.bindparam("number")
)
_LINES_SINCE_QUERY = (
    sa.select(lines)
    .where(_IS_IN_DATASET, lines.c.number >= sa.bindparam("since"))
    .order_by(lines.c.number)
)


def new_key_content(before: str) -> dict[str, str]:
    """Return the content of the first line under a new key.

    Args:
        before: digest of the line before it, under the old key.
    """
    return {"kind": "new sealing key", "before": before}


def is_line_present(
    connection: sa.Connection, key: bytes, last: Line, seen: tuple[int, str]
) -> bool:
    """Return whether a line that was seen earlier is still in the ledger.

    The same line sealed again under a new key counts.

    Args:
        last: line of its data set.
    """
    there = (
        last if seen[0] == last.number else last_line(connection, last.dataset, seen[0])
    )
    if there is None or there.digest == seen[1]:
        return there is not None
    after = last_line(connection, last.dataset, seen[0] + 1)
    return after is not None and check_seal(key, after).content == new_key_content(
        seen[1]
    )


def account_row(connection: sa.Connection, dataset: str, *, lock: bool = False) -> Any:
    """Return the account's row.

    With `lock` it stays locked until the transaction ends; SQLite locks its whole file.
    """
    query = _ACCOUNT_QUERY.with_for_update() if lock else _ACCOUNT_QUERY
    return connection.execute(query, {"dataset": dataset}).one_or_none()


def parse_account(row: Any) -> Account:
    if not has_types(row, accounts):
        raise altered_error()
    try:
        account = Account(
            dataset=row.dataset,
            rule=row.rule,
            units=row.units,
            threshold_units=row.threshold_units,
            promise=json.loads(row.promise),
            unit=json.loads(row.unit),
        )
    except (ValueError, RecursionError) as error:
        raise altered_error() from error
    if not isinstance(account.promise, dict) or not isinstance(account.unit, dict):
        raise altered_error()
    return account


def check_request_unused(
    connection: sa.Connection, dataset: str, request_id: str
) -> None:
    query = sa.select(lines.c.state).where(
        lines.c.dataset == dataset, lines.c.request_id == request_id
    )
    check_request_states(request_id, connection.execute(query).scalars().all(), [])


def charge_at_end(
    connection: sa.Connection, key: bytes, dataset: str, request_id: str
) -> Charge:
    """Return the charge that the end of a request adds to the finished total.

    That is its charge, or nothing if the request was presumed to have failed and was
    counted then.
    """
    of_request = sa.select(lines).where(
        lines.c.dataset == dataset, lines.c.request_id == request_id
    )
    rows = connection.execute(of_request.order_by(lines.c.number)).all()
    own = [check_seal(key, parse_line(row)) for row in rows]
    presumed = [line.state for line in own if line.content == PRESUMED_FAILURE]
    check_request_states(
        request_id, [line.state for line in own], ["reserved", *presumed]
    )
    return NO_CHARGE if presumed else own[0].charge


def release_text(
    connection: sa.Connection, dataset: str, request_id: str
) -> str | None:
    query = sa.select(releases.c.text).where(
        releases.c.dataset == dataset,
        releases.c.request_id == request_id,
    )
    text = connection.execute(query).scalar_one_or_none()
    if not isinstance(text, str | None):
        raise altered_error()
    return text


def release_texts(connection: sa.Connection, dataset: str) -> dict[str, str]:
    """Return the stored releases of a data set, by request id."""
    query = sa.select(releases).where(releases.c.dataset == dataset)
    rows = connection.execute(query).all()
    if not all(has_types(row, releases) for row in rows):
        raise altered_error()
    return {row.request_id: row.text for row in rows}


def last_line(
    connection: sa.Connection, dataset: str, number: int | None = None
) -> Line | None:
    """Return the last line of a data set, or the one with this number."""
    query = _LAST_LINE_QUERY if number is None else _NUMBERED_LINE_QUERY
    row = connection.execute(
        query, {"dataset": dataset, "number": number}
    ).one_or_none()
    return None if row is None else parse_line(row)


def all_lines(
    connection: sa.Connection, dataset: str, since: int = 0
) -> tuple[Line, ...]:
    rows = connection.execute(_LINES_SINCE_QUERY, {"dataset": dataset, "since": since})
    # fetch all rows first: an error would leave the cursor open, and keep SQLite at an
    # old state
    return tuple(parse_line(row) for row in rows.all())


def parse_line(row: Any) -> Line:
    if not has_types(row, lines):
        raise altered_error()
    try:
        charge = Charge(
            units=row.units,
            threshold_units=row.threshold_units,
            part=parse_part(row.part),
        )
        content = json.loads(row.content)
    except (ValueError, TypeError, RecursionError) as error:
        raise altered_line_error(row.number) from error
    if not isinstance(content, dict):
        raise altered_line_error(row.number)
    return Line(
        charge=charge,
        content=content,
        **{name: getattr(row, name) for name in _UNCONVERTED_FIELDS},
    )


def line_fields(line: Line) -> dict[str, Any]:
    """Return the column values of a line."""
    charge = line.charge
    return {
        **{name: getattr(line, name) for name in _UNCONVERTED_FIELDS},
        "units": charge.units,
        "threshold_units": charge.threshold_units,
        "part": json.dumps(charge.part) if charge.part else None,
        "content": json.dumps(line.content),
    }


def parse_part(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    column, category = json.loads(text)
    return column, category
