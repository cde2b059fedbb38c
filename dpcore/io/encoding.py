"""Recognize the format of a file's bytes, and decode text by its likely encoding.

Nothing is ever unpacked or loaded here; a packed or pickled file is only recognized and
named.
"""

import re
import tomllib
import unicodedata
from collections.abc import Container
from functools import cache
from importlib.resources import files

from dpcore.errors import ReadError

_ENCODINGS = tomllib.loads(
    files(__package__).joinpath("encodings.toml").read_text("utf-8")
)
_FORMAT_MARKS = tomllib.loads(
    files(__package__).joinpath("formats.toml").read_text("utf-8")
)["marks"]
_ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06")
_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_SAMPLE_BYTES = 100_000
"""Bytes by which an encoding is recognized."""
DAMAGED_UTF8 = "utf-8-damaged"
"""UTF-8 in which some bytes are none; each becomes the sign U+FFFD."""
_MAX_DAMAGED_SHARE = 0.05
"""Largest share of wrong sequences among those of several bytes."""
ENCODING_CHOICES = (
    "utf-8",
    "utf-16",
    *_ENCODINGS["languages"],
    "gb18030",
    "big5",
    "cp932",
    "euc_jp",
    "cp949",
)
"""Encodings to choose from, the most usual ones first."""
_MIN_SCORE = 0.5
"""Least mean score of the letters of a text; noise has less."""
_ORDER_BONUS = 0.002
"""What an encoding is ahead of the next one in the list, as both may fit."""
_OTHER_LANGUAGE_SCORE = 0.5
"""Value of a letter of another language that the encoding is for."""
_NO_LETTER_SCORE = 0.6
"""Score of a text without such letters, and of a letter that stands alone: in another
encoding it is a sign such as € or §.
"""
_WESTERN_BONUS = 0.02
"""What the most usual encoding is ahead of all others."""
_ASCII_BESIDE_EAST_ASIAN = re.compile(r"[A-Za-z][^\x00-\x7f]|[^\x00-\x7f][A-Za-z]")
"""Letters of ASCII beside characters of East Asia."""
_COMMON_SYMBOLS = frozenset("€£§°“”„‘’–—…«»©®™µ·№  ¡¿ºª²³")
_RARE_SYMBOLS = frozenset("¢¥±×÷‰¹½¼¾´")
"""Signs that stand beside ASCII in a text of their encoding."""
_MICRO_UNITS = re.compile(r"µ(?:g|kat|l|L|m|mol|s)(?![^\W\d_])")
"""Units of laboratories, which are as good a sign as letters of a language."""
_MICRO_UNIT_SCORE = 1.2
_COMMON_HANGUL = re.compile("[가-힣]")
_KANA = re.compile("[ぁ-んァ-ヶー]")
MIN_HANGUL_SYLLABLES = 10
"""Distinct signs from which on a text of syllables of Hangul alone is no accident."""
_LONG_HANGUL_SCORE = 1.5
_SHORT_HANGUL_SCORE = 1.2
"""Scores of such a text, and of a shorter one: it is above that of Chinese with rare
characters, and below that of everyday Chinese.
"""
_WORD = re.compile(r"[^\W_]+")


def recognize_format(data: bytes) -> str | None:
    """Return the format name of some bytes, such as "ZIP"; None if they may be text.

    Parquet is recognized by its mark at both ends.
    """
    if is_parquet(data):
        return "Parquet"
    if data.startswith(_ZIP_MARKS):
        return "Excel" if b"xl/workbook" in data else "ZIP"
    head = data[:256]
    return next(
        (
            name
            for mark, name in _FORMAT_MARKS.items()
            if re.match(mark.encode(), head, re.DOTALL)
        ),
        None,
    )


def is_parquet(data: bytes) -> bool:
    return data.startswith(b"PAR1") and data.endswith(b"PAR1")


def is_text_table(data: bytes) -> bool:
    """Return whether a file's bytes are a text table, whatever its extension says."""
    other = recognize_format(data)
    if other is not None:
        return other in ("HTML", "JSON")
    first = data[:_SAMPLE_BYTES].splitlines()[0] if data.strip() else b""
    has_cells = any(sign in first for sign in (b"\t", b";", b","))
    return has_cells and b"\0" not in data[:_SAMPLE_BYTES]


def decode(data: bytes, encoding: str | None = None) -> tuple[str, str]:
    """Decode bytes into text; return the text and the name of its encoding.

    Args:
        data: the whole file.
        encoding: if given, the only one that is tried; `DAMAGED_UTF8` replaces bytes.

    Without one, the first that fits: a byte order mark, UTF-8, UTF-16 by its zero
    bytes, and else the encoding in which most letters belong to one language.

    Raises: ReadError when nothing fits, or the text holds a NUL character.
    """
    detected = encoding or _detect_encoding(data)
    text = _try_decode(data, detected) if detected else None
    if text is None or detected is None or "\0" in text:
        raise ReadError(
            "this encoding does not fit the file, or no encoding could be recognized",
            remedy="choose another encoding, or export the table again as CSV in UTF-8",
        )
    return text.removeprefix("\ufeff"), detected


