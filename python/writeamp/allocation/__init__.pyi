"""Names of `writeamp.allocation`."""

from .coldest import ColdestGroup as ColdestGroup
from .compared import AllocationsByMethod as AllocationsByMethod
from .compared import Exploration as Exploration
from .equalization import EqualGain as EqualGain
from .equalization import Followed as Followed
from .equalization import equal_gain as equal_gain
from .exploration import configurations as configurations
from .exploration import explore as explore
from .groups import GroupTable as GroupTable
from .methods import METHODS as METHODS
from .methods import by_frequency as by_frequency
from .methods import by_size as by_size
from .methods import closed_form as closed_form
from .methods import optimal as optimal
from .result import Allocation as Allocation
