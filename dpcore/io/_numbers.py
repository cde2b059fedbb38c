"""Read numbers from single texts, in the forms of many countries and programs.

Everything here looks at one text alone, in linear time. Which sign stands before the
decimals, and which unit belongs to a column, is said by the caller.
"""

import re
import unicodedata
from typing import NamedTuple

DECIMAL_SIGNS = (".", ",")
_CURRENCIES = (
    r"€|R\$|US\$|C\$|A\$|HK\$|NT\$|NZ\$|S\$|\$|£|¥|₹|₽|₺|₴|₩|₪|฿|₫|₦|元|円|원"
    r"|EUR|USD|GBP|CHF|JPY|CNY|RMB|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|TRY|RUB|UAH|INR|BRL"
    r"|CAD|AUD|MXN|ZAR|KRW|IDR|VND|THB|SGD|MYR|PHP|AED|SAR|ILS|ISK|RSD|BAM|KES|NGN|EGP"
    r"|Rp\.?|đ|₱|₾|₸|บาท|лв\.?|дин\.?|din\.?|KSh|Fr\.|Rs\.?|kr\.?|zł|Kč|Ft|lei|TL|руб\.?|грн\.?"
)
_UNITS = (
    r"%|‰|kg|mg|µg|μg|ug|g|lbs?|oz|km|cm|mm|m|mi|ft|in|l|L|dl|ml|cl|ha|m²|m2|km²|km2"
    r"|mmol/[lL]|mg/d[lL]|g/[lL]|g/d[lL]|mmHg|bpm|kcal|kJ|kWh|W|kW|V|Hz|[KMGT]B"
    r"|°C|°F|°|h|hrs?|hours?|min|sec|s|ms|d|days?|weeks?|months?|years?|yrs?|y"
    r"|Jahre?|Tage?|Stunden|Std\.?|ans?|jours?|años?|anni|anos|lat|år|років|лет|岁|歳|세"
)
_THOUSANDS_SIGNS = {".": ",'’ _\u00a0\u202f\u2009", ",": ".'’ _\u00a0\u202f\u2009"}
_MINUS_SIGNS = dict.fromkeys("−–‒﹣－", "-")
_ARABIC_DECIMAL, _ARABIC_GROUP = "٫", "٬"
_MAX_DIGITS_AFTER_PLUS = 6
"""Digits of a whole number behind a plus sign; with more it may be a phone number."""


def _number_pattern(decimal: str) -> re.Pattern[str]:
    sign = re.escape(decimal)
    indian = r"|[1-9]\d?(?P<indian>(?:,\d{2})+),\d{3}" if decimal == "." else ""
    whole = (
        rf"[1-9]\d{{0,2}}(?P<group>[{_THOUSANDS_SIGNS[decimal]}])\d{{3}}(?:(?P=group)\d{{3}})*"
        rf"{indian}|0|[1-9]\d*"
    )
    return re.compile(
        r"(?P<open>\()?(?P<sign>[-+])?"
        rf"(?:(?P<before>{_CURRENCIES})[ \u00a0\u202f]?)?(?P<inner>-)?"
        rf"(?:(?P<whole>{whole})(?:{sign}(?P<part>\d+|-{{1,2}}))?|{sign}(?P<only>\d+))"
        r"(?P<exponent>[eE][+-]?\d{1,3})?(?P<trailing>-)?"
        rf"(?:[ \u00a0\u202f]?(?P<after>{_CURRENCIES}|{_UNITS}))?(?P<close>\))?"
        r"(?:\s?[*†‡]{1,3})?",
        re.ASCII,
    )


_PATTERNS = {decimal: _number_pattern(decimal) for decimal in DECIMAL_SIGNS}


_HAS_DIGIT = re.compile(r"[0-9]")
_SIMPLE_PATTERNS = {
    decimal: re.compile(rf"-?(?:0|[1-9][0-9]*)(?:{re.escape(decimal)}[0-9]+)?")
    for decimal in DECIMAL_SIGNS
}
"""Most numbers: a minus, digits, decimals, and nothing else."""


class Number(NamedTuple):
    """A number and how its text was written.

    Attributes:
        plain: the number as programs write it, such as "-1234.5".
        unit: the currency or unit beside it; empty for none.
        pattern: how it is written, such as "1.234,5 €".
    """

    plain: str
    unit: str
    pattern: str


def read_number(text: str, decimal: str) -> Number | None:
    """Return the number in a text; None for other texts.

    Args:
        text: one cell.
        decimal: the sign before the decimals, one of `DECIMAL_SIGNS`.

    >>> read_number("(1.234,50)", ",").plain, read_number("R$ 5", ".").unit
    ('-1234.50', 'R$')
    """
    if _SIMPLE_PATTERNS[decimal].fullmatch(text):
        written = f"1{decimal}5" if decimal in text else "1234"
        return Number(plain=text.replace(decimal, "."), unit="", pattern=written)
    if text.isascii() and not _HAS_DIGIT.search(text):
        return None
    match = _PATTERNS[decimal].fullmatch(_to_ascii_digits(text.strip(), decimal))
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    part = _decimal_digits(match)
    whole = match["whole"] or "0"
    group = "," if match.groupdict().get("indian") else match["group"] or ""
    signs = [match["open"], match["sign"], match["inner"], match["trailing"]]
    if sum(map(bool, signs)) > 1 or (match["exponent"] and group):
        return None
    if match["trailing"] and not (part or group):
        return None
    digits = whole.replace(group, "") if group else whole
    if match["sign"] == "+" and not part and len(digits) > _MAX_DIGITS_AFTER_PLUS:
        return None
    is_negative = any(sign in ("-", "(") for sign in signs)
    plain = ("-" if is_negative else "") + digits + (f".{part}" if part else "")
    if match["exponent"]:
        plain += match["exponent"]
    unit = match["before"] or match["after"] or ""
    return Number(
        plain=plain, unit=unit, pattern=_describe_number(match, group, decimal)
    )


def _decimal_digits(match: re.Match[str]) -> str:
    """Return the decimal digits of a matched number; none if a dash stands for them."""
    decimals: str = match["part"] or match["only"] or ""
    return decimals.strip("-")


def _to_ascii_digits(text: str, decimal: str) -> str:
    """Replace digits and signs of other scripts by their ASCII forms."""
    if text.isascii():
        return text
    other = "," if decimal == "." else "."
    signs = {**_MINUS_SIGNS, _ARABIC_DECIMAL: decimal, _ARABIC_GROUP: other}
    plain = ""
    for sign in text:
        if sign.isdecimal():
            plain += "0123456789"[unicodedata.decimal(sign)]
        elif "！" <= sign <= "～":
            plain += signs.get(sign, chr(ord(sign) - 0xFEE0))
        else:
            plain += signs.get(sign, sign)
    return plain


def _describe_number(match: re.Match[str], group: str, decimal: str) -> str:
    part = f"{decimal}5" if _decimal_digits(match) else ""
    whole = f"1{group}234" if group else "1" if part else "1234"
    number = f"{whole}{part}{'E+03' if match['exponent'] else ''}"
    before = match["before"] or ""
    after = f" {match['after']}" if match["after"] else ""
    return f"{before}{number}{after}"
