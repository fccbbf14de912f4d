"""Names of `writeamp.volumes`."""

from .fleet import Fleet as Fleet
from .making import Made as Made
from .making import make as make
from .needs import FleetNeed as FleetNeed
from .needs import need as need
from .result import FleetRun as FleetRun
from .selection import info as info
from .splitting import Split as Split
from .splitting import split as split
from .study import run as run
from .tenants import TogetherRun as TogetherRun
from .tenants import together as together
