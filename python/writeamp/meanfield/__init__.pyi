"""Names of `writeamp.meanfield`."""

from .fixed_point import FixedPoint as FixedPoint
from .fixed_point import hot_cold as hot_cold
from .fixed_point import hot_cold_swap as hot_cold_swap
from .parameters import Parameters as Parameters
from .trajectory import Trajectory as Trajectory
from .trajectory import transient as transient
