"""Stand-ins of drives, and of the programs nvme and smartctl that read them.

A drive is a file whose name is that of a device, and whose content are its counters; commands of
tests change those as writes would.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import writeamp.drives.devices.device
from writeamp.drives.devices.writing import TargetPlace, place

_NVME = """#!{python}
import json, os, sys
words = [one for one in sys.argv[1:] if not one.startswith("-")]
path = next(one for one in words if os.sep in one)
verb = " ".join(one for one in words if one != path)
state = json.load(open(path))
if "grows" in state:
    state["flash"] += state["grows"].pop(0) if state["grows"] and verb == "smart-log" else 0
    json.dump(state, open(path, "w"))
if verb in state.get("refuses", []):
    print(state.get("complaint", "NVMe status: INVALID_LOG_PAGE(0x4109)"), file=sys.stderr)
    sys.exit(1)
if verb == "id-ctrl":
    print(json.dumps({{"vid": 1, "sn": "SERIAL0123", "mn": state.get("model", "DRIVE X"),
                      "fr": "FW1", "tnvmcap": 10**12}}))
elif verb == "smart-log":
    assert "--namespace-id=0xffffffff" in sys.argv
    print(json.dumps({{"critical_warning": 0, "percent_used": 3, "power_on_hours": 100,
                      "data_units_written": -(-state["host"] // 512000)}}))
elif verb == "ocp smart-add-log":
    print(json.dumps({{"Physical media units written": {{"hi": 0, "lo": state["flash"]}},
                      "Log page version": 2}}))
elif verb == "intel smart-log-add":
    print("Additional Smart Log for NVME device:nvme0 namespace-id:ffffffff")
    print("key                               normalized raw")
    print("nand_bytes_written              : 100%%       sectors: %d" % (state["flash"] >> 25))
    print("host_bytes_written              : 100%%       sectors: %d" % (state["host"] >> 25))
else:
    print("unknown verb " + verb, file=sys.stderr)
    sys.exit(1)
"""
_SMARTCTL = """#!{python}
import json, os, sys, time
state = json.load(open(sys.argv[-1]))
for number, (folder, unit) in state.get("counts", {{}}).items():
    sizes = [one.stat().st_size for one in os.scandir(folder) if "calibration" in one.name]
    state["attributes"][number] += sum(sizes) // unit
if "messages" in state:
    print(json.dumps({{"smartctl": {{"messages": [{{"string": state["messages"]}}]}}}}))
    sys.exit(2)
table = [{{"id": int(number), "name": "", "value": 90, "raw": {{"value": raw}}}}
         for number, raw in state["attributes"].items()]
print(json.dumps({{"device": {{"protocol": "ATA"}}, "model_name": state["model"],
                  "serial_number": "SERIAL0123", "wwn": {{"naa": 5, "id": "WORLDWIDE77"}},
                  "user_capacity": {{"bytes": 10**12}},
                  "local_time": {{"time_t": int(time.time())}},
                  "ata_smart_attributes": {{"table": table}}}}, indent=2))
sys.exit(4)
"""
_PROGRAMS = {"nvme": _NVME, "smartctl": _SMARTCTL}


@contextmanager
def tools(folder: Path, *names: str) -> Iterator[None]:
    """Have stand-ins of programs, and no others of their names, while the block lasts."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    for name in names:
        (programs / name).write_text(_PROGRAMS[name].format(python=sys.executable))
        (programs / name).chmod(0o755)
    with (
        patch.dict("os.environ", {"PATH": f"{programs}:/usr/bin:/bin"}),
        patch("writeamp.drives.devices.reading._SYSTEM_FOLDERS", ""),
        patch.object(writeamp.drives.devices.device, "is_device", _is_stand_in),
        patch("writeamp.drives.devices.source.is_device", _is_stand_in),
        patch("writeamp.drives.devices.reading.is_device", _is_stand_in),
    ):
        yield


def _is_stand_in(path: Any) -> bool:
    return Path(path).is_file() and not Path(path).suffix


def drive(folder: Path, name: str, **state: Any) -> Path:
    """Return the path of a drive with these counters."""
    path = folder / name
    path.write_text(json.dumps(state))
    return path


def writes(path: Path, *, host: int, flash: int) -> str:
    """Return a shell command that writes so many bytes to a drive."""
    change = (
        f"import json; p = {str(path)!r}; s = json.load(open(p)); s['host'] += {host}; "
        f"s['flash'] += {flash}; json.dump(s, open(p, 'w'))"
    )
    return f'{sys.executable} -c "{change}"'


def unchecked(
    kind: str, name: str, size_bytes: int, sector_bytes: int = 512, *, is_new: bool = False
) -> TargetPlace:
    """Return a place as `opened` would, for tests that reach no drive."""
    return TargetPlace(kind, name, size_bytes, sector_bytes, is_new, place._CHECKED)
