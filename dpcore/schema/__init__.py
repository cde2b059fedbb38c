"""Public facts about a table, and the people who are protected."""

from dpcore.schema.column import Boolean, Categorical, Column, Outside
from dpcore.schema.date import Date
from dpcore.schema.domain import Clique, Domain
from dpcore.schema.interval import Integer, IntervalColumn, NumberColumn, Real
from dpcore.schema.schema import Excluded, Schema
from dpcore.schema.suggest import suggest_schema
from dpcore.schema.unit import PrivacyUnit

__all__ = [
    "Boolean",
    "Categorical",
    "Clique",
    "Column",
    "Date",
    "Domain",
    "Excluded",
    "Integer",
    "IntervalColumn",
    "NumberColumn",
    "Outside",
    "PrivacyUnit",
    "Real",
    "Schema",
    "suggest_schema",
]
