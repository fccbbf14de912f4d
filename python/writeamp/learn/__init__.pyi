"""Names of `writeamp.learn`."""

from . import blackbox as blackbox
from . import twin as twin
