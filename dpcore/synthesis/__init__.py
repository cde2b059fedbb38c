"""Recipes that learn from a table under a stated loss, and the models that they
learn.
"""

from dpcore.model import Model as Model
from dpcore.model import load_model as load_model
from dpcore.synthesis.base import Expected as Expected
from dpcore.synthesis.base import Recipe as Recipe
from dpcore.synthesis.base import SomeColumns as SomeColumns
from dpcore.synthesis.base import describe as describe
from dpcore.synthesis.base import load_recipe as load_recipe
from dpcore.synthesis.categories import Categories as Categories
from dpcore.synthesis.categories import FoundCategories as FoundCategories
from dpcore.synthesis.chain import ChainModel as ChainModel
from dpcore.synthesis.closeness import Closeness as Closeness
from dpcore.synthesis.closeness import Step as Step
from dpcore.synthesis.closeness import closeness_step as closeness_step
from dpcore.synthesis.closeness import combinations_step as combinations_step
from dpcore.synthesis.closeness import model_steps as model_steps
from dpcore.synthesis.closeness import sample_steps as sample_steps
from dpcore.synthesis.closeness import sample_test as sample_test
from dpcore.synthesis.discrete.model import SyntheticModel as SyntheticModel
from dpcore.synthesis.discrete.recipes import Adaptive as Adaptive
from dpcore.synthesis.discrete.recipes import Tree as Tree
from dpcore.synthesis.gaussian.model import GaussianModel as GaussianModel
from dpcore.synthesis.gaussian.recipe import Gaussian as Gaussian
from dpcore.synthesis.marginals import Histogram as Histogram
from dpcore.synthesis.marginals import Independent as Independent
from dpcore.synthesis.marginals import Joint as Joint
from dpcore.synthesis.marginals import Marginals as Marginals
from dpcore.synthesis.release.pooling import Pooled as Pooled
from dpcore.synthesis.release.read import read_release as read_release
from dpcore.synthesis.release.row_count import RowCount as RowCount
from dpcore.synthesis.release.row_count import askable as askable
from dpcore.synthesis.release.row_count import count_rows as count_rows
from dpcore.synthesis.statistics import Figure as Figure
from dpcore.synthesis.statistics import Figures as Figures
from dpcore.synthesis.statistics import Statistics as Statistics
