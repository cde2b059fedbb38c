"""Public facts about a table, and the people whom a release protects."""

from dpcore.schema._derived import Difference as Difference
from dpcore.schema._derived import Time as Time
from dpcore.schema.column import Boolean as Boolean
from dpcore.schema.column import Categorical as Categorical
from dpcore.schema.column import Column as Column
from dpcore.schema.column import OutsideCounts as OutsideCounts
from dpcore.schema.date import Date as Date
from dpcore.schema.domain import Clique as Clique
from dpcore.schema.domain import Domain as Domain
from dpcore.schema.interval import Integer as Integer
from dpcore.schema.interval import IntervalColumn as IntervalColumn
from dpcore.schema.interval import NumberColumn as NumberColumn
from dpcore.schema.interval import Real as Real
from dpcore.schema.linked import LinkedSchema as LinkedSchema
from dpcore.schema.linked import LinkRules as LinkRules
from dpcore.schema.schema import ExcludedColumn as ExcludedColumn
from dpcore.schema.schema import Schema as Schema
from dpcore.schema.suggest import suggest_schema as suggest_schema
from dpcore.schema.unit import PrivacyUnit as PrivacyUnit
