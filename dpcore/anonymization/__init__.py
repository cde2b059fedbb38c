"""k-anonymity, related privacy models and the methods that enforce them.

A `Plan` says which columns are generalized by which `Hierarchy`, what every group must
meet (the models) and how much may be suppressed; `apply` carries it out. `hierarchies`
say how values become coarser, `fulldomain` searches one level per column optimally,
`partition` groups row by row; `quality` measures all of them on one scale.
"""

from dpcore.anonymization.apply import apply as apply
from dpcore.anonymization.closeness import TCloseness as TCloseness
from dpcore.anonymization.fulldomain.metrics import AverageClassSize as AverageClassSize
from dpcore.anonymization.fulldomain.metrics import Discernibility as Discernibility
from dpcore.anonymization.fulldomain.metrics import InformationLoss as InformationLoss
from dpcore.anonymization.fulldomain.metrics import (
    NonUniformEntropy as NonUniformEntropy,
)
from dpcore.anonymization.hierarchies.builders import build_cuts as build_cuts
from dpcore.anonymization.hierarchies.builders import build_dates as build_dates
from dpcore.anonymization.hierarchies.builders import build_flat as build_flat
from dpcore.anonymization.hierarchies.builders import build_intervals as build_intervals
from dpcore.anonymization.hierarchies.builders import build_masks as build_masks
from dpcore.anonymization.hierarchies.builders import build_order as build_order
from dpcore.anonymization.hierarchies.builders import (
    build_rare_groups as build_rare_groups,
)
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy as Hierarchy
from dpcore.anonymization.hierarchies.suggest import (
    suggest_hierarchy as suggest_hierarchy,
)
from dpcore.anonymization.linked import LinkedPlan as LinkedPlan
from dpcore.anonymization.methods import CellSuppression as CellSuppression
from dpcore.anonymization.methods import FullDomain as FullDomain
from dpcore.anonymization.methods import LocalRecoding as LocalRecoding
from dpcore.anonymization.methods import Microaggregation as Microaggregation
from dpcore.anonymization.methods import Mondrian as Mondrian
from dpcore.anonymization.models import AverageRisk as AverageRisk
from dpcore.anonymization.models import BetaLikeness as BetaLikeness
from dpcore.anonymization.models import DeltaPresence as DeltaPresence
from dpcore.anonymization.models import DistinctL as DistinctL
from dpcore.anonymization.models import EntropyL as EntropyL
from dpcore.anonymization.models import KAnonymity as KAnonymity
from dpcore.anonymization.models import KMap as KMap
from dpcore.anonymization.models import RecursiveCL as RecursiveCL
from dpcore.anonymization.plan import Plan as Plan
from dpcore.anonymization.quality import Quality as Quality
from dpcore.anonymization.quality import measure_quality as measure_quality
