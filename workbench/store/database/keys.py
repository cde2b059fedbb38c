"""The ledger's two keys: one seals its lines, one digests rows.

The sealing key is `WORKBENCH_KEY`, or lies in `ledger.key` of the data directory, and
stays in the processes of the server. The row key is drawn with the database and lies
there, masked by the sealing key. Another sealing key therefore leaves all digests of
rows, and what is filed under them, as they are. A ledger from before version 4 digested
rows under the sealing key of that day, which stays its row key.
"""

import hashlib
import hmac
import os
import re
import secrets
import uuid
from pathlib import Path

import sqlalchemy as sa

from dpcore.accounting.ledger import altered_error
from dpcore.errors import LedgerError
from workbench.store.database.connections import make_folder
from workbench.store.database.tables import has_types, workbench_info
from workbench.store.settings import Settings

KEY_FILE = "ledger.key"
NEW_KEY_FILE = "ledger.key.new"
_HEX = re.compile("(?:[0-9a-f]{2})*")


def key_fields(key: bytes, row_key: bytes) -> dict[str, str]:
    """Return the database fields for both keys: a check and the masked row key."""
    check = hmac.new(key, b"key of this ledger" + row_key, hashlib.sha256).hexdigest()
    return {"key_check": check, "row_key": _apply_mask(key, row_key).hex()}


def read_keys(connection: sa.Connection, settings: Settings) -> tuple[bytes, bytes]:
    """Return the sealing key of this database and its row key.

    Raises: LedgerError if the key is missing or belongs to another database,
        LedgerCorrupt if what the database holds of the keys was altered.
    """
    row = connection.execute(sa.select(workbench_info)).one()
    if not has_types(row, workbench_info) or not _HEX.fullmatch(
        row.row_key + row.key_check
    ):
        raise altered_error()
    for key in [settings.key] if settings.key else _keys_in(settings.data_dir):
        rows = _apply_mask(key, bytes.fromhex(row.row_key))
        if hmac.compare_digest(row.key_check, key_fields(key, rows)["key_check"]):
            if not rows:  # a ledger of before version 4
                rows = key
                connection.execute(
                    sa.update(workbench_info).values(**key_fields(key, rows))
                )
            return key, rows
    raise _wrong_key_error()


def _wrong_key_error() -> LedgerError:
    return LedgerError(
        "the key of this ledger is missing, or is a different one",
        remedy=(
            "restore the key with which the ledger was made: ledger.key in the data "
            "directory, or WORKBENCH_KEY"
        ),
    )


def make_key(path: Path) -> bytes:
    """Make a key in a new file that only its owner can read."""
    key = secrets.token_bytes(32)
    make_folder(path.parent)
    draft = path.with_name(f"{path.name}-{uuid.uuid4().hex}")
    with os.fdopen(
        os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w"
    ) as file:
        file.write(key.hex())
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    return key


def settle_key(folder: Path, key: bytes) -> None:
    """Rename a new key to `ledger.key` once the database is sealed under it."""
    try:
        if bytes.fromhex((folder / NEW_KEY_FILE).read_text(encoding="ascii")) == key:
            (folder / NEW_KEY_FILE).replace(folder / KEY_FILE)
    except FileNotFoundError:
        return  # settled before, by this start or another one


def _apply_mask(key: bytes, row_key: bytes) -> bytes:
    """Apply the sealing key's mask to a row key, or remove it."""
    mask = hmac.new(key, b"mask of the key of rows", hashlib.sha256).digest()
    return bytes(one ^ other for one, other in zip(row_key, mask, strict=False))


def _keys_in(folder: Path) -> list[bytes]:
    """Return the keys in a folder: `ledger.key`, and an unfinished new one if any.

    An unfinished key is left by a start or a `rekey` that was interrupted.
    """
    keys = []
    for name in (
        KEY_FILE,
        NEW_KEY_FILE,
        KEY_FILE,
    ):  # another start may settle it between two looks
        try:
            keys.append(bytes.fromhex((folder / name).read_text(encoding="ascii")))
        except FileNotFoundError:
            continue
        except ValueError:
            raise _wrong_key_error() from None
    if not keys:
        raise _wrong_key_error()
    return keys
