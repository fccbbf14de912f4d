"""Writing to real drives: all code that can destroy data, guarded by safety checks.

Other modules of `drives` and `learn` import these names only. `opened` checks a target and returns
its `TargetPlace`, whose methods lock it, discard it and run fio on it. `tests/unit/test_writing.py`
finds other modules that write to devices or start programs.
"""

from writeamp.drives.devices.writing.fio import check_fio, seeded
from writeamp.drives.devices.writing.new_file import random_file
from writeamp.drives.devices.writing.place import TargetPlace, kind_of, opened

__all__ = ["TargetPlace", "check_fio", "kind_of", "opened", "random_file", "seeded"]
