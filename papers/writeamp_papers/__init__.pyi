"""Names of `writeamp_papers`, and the module of each."""

from .bench import Bench as Bench
from .bench import Findings as Findings
from .items import Erratum as Erratum
from .items import Item as Item
from .items import Verdict as Verdict
from .items import at_most as at_most
from .items import checked as checked
from .items import compared as compared
from .items import fitted_to as fitted_to
from .items import ordered as ordered
from .items import typed_in as typed_in
from .items import within as within
from .known import surprises as surprises
from .paper import Paper as Paper
from .papers import PAPERS as PAPERS
from .papers import find_paper as find_paper
from .readings import Reading as Reading
from .readings import by_choice as by_choice
from .reproduction import Reproduction as Reproduction
from .reproduction import reproduce as reproduce
