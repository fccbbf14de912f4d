"""Names of `writeamp.recorder`."""

from .functions import record as record
from .result import RecordResult as RecordResult
