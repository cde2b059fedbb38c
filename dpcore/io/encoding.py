"""Bytes to text, by what the first bytes and the evidence say of the format and the
encoding.

Nothing is ever unpacked or loaded here; a packed or pickled file is only recognized and
named.
"""

import re
import tomllib
from importlib.resources import files

from dpcore.errors import ReadError

_MARKS = tomllib.loads(files(__package__).joinpath("formats.toml").read_text("utf-8"))[
    "marks"
]
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_SAMPLE = 100_000


def recognize(data: bytes) -> str | None:
    """Name the format that the bytes look like ("ZIP"), or None when they may be text.

    Parquet is recognized by its mark at both ends.
    """
    if is_parquet(data):
        return "Parquet"
    if data.startswith(_ZIP):
        return "Excel" if b"xl/workbook" in data else "ZIP"
    head = data[:256]
    return next(
        (
            name
            for mark, name in _MARKS.items()
            if re.match(mark.encode(), head, re.DOTALL)
        ),
        None,
    )


def is_parquet(data: bytes) -> bool:
    return data.startswith(b"PAR1") and data.endswith(b"PAR1")


def decode(data: bytes, encoding: str | None = None) -> tuple[str, str]:
    """Decode text, and name its encoding.

    `encoding`, if given, is the only one tried.

    Otherwise the first that fits: a byte order mark, UTF-8, UTF-16 by its zero bytes,
    GB18030 if most of its characters are everyday Chinese, Windows-1252 if accented
    letters stand alone among plain ones, and at last what charset-normalizer finds.

    Raises: ReadError when nothing fits, or the text holds a NUL character.
    """
    detected = encoding or _detect(data)
    text = _try(data, detected) if detected else None
    if text is None or detected is None or "\0" in text:
        raise ReadError(
            "the encoding of the text does not fit, or could not be recognized",
            remedy="choose another encoding, or export the table again as CSV in UTF-8",
        )
    return text.removeprefix("\ufeff"), detected


def _detect(data: bytes) -> str | None:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding
    if (wide := _utf16_order(data)) is not None:
        return wide
    if _try(data, "utf-8") is not None:
        return "utf-8"
    if _is_chinese(data):
        return "gb18030"
    if _is_western(data):
        return "cp1252"
    from charset_normalizer import from_bytes

    end = data.rfind(b"\n", 0, _SAMPLE) + 1 or _SAMPLE
    best = from_bytes(data[:end]).best()
    return best.encoding if best else None


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (LookupError, ValueError):
        return None


def _utf16_order(data: bytes) -> str | None:
    """Return the byte order of UTF-16 without a mark, by zeros in every second byte,
    else None.
    """
    even = data[0:_SAMPLE:2].count(0)
    odd = data[1:_SAMPLE:2].count(0)
    if even + odd < min(len(data), _SAMPLE) / 8 or (even and odd):
        return None
    return "utf-16-le" if odd else "utf-16-be"


def _is_chinese(data: bytes) -> bool:
    """At least 7 of 10 non-ASCII characters are among the 3,755 common ones of GB 2312
    or its punctuation.

    Accented Latin letters followed by plain ones also decode as GB18030, but to
    characters outside these.
    """
    text = _try(data, "gb18030")
    if text is None:
        return False
    wide = re.sub(r"[\x00-\x7f]+", "", text)[:_SAMPLE]
    first_bytes = wide.encode("gb2312", "ignore")[::2]
    return sum(byte < 0xD8 for byte in first_bytes) >= 0.7 * len(wide)


def _is_western(data: bytes) -> bool:
    """Bytes above ASCII come one by one, as in Müller or café.

    Other alphabets make runs of them.
    """
    runs = re.findall(rb"[\x80-\xff]+", data)
    return _try(data, "cp1252") is not None and sum(map(len, runs)) <= 1.5 * len(runs)
