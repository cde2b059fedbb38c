"""Read projects of ARX (`.deid`) into a table and an anonymization plan.

A project is a zip file of XML (roles, models, limit), CSV (hierarchies and the raw
table) and Java objects. These are never loaded: only the bits of the research subset
and the text of the applied node are taken out of their bytes. The format is that of the
classes WorkerSave, WorkerLoad, Model and Vocabulary of ARX 3.9.
"""

import dataclasses
import io
import json
import re
import tomllib
import zipfile
from collections.abc import Mapping
from importlib.resources import files
from typing import Any
from xml.etree import ElementTree

import numpy as np

from dpcore.anonymization.fulldomain.metrics import (
    InformationLoss,
    Metric,
    NonUniformEntropy,
)
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.models import KAnonymity, PrivacyModel
from dpcore.anonymization.plan import Plan
from dpcore.errors import HierarchyError, damaged_file_error
from dpcore.io.checks import Limits, check_size
from dpcore.io.encoding import decode
from dpcore.tables.classes import BoolArray
from dpcore.text import Text

PROJECT_ENDING = ".deid"
SUBSET_COLUMN = "research subset (ARX)"
"""The column that marks the rows of ARX's research subset, where that is not the whole
table.
"""
MAX_UNPACKING_RATIO = 200
"""The bytes that a packed byte may stand for; in ARX's own projects it is below 20."""
_SUBSET_BITS = re.compile(
    rb"RowSet.{8}\x02\x00\x03I\x00\x06lengthI\x00\x04size\[\x00\x05arrayt\x00\x02\[Jxp(?P<rows>.{4}).{4}"
    rb"u(?:r\x00\x02\[J.{8}\x02\x00\x00xp|q.{4})(?P<words>.{4})",
    re.DOTALL,
)
_NODE_TEXT = re.compile(rb"t..\[(?P<levels>\d+(?:, \d+)*)\]", re.DOTALL)
"""A text in Java's object stream that may be a node, such as `[1, 0, 2]`."""
ARX_DEFAULT_WEIGHT = 0.5
"""ARX's weight of a column, where the weight here is 1."""
_ARX_NAMES = tomllib.loads(files(__package__).joinpath("arx.toml").read_text("utf-8"))


