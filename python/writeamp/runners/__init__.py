"""Runners: run jobs on this thread, on threads of this process, or on a cluster.

`__all__` lists the public names; the library itself also uses the others.
"""

from writeamp.runners.choice import runner_of
from writeamp.runners.estimates import report_wa as report_wa
from writeamp.runners.local import Here, Threads
from writeamp.runners.local import local_runner as local_runner
from writeamp.runners.processor_share import processors as processors
from writeamp.runners.processor_share import useful_threads as useful_threads
from writeamp.runners.processor_share import using_processors as using_processors
from writeamp.runners.runner import Progress, Runner
from writeamp.runners.runner import check_callbacks as check_callbacks
from writeamp.runners.runner import gather as gather
from writeamp.runners.runner import gather_whole as gather_whole
from writeamp.runners.settings import Tls
from writeamp.runners.shared_values import Shared as Shared
from writeamp.runners.stopping import Stopped as Stopped
from writeamp.runners.stopping import stop_if_asked as stop_if_asked

__all__ = ["Here", "Progress", "Runner", "Threads", "Tls", "runner_of"]
