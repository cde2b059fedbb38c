"""Local privacy: people perturb their own answers, and only reports are collected.

The loss is per person and question: answers of one person to several questions, or to
one question again, add their epsilons up. No ledger of a table covers them.
"""

from dpcore.local._estimate import Estimate as Estimate
from dpcore.local._hadamard import HadamardResponse as HadamardResponse
from dpcore.local._hashing import LocalHashing as LocalHashing
from dpcore.local._numeric import Duchi as Duchi
from dpcore.local._numeric import MeanEstimate as MeanEstimate
from dpcore.local._numeric import Piecewise as Piecewise
from dpcore.local._numeric import RoundedResponse as RoundedResponse
from dpcore.local._numeric import discretize as discretize
from dpcore.local._question import Question as Question
from dpcore.local._recommend import ProtocolOption as ProtocolOption
from dpcore.local._recommend import recommend_protocols as recommend_protocols
from dpcore.local._reports import from_json_lines as from_json_lines
from dpcore.local._reports import to_json_lines as to_json_lines
from dpcore.local._response import RandomizedResponse as RandomizedResponse
from dpcore.local._subset import SubsetSelection as SubsetSelection
from dpcore.local._unary import OptimizedUnary as OptimizedUnary
from dpcore.local._unary import SymmetricUnary as SymmetricUnary
from dpcore.local.base import Protocol as Protocol
from dpcore.local.several import SeveralQuestions as SeveralQuestions
from dpcore.local.several import ask_all_questions as ask_all_questions
from dpcore.local.several import ask_one_question as ask_one_question
