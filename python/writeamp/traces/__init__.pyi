"""Names of `writeamp.traces`."""

from .detection import detect as detect
from .fetching import FetchedTrace as FetchedTrace
from .fetching import fetch as fetch
from .format import Format as Format
from .in_memory import TraceData as TraceData
from .pages import PageTrace as PageTrace
from .pages import to_pages as to_pages
from .public_traces import PublicTrace as PublicTrace
from .public_traces import TraceCatalogue as TraceCatalogue
from .public_traces import catalogue as catalogue
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
