"""Small projects as ARX 3.9 saves them, written after its classes WorkerSave, XMLWriter
and RowSet.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

QUASI = "QUASI_IDENTIFYING_ATTRIBUTE"
SENSITIVE = "SENSITIVE_ATTRIBUTE"
INSENSITIVE = "INSENSITIVE_ATTRIBUTE"
IDENTIFYING = "IDENTIFYING_ATTRIBUTE"
USUAL = "Loss (0.5/1.0/1.0)"
ROWS = [
    ("Ann", 31, "F", "flu", 2),
    ("Bob", 34, "M", "cold", 1),
    ("Cid", 38, "M", "flu", 4),
    ("Dot", 39, "F", "cancer", 2),
    ("Eve", 33, "F", "cold", 3),
    ("Fay", 61, "F", "flu", 2),
    ("Gus", 62, "M", "cancer", 5),
    ("Hal", 64, "M", "cold", 1),
    ("Ida", 67, "F", "flu", 1),
    ("Jon", 68, "M", "cold", 2),
]
COLUMNS = {
    "name": IDENTIFYING,
    "age": QUASI,
    "sex": QUASI,
    "diagnosis": SENSITIVE,
    "visits": INSENSITIVE,
}
AGES = "".join(
    f"{age};{age // 10 * 10}-{age // 10 * 10 + 9};*\n" for age in range(30, 70)
)
HIERARCHIES = {
    "age": AGES,
    "sex": "F;*\nM;*\n",
    "diagnosis": "flu;light;*\ncold;light;*\ncancer;grave;*\n",
}


def element(name: str, content: str) -> str:
    return f"<{name}>{content}</{name}>\n"


def java_text(text: str) -> bytes:
    """A text in Java's object stream."""
    return b"t" + struct.pack(">H", len(text)) + text.encode()


def row_set(marks: Sequence[bool]) -> bytes:
    """A RowSet in Java's object stream: its class, length, size, and longs of 64 bits,
    the lowest first.
    """
    longs = [
        sum(1 << place for place, mark in enumerate(marks[start : start + 64]) if mark)
        for start in range(0, len(marks), 64)
    ]
    fields = b"\x00\x03I\x00\x06lengthI\x00\x04size[\x00\x05arrayt\x00\x02[Jxp"
    name = b"org.deidentifier.arx.RowSet"
    return (
        b"\xac\xed\x00\x05sr"
        + struct.pack(">H", len(name))
        + name
        + b"\x14\xb6l\xa2\xa2\x16\xae\x7f\x02"
        + fields
        + struct.pack(">ii", len(marks), sum(marks))
        + b"ur\x00\x02[Jx \x04\xb5\x12\xb1u\x93\x02\x00\x00xp"
        + struct.pack(">i", len(longs))
        + struct.pack(f">{len(longs)}Q", *longs)
    )


def parts(
    *,
    columns: Mapping[str, str] = COLUMNS,
    rows: Iterable[Sequence[Any]] = ROWS,
    hierarchies: Mapping[str, str] = HIERARCHIES,
    criteria: Sequence[str] = ("2-anonymity",),
    metric: str = USUAL,
    limit: float = 0.2,
    weights: Mapping[str, float] | None = None,
    subset: Sequence[bool] | None = None,
    more: Mapping[str, str] | None = None,
    objects: bytes = b"",
    stored: Sequence[str] = (),
) -> dict[str, bytes]:
    """The parts of a project by name.

    Args:
        more: further elements of a column.
        objects: further bytes among Java's objects.
        stored: texts among the objects of the project, such as its nodes.
    """
    rows = list(rows)
    assignments = []
    for name, role in columns.items():
        about = (
            element("name", escape(name))
            + element("type", role)
            + element("datatype", "String")
        )
        if name in hierarchies:
            about += element("ref", f"hierarchies/{name}.csv")
            about += element("min", "All") + element("max", "All")
        assignments.append(element("assigment", about + (more or {}).get(name, "")))
    weighed = "".join(
        element(
            "attributeWeight",
            element("attribute", name) + element("weight", str(weight)),
        )
        for name, weight in {**dict.fromkeys(columns, 0.5), **(weights or {})}.items()
    )
    config = (
        element("relativeMaxOutliers", str(limit))
        + element("metric", metric)
        + element("attributeWeights", weighed)
        + element(
            "criteria", "".join(element("criterion", escape(each)) for each in criteria)
        )
    )
    table = "\n".join(";".join(map(str, row)) for row in [tuple(columns), *rows]) + "\n"
    about = element("version", "3.9.2") + element("vocabulary", "2.0")
    result = {
        "metadata.xml": element("metadata", about),
        "project.xml": element(
            "project", element("name", "Example") + element("separator", ";")
        ),
        "data/input.csv": table,
        "input/config.xml": element("config", config),
        "input/definition.xml": element("definition", "".join(assignments)),
        **{f"input/hierarchies/{name}.csv": text for name, text in hierarchies.items()},
        "lattice.xml": "<lattice>" + "<n/>" * 1000 + "</lattice>",
    }
    marks = [True] * len(rows) if subset is None else subset
    return {name: text.encode() for name, text in result.items()} | {
        "project.dat": b"\xac\xed\x00\x05" + b"".join(map(java_text, stored)),
        "input/config.dat": row_set(marks) + objects,
    }


def packed(files: Mapping[str, bytes]) -> bytes:
    """The zip file of these parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def project(**choices: Any) -> bytes:
    """A project of ten people, with these choices in place of the usual ones."""
    return packed(parts(**choices))
