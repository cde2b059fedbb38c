"""Bytes are recognized for what they are, and text is decoded with the right
alphabet.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import pickle
import zipfile

import pytest

from dpcore.errors import LimitError, ReadError
from dpcore.io import ReadOptions, read_table
from dpcore.schema.values import READING_FROM_DATA

CHINESE = "姓名,城市,年龄\n王小明,北京,34\n李娜,上海,27\n欧阳靖,广州,51\n"
GERMAN = "Name;Straße;Größe\nMüller;Am Gänsemarkt;5\nJörg;Übergang;7\nRené;Café;6\n"
FRENCH = "prénom,ville\nZoé,Orléans\nFrançois,Nîmes\nAnaïs,Béziers\n"
RUSSIAN = (
    "имя,город\nИван Петрович Сидоров,Москва\nАнна Сергеевна "
    "Кузнецова,Санкт-Петербург\n"
) * 20


@pytest.mark.parametrize(
    ("text", "encoding", "expected"),
    [
        (CHINESE, "utf-8", "utf-8"),
        (CHINESE, "utf-8-sig", "utf-8-sig"),
        (CHINESE, "utf-16", "utf-16"),
        (CHINESE, "gb18030", "gb18030"),
        ("名,n\n𠮷,1\n王,2\n李,3\n张,4\n", "gb18030", "gb18030"),
        (GERMAN, "cp1252", "cp1252"),
        (FRENCH, "cp1252", "cp1252"),
        # these bytes are valid GB18030, too
        ("name,n\nMüller,1\nJörg,2\nKäthe,3\n", "cp1252", "cp1252"),
        ("item,price\nTea,“£3”\nCoffee,€4\n", "cp1252", "cp1252"),
        (GERMAN, "utf-16-le", "utf-16-le"),
        (GERMAN, "utf-16-be", "utf-16-be"),
        ("a,b\nx,2\n", "ascii", "utf-8"),
    ],
)
def test_an_encoding_is_detected_and_every_letter_survives(
    text: str, encoding: str, expected: str
) -> None:
    """Names with accents or Chinese letters would be garbled."""
    result = read_table(text.encode(encoding), "people.csv")
    separator = ";" if ";" in text else ","
    header, *rows = [line.split(separator) for line in text.splitlines()]
    assert result.encoding == expected
    assert list(result.frame.columns) == header
    assert list(result.frame[header[0]]) == [row[0] for row in rows]


def test_other_alphabets_are_left_to_charset_normalizer() -> None:
    """A Cyrillic file would be read as Western letters, without a word."""
    result = read_table(RUSSIAN.encode("cp1251"), "people.csv")
    assert result.encoding == "cp1251"
    assert list(result.frame.columns) == ["имя", "город"]


def test_a_guessed_encoding_is_said_to_be_a_guess() -> None:
    """A person would not know that letters may be wrong, or what to do about it."""
    assert any(
        "guess" in note for note in read_table(CHINESE.encode("gb18030"), "x.csv").notes
    )
    assert not read_table(CHINESE.encode("utf-8"), "x.csv").notes


@pytest.mark.parametrize("encoding", ["gb18030", "utf-8-sig", "utf-16"])
def test_a_named_encoding_is_used(encoding: str) -> None:
    """The choice of a person would be ignored, or its byte order mark end up in a
    column's name.
    """
    result = read_table(
        CHINESE.encode(encoding), "x.csv", options=ReadOptions(encoding=encoding)
    )
    assert result.frame.columns[0] == "姓名"
    assert (
        read_table(
            CHINESE.encode("utf-8-sig"), "x.csv", options=ReadOptions(encoding="utf-8")
        ).frame.columns[0]
        == "姓名"
    )


@pytest.mark.parametrize(
    "encoding", ["utf-8", "ascii", "utf-16", "no such encoding", "zip", "hex", "\0"]
)
def test_a_wrong_encoding_is_refused_by_name(encoding: str) -> None:
    """A wrong choice would end in a traceback, or a packed file be unpacked."""
    with pytest.raises(
        ReadError, match=r"this encoding does not fit.*; choose another encoding"
    ):
        read_table(
            CHINESE.encode("gb18030") + b"\xff",
            "x.csv",
            options=ReadOptions(encoding=encoding),
        )


PLACES = {
    "Müller Größe Jäger": ("cp1252", "cp850", "mac_roman"),
    "Müller Peña François Åse": ("cp1252", "cp850", "mac_roman"),
    "León Málaga Cádiz Coruña": ("cp1252", "cp850", "mac_roman"),
    "żółty Rzeszów Świnoujście": ("cp1250", "iso8859_2", "cp852"),
    "Žďár Třebíč Kroměříž": ("cp1250", "iso8859_2", "cp852"),
    "Kadıköy Üsküdar Beşiktaş": ("cp1254", "iso8859_9"),
    "Самара Пермь Уфа женщина": ("cp1251", "koi8_r", "cp866", "iso8859_5"),
    "Харків Дніпро Запоріжжя": ("cp1251", "koi8_u"),
    "Θεσσαλονίκη Ηράκλειο Άρτα": ("cp1253", "iso8859_7"),
    "נתניה רמלה אילת": ("cp1255",),
    "بغداد دمشق عمان": ("cp1256",),
    "ขอนแก่น นครราชสีมา": ("cp874",),
    "横浜 名古屋 神戸 さいたま": ("cp932", "euc_jp"),
    "成都 重庆 武汉": ("gb18030",),
    "桃園 臺南 嘉義": ("big5",),
    "Alytus Marijampolė Mažeikiai": ("cp1257",),
    "Århus Køge Sønderborg": ("cp1252", "cp850"),
    "Šiauliai Panevėžys Telšiai": ("cp1257", "cp775", "iso8859_13"),
    "Eskişehir Muğla Çankırı Iğdır": ("cp1254", "cp857", "mac_turkish"),
    "Évora Guimarães Setúbal Bragança": ("cp1252", "cp860"),
    "Βόλος Λάρισα Καβάλα Τρίπολη": ("cp1253", "cp737", "mac_greek"),
    "دمشق بغداد الرباط صنعاء": ("cp1256", "iso8859_6"),
    "수원시 청주시 전주시 창원시 포항시": ("cp949", "euc_kr"),
}


@pytest.mark.parametrize(
    ("words", "encoding"),
    [(words, encoding) for words, those in PLACES.items() for encoding in those],
)
def test_words_of_many_countries_keep_their_letters(words: str, encoding: str) -> None:
    """Half of Europe and Asia was read as other letters: £ódŸ, ћосква."""
    rows = "".join(f"{word},{place}\r\n" for place, word in enumerate(words.split()))
    result = read_table(f"place,n\r\n{rows}".encode(encoding), "people.csv")
    assert list(result.frame["place"]) == words.split()
    assert result.frame.attrs[READING_FROM_DATA]


@pytest.mark.parametrize("sign", list("€£¥§°±×½²³µ‰–“…™®©"))
@pytest.mark.parametrize("header", ["Kosten ({})", "Kosten {}", "{} je Tag"])
def test_a_sign_that_stands_alone_is_of_windows(sign: str, header: str) -> None:
    """The euro of a German file was Ä, as a Mac would have written that letter, and a
    table of square meters was Cyrillic.
    """
    header = header.format(sign)
    rows = "".join(f"{number};{number},5\r\n" for number in range(20))
    result = read_table(f"Fall;{header}\r\n{rows}".encode("cp1252"), "kosten.csv")
    assert (result.encoding, result.frame.columns[1]) == ("cp1252", header)


@pytest.mark.parametrize("text", ["m²", "12 µg", "5µ", "±0,5", "½", "3×2", "20°", "5‰"])
def test_units_and_fractions_are_of_windows(text: str) -> None:
    """Miete je m² was refused: no encoding could be recognized."""
    data = f"Fall;Wert\r\n1;{text}\r\n2;x\r\n".encode("cp1252")
    result = read_table(data, "werte.csv")
    assert (result.encoding, str(result.frame["Wert"][0])) == ("cp1252", text)


@pytest.mark.parametrize("word", ["Ärzte", "ÄRZTE", "Übergröße"])
def test_a_letter_in_a_word_is_still_read_as_a_mac_wrote_it(word: str) -> None:
    """Every Ä of an old Mac would be a euro in the middle of a word."""
    data = f"Beruf,n\r\n{word},1\r\nPflege,2\r\n".encode("mac_roman")
    result = read_table(data, "berufe.csv")
    assert (result.encoding, result.frame["Beruf"][0]) == ("mac_roman", word)


def test_vietnamese_letters_and_tones_become_one() -> None:
    """A file of Windows in Vietnam was refused; and the same place in UTF-8 would be
    another one.
    """
    apart = {"ế": "ê\u0301", "ộ": "ô\u0323", "ắ": "ă\u0301", "ạ": "a\u0323"}
    places = ["Huế", "Nội Bài", "Bắc Giang", "Đà Lạt"]
    rows = "".join(f"{place},{number}\n" for number, place in enumerate(places))
    text = f"place,n\n{rows}"
    for letter, parts in apart.items():
        text = text.replace(letter, parts)
    result = read_table(text.encode("cp1258"), "a.csv")
    assert (result.encoding, result.frame["place"].tolist()) == ("cp1258", places)


def test_a_damaged_byte_of_utf8_is_located() -> None:
    """One byte made Chinese of a whole table of French and German towns."""
    rows = "".join(f"Genève,{place}\n" for place in range(60))
    text = f"city,n\n{rows}".encode()
    data = text + b"Z\xfcrich,3\n"
    result = read_table(data, "x.csv")
    assert list(result.frame["city"].iloc[[0, -1]]) == ["Genève", "Z\ufffdrich"]
    assert any("line 62" in str(note) for note in result.notes)
    again = read_table(data, "x.csv", options=result.options)
    assert again.frame.equals(result.frame)
    with pytest.raises(ReadError, match="does not fit"):
        read_table(data, "x.csv", options=ReadOptions(encoding="utf-8"))


def test_undecodable_bytes_are_refused() -> None:
    """Noise would be read as a table of odd letters."""
    noise = bytes(range(128, 256)) * 40
    with pytest.raises(
        ReadError, match=r"no encoding could be recognized; choose another encoding"
    ):
        read_table(b"a,b\n" + noise, "x.csv")


@pytest.mark.parametrize(
    "data", [b"a,b\n1,\x002\n3,4\n" * 5, b"\0" * 400, "a\n\0\n".encode("utf-16")]
)
def test_nul_characters_are_refused(data: bytes) -> None:
    """Binary data, or text cut by a broken disk, would be taken for a table."""
    with pytest.raises(ReadError, match="this encoding does not fit the file"):
        read_table(data, "x.csv")


def zipped(name: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, "secret,1\n")
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (zipped("table.csv"), "ZIP"),
        (zipped("xl/workbook.xml"), "Excel"),
        (gzip.compress(b"secret,1\n" * 10_000), "gzip"),
        (bz2.compress(b"secret,1\n"), "bzip2"),
        (lzma.compress(b"secret,1\n"), "xz"),
        *[
            (pickle.dumps({"secret": 1}, protocol=number), "Python pickle")
            for number in (2, 3, 4, 5)
        ],
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "PNG"),
        (b"\xff\xd8\xff\xe0" + bytes(50), "PNG"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "PNG"),
        (b"%PDF-1.7\n", "PDF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(50), "XLS, DOC"),
        (b"SQLite format 3\x00" + bytes(50), "SQLite"),
        (b"\n<!DOCTYPE html>\n<title>Log in</title>", "HTML"),
        (b"PAR1 anything PAR1", "Parquet"),
    ],
)
def test_another_format_named_csv_is_called_by_its_name(
    data: bytes, words: str
) -> None:
    """A packed or pickled file would be unpacked, run, or read as text."""
    with pytest.raises(ReadError, match=f"the file looks like {words}") as refusal:
        read_table(data, "table.csv")
    assert "secret" not in str(refusal.value)


def test_text_that_begins_like_a_mark_is_still_text() -> None:
    """A column named PK or BM, or a header with markup, would be taken for an archive
    or a web page.
    """
    for header in ("PK,BM,PAR1,BZh", "<script>alert(1)</script>,x,y,z"):
        assert list(
            read_table(f"{header}\n1,2,3,4\n".encode(), "x.csv").frame.columns
        ) == header.split(",")


def test_no_bytes_make_anything_but_a_table_or_a_named_error() -> None:
    """Some file would end in a traceback."""
    base = bytearray(CHINESE.encode("gb18030"))
    for position in range(len(base)):
        for byte in (0, 9, 10, 34, 44, 128, 255):
            altered = base.copy()
            altered[position] = byte
            with contextlib.suppress(LimitError, ReadError):
                read_table(bytes(altered), "x.csv")