def find_damaged_line(text: str) -> int:
    """Return the number, from 1, of the line with the first byte that is not UTF-8."""
    return len(re.findall(r"\r\n?|\n", text[: text.index("\ufffd")])) + 1


def _detect_encoding(data: bytes) -> str | None:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding
    if (wide := _find_utf16_order(data)) is not None:
        return wide
    if _try_decode(data, "utf-8") is not None:
        return "utf-8"
    if _is_damaged_utf8(data):
        return DAMAGED_UTF8
    end = data.rfind(b"\n", 0, _SAMPLE_BYTES) + 1 or _SAMPLE_BYTES
    sample = data if len(data) <= _SAMPLE_BYTES else data[:end]
    scores = {
        encoding: score
        + _ORDER_BONUS * (len(ENCODING_CHOICES) - place)
        + _WESTERN_BONUS * (encoding == "cp1252")
        for place, encoding in enumerate(ENCODING_CHOICES)
        if (score := _score(sample, encoding)) is not None
    }
    best = max(scores, key=lambda encoding: scores[encoding], default=None)
    return best if best is not None and scores[best] >= _MIN_SCORE else None


def _try_decode(data: bytes, encoding: str) -> str | None:
    if encoding == DAMAGED_UTF8:
        return data.decode("utf-8", "replace")
    try:
        text = data.decode(encoding)
    except (LookupError, ValueError):
        return None
    # this encoding stores letters and their tone marks separately
    return unicodedata.normalize("NFC", text) if encoding == "cp1258" else text


def _is_damaged_utf8(data: bytes) -> bool:
    """Return whether nearly all multi-byte sequences are valid UTF-8."""
    text = data.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    wide = sum(not sign.isascii() for sign in text)
    return wrong <= _MAX_DAMAGED_SHARE * wide


def _find_utf16_order(data: bytes) -> str | None:
    """Return the byte order of UTF-16 without a mark; None if it is not UTF-16.

    It shows in zeros in every second byte.
    """
    even = data[0:_SAMPLE_BYTES:2].count(0)
    odd = data[1:_SAMPLE_BYTES:2].count(0)
    if even + odd < min(len(data), _SAMPLE_BYTES) / 8 or (even and odd):
        return None
    return "utf-16-le" if odd else "utf-16-be"


def _score(data: bytes, encoding: str) -> float | None:
    """Return how plausible a text is in an encoding; None if it cannot be decoded.

    The mean over its distinct characters that are not ASCII: 1 and a little more for
    letters of a language, less than 0 for what does not stand in words.
    """
    text = _try_decode(data, encoding)
    if text is None or "\0" in text:
        return None
    if encoding in _ENCODINGS["languages"]:
        languages = _ENCODINGS["languages"][encoding]
        words = {word for word in _WORD.findall(text) if any(map(_is_special, word))}
        wrong = _count_wrong_signs(text)
        units = len({*_MICRO_UNITS.findall(text)})
        together: dict[str, float] = {}
        for name in languages:
            together |= dict.fromkeys(_letter_scores(name), _OTHER_LANGUAGE_SCORE)
        return max(
            _score_words(words, wrong, units, together | _letter_scores(name))
            for name in languages
        )
    mixed = {
        word for word in _WORD.findall(text) if _ASCII_BESIDE_EAST_ASIAN.search(word)
    }
    inside = {sign for word in mixed for sign in word}
    wide = {sign for sign in text if not sign.isascii()}
    if not wide or encoding.startswith("utf"):
        return None
    if encoding == "cp949" and not inside and all(map(_is_common_hangul, wide)):
        return (
            _LONG_HANGUL_SCORE
            if len(wide) >= MIN_HANGUL_SYLLABLES
            else _SHORT_HANGUL_SCORE
        )
    scores = [
        -1.0 if sign in inside else _score_multibyte_character(sign, encoding)
        for sign in wide
    ]
    return sum(scores) / len(scores)


