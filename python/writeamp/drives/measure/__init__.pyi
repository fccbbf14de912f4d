"""Names of `wa.measure`, and the module of each."""

from .by_counters import DriveCounters as DriveCounters
from .by_counters import counters as counters
from .by_counters import diff as diff
from .by_history import Fleet as Fleet
from .by_history import History as History
from .by_history import fleet as fleet
from .by_history import history as history
from .by_history import watch as watch
from .by_machine import MachineDrives as MachineDrives
from .by_machine import this_machine as this_machine
from .by_pins import PinFacts as PinFacts
from .by_pins import ReadyBusy as ReadyBusy
from .by_pins import facts_of as facts_of
from .by_pins import ready_busy as ready_busy
from .on_drives import Calibration as Calibration
from .on_drives import DriveRun as DriveRun
from .on_drives import calibrate as calibrate
from .on_drives import run as run
from .on_drives import save as save
