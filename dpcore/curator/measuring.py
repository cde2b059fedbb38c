"""Measurers of an engine's rows, and the record of what they read."""

import dataclasses
import functools
from fractions import Fraction
from typing import Any

from dpcore.accounting.loss import Loss
from dpcore.engines.base import Engine
from dpcore.engines.remembered import CountCache
from dpcore.engines.work import Part
from dpcore.mechanisms.measurer import Measurer
from dpcore.mechanisms.rehearsal import Rehearsal
from dpcore.schema.schema import Schema


def build_measurer(
    engine: Engine,
    schema: Schema,
    spend: Loss,
    part: Part | None = None,
    delta: Fraction = Fraction(0),
) -> Measurer:
    """Return the measurer of an engine's rows.

    Args:
        engine: holds the rows.
        schema: the public facts about them.
        spend: all that the measurer may spend.
        part: (column, category) to read one part only; None for the whole table.
        delta: what naming texts may spend besides.
    """
    return Measurer(
        CountCache(functools.partial(engine.counts, part=part)),
        domain=schema.domain,
        loss=spend,
        max_rows=schema.unit.max_rows,
        part=part,
        texts=functools.partial(engine.texts, part=part),
        sums=functools.partial(engine.sums, part=part),
        delta=delta,
        count_rule=None if part else engine.count_by_rule,
    )


def build_rehearsal(
    schema: Schema,
    spend: Loss,
    part: Part | None = None,
    delta: Fraction = Fraction(0),
) -> Measurer:
    """Return a measurer without rows but with the limits of `build_measurer`."""
    return Rehearsal(
        domain=schema.domain,
        loss=spend,
        max_rows=schema.unit.max_rows,
        part=part,
        delta=delta,
    )


def schema_for_release(schema: Schema, measurer: Measurer, *drawn: str) -> Schema:
    """Return the part of the schema that a release needs.

    These are the columns that were read or are `drawn`, and the names of the others if
    the table decided whether they are left out. Texts that mean missing or count as others stay in the
    account.
    """
    names = {
        name for event in measurer.events for clique in event.reads for name in clique
    }
    names.update(drawn, [measurer.part[0]] if measurer.part else [])
    columns = (column for column in schema.columns if column.name in names)
    read = tuple(column.without_texts() for column in columns)
    return dataclasses.replace(
        schema, columns=read, excluded=schema.unread_columns(names)
    )


def list_events(measurer: Measurer) -> dict[str, Any]:
    """Return the events of a measurer in the form that the ledger stores."""
    return {"events": [event.to_dict() for event in measurer.events]}
