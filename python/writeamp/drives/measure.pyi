"""Names of `wa.measure`, and the module of each."""

from .counters.result import DriveCounters as DriveCounters
from .fleets.result import Fleet as Fleet
from .fleets.result import fleet as fleet
from .histories.result import History as History
from .histories.result import history as history
from .pins.device_facts import PinFacts as PinFacts
from .pins.device_facts import facts_of as facts_of
from .pins.measurement import ReadyBusy as ReadyBusy
from .pins.measurement import measure_ready_busy as measure_ready_busy
from .pins.measurement import ready_busy as ready_busy
