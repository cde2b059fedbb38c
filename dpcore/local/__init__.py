"""Local privacy: people perturb their own answers, and only reports are collected.

The loss is per person and question: answers of one person to several questions, or to
one question again, add their epsilons up. No ledger of a table covers them.
"""

from dpcore.local.base import Protocol as Protocol
from dpcore.local.estimate import Estimate as Estimate
from dpcore.local.hadamard import HadamardResponse as HadamardResponse
from dpcore.local.hashing import LocalHashing as LocalHashing
from dpcore.local.numeric import Duchi as Duchi
from dpcore.local.numeric import MeanEstimate as MeanEstimate
from dpcore.local.numeric import Piecewise as Piecewise
from dpcore.local.numeric import RoundedResponse as RoundedResponse
from dpcore.local.numeric import discretize as discretize
from dpcore.local.question import Question as Question
from dpcore.local.recommend import Option as Option
from dpcore.local.recommend import recommend as recommend
from dpcore.local.reports import from_lines as from_lines
from dpcore.local.reports import to_lines as to_lines
from dpcore.local.response import RandomizedResponse as RandomizedResponse
from dpcore.local.several import Several as Several
from dpcore.local.several import ask_all_questions as ask_all_questions
from dpcore.local.several import ask_one_question as ask_one_question
from dpcore.local.subset import SubsetSelection as SubsetSelection
from dpcore.local.unary import OptimizedUnary as OptimizedUnary
from dpcore.local.unary import SymmetricUnary as SymmetricUnary
