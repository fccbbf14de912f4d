"""Measurements of real drives: Ready/Busy captures of their flash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writeamp.later import names_from
from writeamp.measure.device_facts import PinFacts, facts_of

if TYPE_CHECKING:
    from writeamp.measure.ready_busy import ReadyBusy, measure_ready_busy

__all__ = ["PinFacts", "ReadyBusy", "facts_of", "measure_ready_busy"]

# A measurement takes NumPy and SciPy, which its words do without.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_from(
        "writeamp.measure",
        {"ready_busy": ("ReadyBusy", "measure_ready_busy")},
    )
