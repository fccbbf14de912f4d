"""writeamp: predict, simulate, run and measure the write amplification of flash SSDs.

import writeamp as wa
result = wa.simulate(workload="hot-cold:f=0.1,r=0.9", victims="d-choices:d=10", op=0.15)
print(result.wa, result.ci, result.causes)

Its names and their modules stand in `__init__.pyi`. All of them take a second to import, in which
the command could not hear Ctrl-C; so each is imported when it is first asked for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
