"""The Learn page speaks of formulas and of invented people: whatever is open, it says the same."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.truth.figures import Figure, MarkedTab, check, figures
from tests.truth.tables import TABLES, around, opened
from workbench import samples
from workbench.learn import view
