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
from dpcore.local.recommend import ProtocolOption as ProtocolOption
from dpcore.local.recommend import recommend_protocols as recommend_protocols
from dpcore.local.reports import from_json_lines as from_json_lines
from dpcore.local.reports import to_json_lines as to_json_lines
from dpcore.local.response import RandomizedResponse as RandomizedResponse
from dpcore.local.several import SeveralQuestions as SeveralQuestions
from dpcore.local.several import ask_all_questions as ask_all_questions
from dpcore.local.several import ask_one_question as ask_one_question
from dpcore.local.subset import SubsetSelection as SubsetSelection
from dpcore.local.unary import OptimizedUnary as OptimizedUnary
from dpcore.local.unary import SymmetricUnary as SymmetricUnary