def _score_words(
    words: set[str], wrong_signs: int, units: int, alphabet: dict[str, float]
) -> float:
    scores = [_MICRO_UNIT_SCORE] * units
    is_latin = unicodedata.name(next(iter(alphabet))).startswith("LATIN")
    for word in words:
        if re.search(r"\d", word) or (not is_latin and re.search("[A-Za-z]", word)):
            scores += [-1.0] * len(word)  # digits, or two scripts, in one word
            continue
        for place, letter in enumerate(word):
            if not _is_special(letter):
                continue
            is_odd = place > 0 and letter.isupper() and word[place - 1].islower()
            value = -1.0 if is_odd else alphabet.get(_lower_letter(letter), -1.0)
            scores.append(min(value, _NO_LETTER_SCORE) if len(word) == 1 else value)
        first = word[0]
        if first.islower() and any(letter.isupper() for letter in word[1:]):
            scores.append(-1.0)
    scores += [-1.0] * wrong_signs
    return sum(scores) / len(scores) if scores else _NO_LETTER_SCORE


def _is_special(sign: str) -> bool:
    """Return whether a sign is a letter that is not ASCII; µ and ª are symbols."""
    return not sign.isascii() and sign.isalpha() and sign not in _COMMON_SYMBOLS


def _lower_letter(letter: str) -> str:
    return "ı" if letter == "İ" else letter.lower()


def _count_wrong_signs(text: str) -> int:
    """Count distinct misplaced characters: unusual ones, and symbols inside words."""
    signs = re.finditer(r"[^\x00-\x7f]", text)
    wrong = set()
    for match in signs:
        sign = match.group()
        if _is_special(sign):
            continue
        around = text[max(0, match.start() - 1) : match.end() + 1]
        is_inside = len(around) == 3 and around[0].isalpha() and around[2].isalpha()
        is_money = sign in "€£§°" and any(letter.isalpha() for letter in around)
        is_known = sign in _COMMON_SYMBOLS or (
            sign in _RARE_SYMBOLS and around.replace(sign, "").isascii()
        )
        is_inside_number = sign in "²³" and around[-1].isdigit()
        if not is_known or is_inside_number or is_money or (is_inside and sign != "’"):
            wrong.add(around)
    return len(wrong)


@cache
def _letter_scores(language: str) -> dict[str, float]:
    """Return a score for each non-ASCII letter of a language, most frequent first."""
    from charset_normalizer.constant import FREQUENCIES

    letters = _ENCODINGS["letters"].get(language)
    if letters is None:
        letters = [sign for sign in FREQUENCIES[language] if not sign.isascii()]
        letters += _RARE_LETTERS.get(language, "")
    return {
        letter: 1.2 - 0.2 * place / len(letters) for place, letter in enumerate(letters)
    }


_RARE_LETTERS = {
    "Russian": "юшцщэфёъ",
    "Ukrainian": "єжюфщґш",
    "Bulgarian": "юфьѝ",
    "Serbian": "чжбфхћђџњљ",
    "Greek": "φξβζψώϊΐϋΰς",
    "Thai": "ุูิีึืั็่้๊๋์าำะเแโใไฃฅฆฉซฌญฎฏฐฑฒณธผฝภฤศษฬอฮถฟ",
    "Arabic": "ؤئءآضظغذثز",
    "Hebrew": "ףץ",
    "Farsi": "ظغثذضئ",
}
"""Letters that are too rare for the lists of charset-normalizer."""


def _score_multibyte_character(sign: str, encoding: str) -> float:
    """Return the score of one character in a multi-byte encoding."""
    from charset_normalizer import constant

    common: dict[str, Container[str]] = {
        "gb18030": constant.COMMON_CHINESE_CHARACTERS,
        "big5": constant.COMMON_CHINESE_CHARACTERS,
        "cp932": constant.COMMON_JAPANESE_CHARACTERS,
        "euc_jp": constant.COMMON_JAPANESE_CHARACTERS,
        "cp949": frozenset(constant.FREQUENCIES["Korean"]),
    }
    if sign in common[encoding]:
        return 1.3
    if encoding == "cp949":
        return 1.0 if _COMMON_HANGUL.fullmatch(sign) else -0.5
    if encoding in ("cp932", "euc_jp") and _KANA.fullmatch(sign):
        return 1.3
    if "\uff61" <= sign <= "\uff9f":
        return -1.0
    return 1.0 if _is_common_character(sign, encoding) else -1.0


def _is_common_hangul(sign: str) -> bool:
    """Return whether a character is one of the common Hangul syllables of EUC-KR."""
    is_hangul = _COMMON_HANGUL.fullmatch(sign) is not None
    return is_hangul and len(sign.encode("euc_kr", "ignore")) == 2


def _is_common_character(sign: str, encoding: str) -> bool:
    """Return whether a character is in level 1, the common part, of its standard."""
    standard, low, high = {
        "gb18030": ("gb2312", 0xA1, 0xD7),
        "big5": ("big5", 0xA1, 0xC6),
        "cp932": ("euc_jp", 0xA1, 0xCF),
        "euc_jp": ("euc_jp", 0xA1, 0xCF),
    }[encoding]
    first = sign.encode(standard, "ignore")[:1]
    return bool(first) and low <= first[0] <= high
