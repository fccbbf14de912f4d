"""Names of `writeamp.learn.twin`."""

from .chain import Chain as Chain
from .chain import chain_of as chain_of
from .fitting import Fit as Fit
from .fitting import fit as fit
from .measuring import measure as measure
from .one_number import fit_one as fit_one
from .one_number import fit_trace as fit_trace
from .phases.checked import TwinCheck as TwinCheck
from .phases.checking import PhaseTwin as PhaseTwin
from .phases.checking import check as check
from .phases.fitting import fit_phases as fit_phases
from .phases.table import read_drives as read_drives
from .windows import Windows as Windows
from .windows import read_windows as read_windows
