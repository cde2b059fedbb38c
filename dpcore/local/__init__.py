"""Privacy at the source, where people perturb their own answers, and only reports are collected.

The loss is per person and question: answers of one person to several questions, or to one question again,
add their epsilons up. No ledger of a table covers them.
"""

from dpcore.local.base import Protocol
from dpcore.local.estimate import Estimate
from dpcore.local.hadamard import HadamardResponse
from dpcore.local.hashing import LocalHashing
from dpcore.local.numeric import Duchi, MeanEstimate, Piecewise, RoundedResponse, discretize
from dpcore.local.question import Question
from dpcore.local.recommend import Option, recommend
from dpcore.local.reports import from_lines, to_lines
from dpcore.local.response import RandomizedResponse
from dpcore.local.several import Several, sample, split
from dpcore.local.subset import SubsetSelection
from dpcore.local.unary import OptimizedUnary, SymmetricUnary

__all__ = [
    "Duchi",
    "Estimate",
    "HadamardResponse",
    "LocalHashing",
    "MeanEstimate",
    "OptimizedUnary",
    "Option",
    "Piecewise",
    "Protocol",
    "Question",
    "RandomizedResponse",
    "RoundedResponse",
    "Several",
    "SubsetSelection",
    "SymmetricUnary",
    "discretize",
    "from_lines",
    "recommend",
    "sample",
    "split",
    "to_lines",
]
