"""Exact tables of counts of people: hide small counts or round all, attack the result.

`rules` say which counts are hidden, `layout` which cells a table has and how they add
up, `hide` chooses the hidden cells, and `attack` tries to tell them from all tables that
were published. `rounding` rounds all counts in place of hiding some. `protect` joins
them. The definitions are in `docs/decisions/0054-exact-tables.md` and
`0062-rounded-tables.md`.
"""

from dpcore.suppression.layout import Axis as Axis
from dpcore.suppression.layout import Group as Group
from dpcore.suppression.plan import ShownColumn as ShownColumn
from dpcore.suppression.plan import TablePlan as TablePlan
from dpcore.suppression.published import ExactTable as ExactTable
from dpcore.suppression.published import PublishedTable as PublishedTable
from dpcore.suppression.rules import PRESETS as PRESETS
from dpcore.suppression.rules import HidingRule as HidingRule
