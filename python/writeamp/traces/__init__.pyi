"""Names of `writeamp.traces`."""

from .detection import detect as detect
from .format import Format as Format
from .in_memory import TraceData as TraceData
from .pages import PageTrace as PageTrace
from .pages import to_pages as to_pages
from .reading import info as info
from .reading import of as of
from .reading import read as read
from .registry import FORMATS as FORMATS
from .trace import OPERATIONS as OPERATIONS
from .trace import ORIGINS as ORIGINS
from .trace import SCHEMA as SCHEMA
from .trace import Trace as Trace
from .words import MAPPINGS as MAPPINGS
from .words import Mapping as Mapping
from .writing import write as write
