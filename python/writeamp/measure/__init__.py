"""Measurements of real drives: Ready/Busy captures of their flash."""

from __future__ import annotations

from writeamp.measure.device_facts import PinFacts, facts_of
from writeamp.measure.ready_busy import ReadyBusy, measure_ready_busy

__all__ = ["PinFacts", "ReadyBusy", "facts_of", "measure_ready_busy"]
