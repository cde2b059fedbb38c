"""Syntactic anonymization by k-anonymity and its kin, outside differential privacy.

A `Plan` says which columns are generalized by which `Hierarchy`, what every group must meet (the models)
and how much may be suppressed; `apply` carries it out. `hierarchies` say how values become coarser,
`fulldomain` searches one level per column optimally, `partition` groups row by row; `quality` measures all of
them on one scale.
"""

from dpcore.anonymize.apply import apply as apply
from dpcore.anonymize.closeness import TCloseness as TCloseness
from dpcore.anonymize.fulldomain.metrics import AverageClassSize as AverageClassSize
from dpcore.anonymize.fulldomain.metrics import Discernibility as Discernibility
from dpcore.anonymize.fulldomain.metrics import InformationLoss as InformationLoss
from dpcore.anonymize.fulldomain.metrics import NonUniformEntropy as NonUniformEntropy
from dpcore.anonymize.hierarchies.builders import cut as cut
from dpcore.anonymize.hierarchies.builders import dates as dates
from dpcore.anonymize.hierarchies.builders import flat as flat
from dpcore.anonymize.hierarchies.builders import intervals as intervals
from dpcore.anonymize.hierarchies.builders import mask as mask
from dpcore.anonymize.hierarchies.builders import merge_rare as merge_rare
from dpcore.anonymize.hierarchies.builders import order as order
from dpcore.anonymize.hierarchies.hierarchy import Hierarchy as Hierarchy
from dpcore.anonymize.hierarchies.suggest import suggest_hierarchy as suggest_hierarchy
from dpcore.anonymize.methods import CellSuppression as CellSuppression
from dpcore.anonymize.methods import FullDomain as FullDomain
from dpcore.anonymize.methods import LocalRecoding as LocalRecoding
from dpcore.anonymize.methods import Microaggregation as Microaggregation
from dpcore.anonymize.methods import Mondrian as Mondrian
from dpcore.anonymize.models import AverageRisk as AverageRisk
from dpcore.anonymize.models import BetaLikeness as BetaLikeness
from dpcore.anonymize.models import DeltaPresence as DeltaPresence
from dpcore.anonymize.models import DistinctL as DistinctL
from dpcore.anonymize.models import EntropyL as EntropyL
from dpcore.anonymize.models import KAnonymity as KAnonymity
from dpcore.anonymize.models import KMap as KMap
from dpcore.anonymize.models import RecursiveCL as RecursiveCL
from dpcore.anonymize.plan import Plan as Plan
from dpcore.anonymize.quality import Quality as Quality
from dpcore.anonymize.quality import quality as quality
