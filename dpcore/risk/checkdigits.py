"""Numbers that carry a check digit: national ids, bank accounts and payment cards.

Each function answers for one text. A random number passes by chance in 1 of 10 to 1 of 97 cases, so a
column in which nearly all values pass is hardly a coincidence. Sources: ISO 13616 (IBAN), ISO/IEC 7812
(Luhn), ISO 7064 (German and Chinese ids), and the published rules of the other issuing authorities.
"""

from __future__ import annotations

import re

_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_CHINESE_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CODICE_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
_DAY = r"(0[1-9]|[12]\d|3[01])"
_MONTH = r"(0[1-9]|1[0-2])"

_IBAN = re.compile(r"[A-Z]{2}\d\d[A-Z0-9]{11,30}")
_CARD = re.compile(r"[2-6]\d{12,18}")
_STEUER = re.compile(r"[1-9]\d{10}")
_NIR = re.compile(r"[1-478]\d\d(0[1-9]|1[0-2]|[2-9]\d)(\d\d|2[AB])\d{8}")
_DNI = re.compile(r"[0-9XYZ]\d{7}[A-Z]")
_CODICE = re.compile(r"[A-Z]{6}[\dL-NP-V]{2}[A-EHLMPRST][\dL-NP-V]{2}[A-Z][\dL-NP-V]{3}[A-Z]")
_PERSONNUMMER = re.compile(rf"(18|19|20)?(\d\d{_MONTH}([0-2]\d|3[01]|[67]\d|8\d|9[01]))[-+]?(\d{{4}})")
_CHINESE = re.compile(rf"\d{{6}}(18|19|20)\d\d{_MONTH}{_DAY}\d{{3}}[\dX]")


def _compact(text: str) -> str:
    return re.sub(r"[ \-.]", "", text).upper()


def passes_luhn(digits: str) -> bool:
    """Every second digit from the right doubled, digits summed, divisible by 10."""
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(int(digit) for digit in digits[-1::-2])) % 10 == 0


def is_iban(text: str) -> bool:
    """Account number with its country: moved to the end, letters as 10 to 35, the remainder by 97 is 1."""
    number = _compact(text)
    if not _IBAN.fullmatch(number):
        return False
    return int("".join(str(int(sign, 36)) for sign in number[4:] + number[:4])) % 97 == 1


def is_payment_card(text: str) -> bool:
    """13 to 19 digits of a card network, with a Luhn digit."""
    number = _compact(text)
    return bool(_CARD.fullmatch(number)) and passes_luhn(number)


def is_steuer_id(text: str) -> bool:
    """German tax id: 11 digits, one of the first ten digits repeated, ISO 7064 mod 11,10."""
    number = _compact(text)
    if not _STEUER.fullmatch(number) or len(set(number[:10])) not in (8, 9):
        return False
    product = 10
    for digit in number[:10]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(number[10])


def is_nir(text: str) -> bool:
    """French social security number: 13 digits (2A and 2B for Corsica) and 97 minus their remainder by 97."""
    number = _compact(text)
    if not _NIR.fullmatch(number):
        return False
    return 97 - int(number[:13].replace("2A", "19").replace("2B", "18")) % 97 == int(number[13:])


def is_dni(text: str) -> bool:
    """Spanish DNI, or NIE with X, Y or Z for 0, 1 or 2: eight digits and a letter by their remainder by
    23."""
    number = _compact(text)
    if not _DNI.fullmatch(number):
        return False
    digits = number[:8].translate(str.maketrans("XYZ", "012"))
    return _DNI_LETTERS[int(digits) % 23] == number[8]


def is_codice_fiscale(text: str) -> bool:
    """Italian tax code: 15 letters and digits, odd and even places weighed differently, and a letter."""
    code = _compact(text)
    if not _CODICE.fullmatch(code):
        return False
    values = [int(sign) if sign.isdigit() else ord(sign) - ord("A") for sign in code[:15]]
    return (sum(_CODICE_ODD[value] for value in values[::2]) + sum(values[1::2])) % 26 == ord(code[15]) - ord(
        "A"
    )


def is_personnummer(text: str) -> bool:
    """Swedish personal number: birth date (day plus 60 for coordination numbers), three digits, Luhn
    digit."""
    match = _PERSONNUMMER.fullmatch(text.strip())
    return match is not None and passes_luhn(match[2] + match[5])


def is_chinese_id(text: str) -> bool:
    """Chinese resident id: region, birth date, sequence, and a digit or X by ISO 7064 mod 11-2."""
    number = _compact(text)
    if not _CHINESE.fullmatch(number):
        return False
    total = sum(weight * int(digit) for weight, digit in zip(_CHINESE_WEIGHTS, number[:17], strict=True))
    return "10X98765432"[total % 11] == number[17]
