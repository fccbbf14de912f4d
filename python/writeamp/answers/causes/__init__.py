"""Causes of difference in the order of switching: one file for each kind of other way.

What stands first of those that explain a kind of way is switched first; each that follows is
switched with all before it, so that their shares add up.
"""

from __future__ import annotations

from writeamp.answers.cause import Cause
from writeamp.answers.causes import counters, theory, timed

CAUSES: tuple[Cause, ...] = (*theory.CAUSES, *timed.CAUSES, *counters.CAUSES)
