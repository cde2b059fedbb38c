"""Evaluate."""

from workbench import widgets
from workbench.wording import _

curator = widgets.need_curator(_("Here a release is held against the original."))
