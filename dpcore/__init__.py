"""The library dpcore: turn a private table into results that may be shared.

Names are imported when they are first used, so that `import dpcore` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpcore.accounting.loss import ZCDP as ZCDP
    from dpcore.accounting.loss import ApproxDP as ApproxDP
    from dpcore.accounting.loss import PureDP as PureDP
    from dpcore.accounting.memory import MemoryLedger as MemoryLedger
    from dpcore.anonymization import BetaLikeness as BetaLikeness
    from dpcore.anonymization import DeltaPresence as DeltaPresence
    from dpcore.anonymization import DistinctL as DistinctL
    from dpcore.anonymization import EntropyL as EntropyL
    from dpcore.anonymization import Hierarchy as Hierarchy
    from dpcore.anonymization import KAnonymity as KAnonymity
    from dpcore.anonymization import KMap as KMap
    from dpcore.anonymization import Plan as Plan
    from dpcore.anonymization import RecursiveCL as RecursiveCL
    from dpcore.anonymization import TCloseness as TCloseness
    from dpcore.anonymization import suggest_hierarchy as suggest_hierarchy
    from dpcore.curator import Curator as Curator
    from dpcore.curator import LinkedCurator as LinkedCurator
    from dpcore.curator import open_linked_with_cells as open_linked_with_cells
    from dpcore.curator import open_with_cells as open_with_cells
    from dpcore.curator.one_call import anonymize as anonymize
    from dpcore.curator.one_call import audit as audit
    from dpcore.curator.one_call import evaluate as evaluate
    from dpcore.errors import BudgetError as BudgetError
    from dpcore.errors import BudgetExceeded as BudgetExceeded
    from dpcore.errors import BudgetFixed as BudgetFixed
    from dpcore.errors import DisclosureError as DisclosureError
    from dpcore.errors import DpcoreError as DpcoreError
    from dpcore.errors import HierarchyError as HierarchyError
    from dpcore.errors import InfeasibleError as InfeasibleError
    from dpcore.errors import LedgerCorrupt as LedgerCorrupt
    from dpcore.errors import LedgerError as LedgerError
    from dpcore.errors import LimitError as LimitError
    from dpcore.errors import ManyValuesError as ManyValuesError
    from dpcore.errors import ParameterError as ParameterError
    from dpcore.errors import ReadError as ReadError
    from dpcore.errors import RequestConflict as RequestConflict
    from dpcore.errors import RowsError as RowsError
    from dpcore.errors import SchemaError as SchemaError
    from dpcore.errors import UsageError as UsageError
    from dpcore.evaluation import AuditQuestion as AuditQuestion
    from dpcore.evaluation import range_query as range_query
    from dpcore.io import ReadOptions as ReadOptions
    from dpcore.io import read_table as read_table
    from dpcore.io import to_csv as to_csv
    from dpcore.io import to_parquet as to_parquet
    from dpcore.io import to_xlsx as to_xlsx
    from dpcore.local import Duchi as Duchi
    from dpcore.local import HadamardResponse as HadamardResponse
    from dpcore.local import LocalHashing as LocalHashing
    from dpcore.local import OptimizedUnary as OptimizedUnary
    from dpcore.local import Piecewise as Piecewise
    from dpcore.local import RandomizedResponse as RandomizedResponse
    from dpcore.local import RoundedResponse as RoundedResponse
    from dpcore.local import SubsetSelection as SubsetSelection
    from dpcore.local import SymmetricUnary as SymmetricUnary
    from dpcore.release import Guarantee as Guarantee
    from dpcore.release import InternalReport as InternalReport
    from dpcore.release import Release as Release
    from dpcore.schema import Boolean as Boolean
    from dpcore.schema import Categorical as Categorical
    from dpcore.schema import Date as Date
    from dpcore.schema import Difference as Difference
    from dpcore.schema import Integer as Integer
    from dpcore.schema import LinkedSchema as LinkedSchema
    from dpcore.schema import LinkRules as LinkRules
    from dpcore.schema import PrivacyUnit as PrivacyUnit
    from dpcore.schema import Real as Real
    from dpcore.schema import Schema as Schema
    from dpcore.schema import Time as Time
    from dpcore.schema import suggest_schema as suggest_schema
    from dpcore.synthesis import Adaptive as Adaptive
    from dpcore.synthesis import Categories as Categories
    from dpcore.synthesis import Gaussian as Gaussian
    from dpcore.synthesis import Histogram as Histogram
    from dpcore.synthesis import Independent as Independent
    from dpcore.synthesis import Joint as Joint
    from dpcore.synthesis import LinkedRelease as LinkedRelease
    from dpcore.synthesis import Marginals as Marginals
    from dpcore.synthesis import SomeColumns as SomeColumns
    from dpcore.synthesis import Statistics as Statistics
    from dpcore.synthesis import Tree as Tree
    from dpcore.synthesis import count_rows as count_rows
    from dpcore.synthesis import read_release as read_release

__version__ = "0.1.0"

_NAMES_BY_MODULE = {
    "dpcore.accounting.loss": ("ApproxDP", "PureDP", "ZCDP"),
    "dpcore.accounting.memory": ("MemoryLedger",),
    "dpcore.anonymization": (
        "BetaLikeness",
        "DeltaPresence",
        "DistinctL",
        "EntropyL",
        "Hierarchy",
        "KAnonymity",
        "KMap",
        "Plan",
        "RecursiveCL",
        "TCloseness",
        "suggest_hierarchy",
    ),
    "dpcore.curator": (
        "Curator",
        "LinkedCurator",
        "open_linked_with_cells",
        "open_with_cells",
    ),
    "dpcore.curator.one_call": ("anonymize", "audit", "evaluate"),
    "dpcore.errors": (
        "BudgetError",
        "BudgetExceeded",
        "BudgetFixed",
        "DisclosureError",
        "DpcoreError",
        "HierarchyError",
        "InfeasibleError",
        "LedgerCorrupt",
        "LedgerError",
        "LimitError",
        "ManyValuesError",
        "ParameterError",
        "ReadError",
        "RequestConflict",
        "RowsError",
        "SchemaError",
        "UsageError",
    ),
    "dpcore.evaluation": ("AuditQuestion", "range_query"),
    "dpcore.io": (
        "ReadOptions",
        "read_table",
        "to_csv",
        "to_parquet",
        "to_xlsx",
    ),
    "dpcore.local": (
        "Duchi",
        "HadamardResponse",
        "LocalHashing",
        "OptimizedUnary",
        "Piecewise",
        "RandomizedResponse",
        "RoundedResponse",
        "SubsetSelection",
        "SymmetricUnary",
    ),
    "dpcore.release": ("Guarantee", "InternalReport", "Release"),
    "dpcore.schema": (
        "Boolean",
        "Categorical",
        "Date",
        "Difference",
        "Integer",
        "LinkRules",
        "LinkedSchema",
        "PrivacyUnit",
        "Real",
        "Schema",
        "Time",
        "suggest_schema",
    ),
    "dpcore.synthesis": (
        "Adaptive",
        "Categories",
        "Gaussian",
        "Histogram",
        "Independent",
        "Joint",
        "LinkedRelease",
        "Marginals",
        "SomeColumns",
        "Statistics",
        "Tree",
        "count_rows",
        "read_release",
    ),
}
"""Public names by the module that they come from."""
_MODULE_BY_NAME = {
    name: module for module, names in _NAMES_BY_MODULE.items() for name in names
}

__all__ = sorted(_MODULE_BY_NAME)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _MODULE_BY_NAME:
        raise AttributeError(f"module 'dpcore' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_BY_NAME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
