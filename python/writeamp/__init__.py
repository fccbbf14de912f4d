"""writeamp: predict, simulate, run and measure the write amplification of flash SSDs.

import writeamp as wa
result = wa.simulate(workload="hot-cold:f=0.1,r=0.9", victims="d-choices:d=10", op=0.15)
print(result.wa, result.ci, result.causes)

`__init__.pyi` lists the public names and their modules. Importing all of them takes a second, in
which the command could not react to Ctrl-C. So each name, and the reader of that list, is imported
on first use.
"""

from writeamp.fields.late_names import late_names

__getattr__, __dir__ = late_names(__name__, __file__)
