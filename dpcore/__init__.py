"""The library dpcore, from a private table to something that may be shared, with every
loss on file.
"""

from dpcore.accounting.loss import ZCDP as ZCDP
from dpcore.accounting.loss import ApproxDP as ApproxDP
from dpcore.accounting.loss import PureDP as PureDP
from dpcore.accounting.memory import MemoryLedger as MemoryLedger
from dpcore.curator import Curator as Curator
from dpcore.curator import open_with_cells as open_with_cells
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
from dpcore.evaluation.utility.range_queries import range_query as range_query
from dpcore.release import Guarantee as Guarantee
from dpcore.release import InternalReport as InternalReport
from dpcore.release import Release as Release
from dpcore.schema import Boolean as Boolean
from dpcore.schema import Categorical as Categorical
from dpcore.schema import Date as Date
from dpcore.schema import Integer as Integer
from dpcore.schema import PrivacyUnit as PrivacyUnit
from dpcore.schema import Real as Real
from dpcore.schema import Schema as Schema
from dpcore.schema import suggest_schema as suggest_schema
from dpcore.synthesis import Adaptive as Adaptive
from dpcore.synthesis import Categories as Categories
from dpcore.synthesis import Gaussian as Gaussian
from dpcore.synthesis import Histogram as Histogram
from dpcore.synthesis import Independent as Independent
from dpcore.synthesis import Joint as Joint
from dpcore.synthesis import Marginals as Marginals
from dpcore.synthesis import SomeColumns as SomeColumns
from dpcore.synthesis import Statistics as Statistics
from dpcore.synthesis import Tree as Tree
from dpcore.synthesis import count_rows as count_rows
from dpcore.synthesis import read_release as read_release

__version__ = "0.1.0"
