"""Names of `writeamp.measure`."""

from .device_facts import PinFacts as PinFacts
from .device_facts import facts_of as facts_of
from .measurement import ReadyBusy as ReadyBusy
from .measurement import measure_ready_busy as measure_ready_busy
from .measurement import ready_busy as ready_busy
