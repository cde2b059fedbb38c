"""The library dpcore, from a private table to something that may be shared, with every loss on file."""

from dpcore.accounting.loss import ZCDP, ApproxDP, PureDP
from dpcore.accounting.memory import MemoryLedger
from dpcore.curator import Curator
from dpcore.errors import (
    BudgetError,
    BudgetExceeded,
    BudgetFixed,
    DisclosureError,
    DpcoreError,
    HierarchyError,
    InfeasibleError,
    LedgerCorrupt,
    LedgerError,
    LimitError,
    ParameterError,
    ReadError,
    RequestConflict,
    RowsError,
    SchemaError,
)
from dpcore.evaluation.utility.range_queries import range_query
from dpcore.release import Guarantee, InternalReport, Release
from dpcore.schema import Boolean, Categorical, Date, Integer, PrivacyUnit, Real, Schema, suggest_schema
from dpcore.synthesis import (
    Adaptive,
    Categories,
    Gaussian,
    Histogram,
    Independent,
    Joint,
    Marginals,
    SomeColumns,
    Statistics,
    Tree,
    count_rows,
    read_release,
)

__version__ = "0.1.0"

__all__ = [
    "ZCDP",
    "Adaptive",
    "ApproxDP",
    "Boolean",
    "BudgetError",
    "BudgetExceeded",
    "BudgetFixed",
    "Categorical",
    "Categories",
    "Curator",
    "Date",
    "DisclosureError",
    "DpcoreError",
    "Gaussian",
    "Guarantee",
    "HierarchyError",
    "Histogram",
    "Independent",
    "InfeasibleError",
    "Integer",
    "InternalReport",
    "Joint",
    "LedgerCorrupt",
    "LedgerError",
    "LimitError",
    "Marginals",
    "MemoryLedger",
    "ParameterError",
    "PrivacyUnit",
    "PureDP",
    "ReadError",
    "Real",
    "Release",
    "RequestConflict",
    "RowsError",
    "Schema",
    "SchemaError",
    "SomeColumns",
    "Statistics",
    "Tree",
    "count_rows",
    "range_query",
    "read_release",
    "suggest_schema",
]
