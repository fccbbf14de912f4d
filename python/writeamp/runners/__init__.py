"""Runners: run jobs on this thread, on threads of this process, or on a cluster."""

from writeamp.runners.choice import runner_of
from writeamp.runners.local import Here, Threads, local_runner
from writeamp.runners.processor_share import processors, useful_threads, using_processors
from writeamp.runners.runner import Progress, Runner, gather, gather_whole
from writeamp.runners.settings import Tls
from writeamp.runners.shared_values import Shared
from writeamp.runners.stopping import Stopped, stop_if_asked

__all__ = [
    "Here",
    "Progress",
    "Runner",
    "Shared",
    "Stopped",
    "Threads",
    "Tls",
    "gather",
    "gather_whole",
    "local_runner",
    "processors",
    "runner_of",
    "stop_if_asked",
    "useful_threads",
    "using_processors",
]