def read_project(
    data: bytes, *, limits: Limits
) -> tuple[bytes, str, BoolArray | None, Plan, list[str]]:
    """Read an ARX project: its table, its subset, and a plan with notes.

    Returns: the raw table as CSV, the sign between its cells, (rows,) marks of the rows
        to be published or None for all, the plan, and notes on what it is and what was
        not taken over.

    Raises: ReadError for what is no project, LimitError for parts that are too large
        unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = [
                part
                for part in archive.infolist()
                if part.filename.startswith(("data/in", "in", "project."))
            ]
            check_size(sum(part.file_size for part in parts), limits=limits)
            if any(
                part.file_size > MAX_UNPACKING_RATIO * max(part.compress_size, 2**10)
                for part in parts
            ):
                raise zipfile.BadZipFile("packed too well")
            files = {part.filename: archive.read(part) for part in parts}
        separator = _parse_xml(files["project.xml"]).findtext("separator", ";")
        subset = _read_subset(files["input/config.dat"])
        return (
            files["data/input.csv"],
            separator,
            subset,
            *_read_plan(files, separator, subset),
        )
    except (
        zipfile.BadZipFile,
        ElementTree.ParseError,
        LookupError,
        RuntimeError,
        ValueError,
    ) as error:
        raise damaged_file_error(PROJECT_ENDING[1:]) from error


def _parse_xml(part: bytes) -> ElementTree.Element:
    """Parse the XML of one part of a project; refuse XML entities."""
    text = part.decode()
    if "<!DOCTYPE" in text:
        raise zipfile.BadZipFile("declares a document type")
    return ElementTree.fromstring(text)


def _read_plan(
    files: Mapping[str, bytes], separator: str, subset: BoolArray | None
) -> tuple[Plan, list[str]]:
    config = _parse_xml(files["input/config.xml"])
    definition = _parse_xml(files["input/definition.xml"])
    columns = {
        column.findtext("name", "").strip(): column
        for column in definition.iter("assigment")
    }
    notes: list[str] = [
        Text("The project file contains the original table: do not pass it on")
    ]
    bounded = [
        name
        for name, column in columns.items()
        if {column.findtext(bound, "All") for bound in ("min", "max")} != {"All"}
    ]
    averaged = [
        name
        for name, column in columns.items()
        if column.find("microaggregationFunction") is not None
    ]
    criteria = [
        criterion.text or ""
        for criterion in config.iter("criterion")
        if criterion.text != "Inclusion"
    ]
    models = [
        _find_by_arx_name(PrivacyModel, _ARX_NAMES["models"], named)
        for named in criteria
    ]
    minimized = config.findtext("metric", "")
    minimized += ", arithmetic mean" * (b"ARITHMETIC_MEAN" in files["input/config.dat"])
    metric = _find_by_arx_name(Metric, _ARX_NAMES["metrics"], minimized)
    known = tuple(model for model in models if model is not None)
    demands = known or (KAnonymity(k=5),)
    pairs = zip(criteria, models, strict=True)
    if unknown := ", ".join(named for named, model in pairs if model is None):
        notes.append(
            Text(
                (
                    "The project has demands that are not supported here; the plan "
                    "leaves them out: {unknown}"
                ),
                unknown=unknown,
            )
        )
    if not known:
        notes.append(
            Text(
                (
                    "None of the project's demands is supported here. The plan uses "
                    "this one instead: {demand}"
                ),
                demand=demands[0],
            )
        )
    if metric is None:
        notes.append(
            Text(
                "The project minimizes {metric}, which is not supported here. The "
                "plan minimizes information loss instead",
                metric=minimized,
            )
        )
    if bounded:
        notes.append(
            Text(
                (
                    "The plan leaves out the project's limits on the levels of "
                    "these columns: {columns}"
                ),
                columns=", ".join(bounded),
            )
        )
    if averaged:
        notes.append(
            Text(
                (
                    "The project averages these columns (microaggregation); the "
                    "plan does not: {columns}"
                ),
                columns=", ".join(averaged),
            )
        )
    weights = {
        weight.findtext("attribute", ""): float(weight.findtext("weight", ""))
        / ARX_DEFAULT_WEIGHT
        for weight in config.iter("attributeWeight")
    }
    if isinstance(metric, InformationLoss | NonUniformEntropy):
        metric = dataclasses.replace(
            metric,
            weights={name: each for name, each in weights.items() if each != 1},
        )
    roles = {
        name: _ARX_NAMES["roles"][column.findtext("type")]
        for name, column in columns.items()
    }
    hierarchies = {
        name: _read_hierarchy(decode(files[f"input/{reference}"])[0], separator)
        for name, column in columns.items()
        if (reference := column.findtext("ref")) is not None
    }
    node = None
    if not averaged:
        generalized = {
            name: hierarchies[name].height
            for name, role in roles.items()
            if role == "quasi-identifier" and name in hierarchies
        }
        node = _applied_node(files["project.dat"], generalized)
    if node is not None:
        notes.append(Text("The levels are those that the project had applied"))
    plan = Plan(
        roles=roles,
        hierarchies=hierarchies,
        models=demands,
        limit=float(config.findtext("relativeMaxOutliers", "0")),
        metric=metric or InformationLoss(),
        subset=None if subset is None else SUBSET_COLUMN,
        node=node,
    )
    return plan, notes


def _applied_node(objects: bytes, heights: Mapping[str, int]) -> dict[str, int] | None:
    """Return the level of each column in the project's output; None without output.

    ARX stores the optimal node and then the applied node as texts, both after the
    hierarchies, whose labels of intervals can look like a node.

    Args:
        objects: the Java objects of the project.
        heights: the highest level of each generalized column, in the table's order.
    """
    for match in reversed(list(_NODE_TEXT.finditer(objects))):
        levels = [int(text) for text in match["levels"].split(b", ")]
        if len(levels) == len(heights) and all(
            level <= height
            for level, height in zip(levels, heights.values(), strict=True)
        ):
            return dict(zip(heights, levels, strict=True))
    return None


def _find_by_arx_name(
    family: type[Any], members: Mapping[str, Any], arx_name: str
) -> Any:
    """Return the object that a name in ARX stands for; None if it is unknown."""
    for pattern, fields in members.items():
        if (match := re.fullmatch(pattern, arx_name)) is not None:
            given = {
                key: text if key == "column" else json.loads(text)
                for key, text in match.groupdict().items()
            }
            others = {key: value for key, value in fields.items() if key != "kind"}
            return family.of_kind(fields["kind"])(**given, **others)
    return None


def _read_hierarchy(text: str, separator: str) -> Hierarchy:
    """Read a hierarchy; add a top level `*` if it has none."""
    try:
        return Hierarchy.from_csv(text, separator)
    except HierarchyError:
        lines = (f"{line}{separator}*" for line in text.splitlines())
        return Hierarchy.from_csv("\n".join(lines), separator)


def _read_subset(objects: bytes) -> BoolArray | None:
    """Return a mask of the rows in the research subset; None for the whole table.

    They are taken out of the bytes of Java's objects.
    """
    match = _SUBSET_BITS.search(objects)
    if match is None:
        return None
    rows, words = (int.from_bytes(match[name]) for name in ("rows", "words"))
    bits = (
        np.frombuffer(objects, ">u8", words, match.end()).astype("<u8").view(np.uint8)
    )
    marks = np.unpackbits(bits, bitorder="little")[:rows].astype(bool)
    return None if marks.all() else marks
