"""Public names for measurements by Ready/Busy pins."""

from writeamp.drives.pins.device_facts import PinFacts, facts_of
from writeamp.drives.pins.measurement import ReadyBusy, ready_busy

__all__ = ["PinFacts", "ReadyBusy", "facts_of", "ready_busy"]
