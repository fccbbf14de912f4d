"""The JSON document of each verb is what the library's result says of itself.

`test_required_op.py` has that of `simulate --target-wa`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import writeamp as wa
from in_process import document
from samples import FORMAT, MEAN_FIELD, TRACE

DRIVE: dict[str, Any] = {"blocks": 64, "pages_per_block": 16, "op": 0.25}
WORKLOAD = "hot-cold:f=0.1,r=0.9"
TIMED: dict[str, Any] = {"size": "64MiB", "workload": "random:qd=4", "time": "5ms"}
# What took time.
NEVER_SAME = ("elapsed_s", "check_elapsed_s", "host_pages_per_s", "flash_ops_per_s")

# What the doctor, whom the library leaves to its caller, says of a load without mistakes.
NO_FINDINGS: dict[str, Any] = {"findings": []}


def options(settings: dict[str, Any]) -> str:
    return " ".join(f"--{name.replace('_', '-')} {value}" for name, value in settings.items())


def info(folder: Path) -> dict[str, Any]:
    (folder / "t.spc").write_text(TRACE)
    return wa.traces.info(wa.traces.read(folder / "t.spc", FORMAT))


# What a verb is given, and what the library says of the same.
VERBS: dict[str, tuple[str, Callable[[Path], dict[str, Any]]]] = {
    "simulate": (
        options(DRIVE | {"workload": WORKLOAD, "writes": 20_000}),
        lambda _: wa.simulate(**DRIVE, workload=WORKLOAD, writes=20_000).to_dict() | NO_FINDINGS,
    ),
    "simulate --timed": (
        options({"device": "x25-m"} | TIMED),
        lambda _: wa.simulate("x25-m", **TIMED).to_dict() | NO_FINDINGS,
    ),
    "compare": (
        options(DRIVE | {"managers": "single,sepgc", "writes": 20_000, "replicas": 2}),
        lambda _: wa.compare(**DRIVE, managers="single,sepgc", writes=20_000, replicas=2).to_dict(),
    ),
    "endurance": (
        options(DRIVE | {"w_max": 20, "replicas": 2}),
        lambda _: wa.endurance(**DRIVE, w_max=20, replicas=2).to_dict(),
    ),
    "meanfield": (
        options(MEAN_FIELD | {"mode": "hcwf"}),
        lambda _: wa.meanfield.hot_cold(**MEAN_FIELD).to_dict(),
    ),
    "trace info": ("{folder}/t.spc --format spc", info),
}


def without_times(value: Any) -> Any:
    """Return a document without what took time, at any depth."""
    if isinstance(value, dict):
        return {key: without_times(one) for key, one in value.items() if key not in NEVER_SAME}
    return list(map(without_times, value)) if isinstance(value, list) else value


@pytest.mark.parametrize("verb", VERBS)
def test_the_document_of_a_verb_is_that_of_the_library(verb: str, tmp_path: Path) -> None:
    arguments, of_library = VERBS[verb]
    expected = json.loads(json.dumps(of_library(tmp_path)))
    found = document(verb, arguments.format(folder=tmp_path))
    assert without_times(found) == without_times(expected)
