"""Names of `writeamp.drives`."""

from . import measure as measure
