"""writeamp: predict, simulate, run and measure the write amplification of flash SSDs.

import writeamp as wa
result = wa.simulate(workload="hot-cold:f=0.1,r=0.9", victims="d-choices:d=10", op=0.15)
print(result.wa, result.ci, result.causes)

Its names and their modules stand in `__init__.pyi`. All of them take a second to import, in which
the command could not react to Ctrl-C; so each is imported when it is first needed, and so is what
reads that list.
"""

from writeamp.fields.late_names import late_names

__getattr__, __dir__ = late_names(__name__, __file__)
