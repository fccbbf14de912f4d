"""Names of `writeamp.measure`."""

from .counters.answer import DriveCounters as DriveCounters
from .device_facts import PinFacts as PinFacts
from .device_facts import facts_of as facts_of
from .fleets.result import Fleet as Fleet
from .fleets.result import fleet as fleet
from .histories.result import History as History
from .histories.result import history as history
from .measurement import ReadyBusy as ReadyBusy
from .measurement import measure_ready_busy as measure_ready_busy
from .measurement import ready_busy as ready_busy
