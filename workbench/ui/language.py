"""The language of the interface."""

from __future__ import annotations

import gettext

_ = gettext.translation("workbench", localedir=None, fallback=True).gettext
