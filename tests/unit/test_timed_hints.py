"""Hints of the host in virtual time: what managers hear that need them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from in_process import document, refusal

DRIVE = "--blocks 96 --pages-per-block 32 --op 0.25 --writes 5000 --warmup 0"
LOADS = {
    "groups": "hot-cold:f=0.1,r=0.9",
    "phases": "phases:writes=1500/1e3,of=uniform/hot-cold(f=0.1,r=0.9)",
}


def counts(found: dict[str, Any]) -> tuple[int, ...]:
    causes = found["causes"]
    return (found["host_pages"], causes["host"], causes["gc"], found["erases"])


@pytest.mark.parametrize("load", ["groups", "phases"])
@pytest.mark.parametrize(
    "manager",
    ["hcwf", "hcwf-swap", "wolf", "fdp-frequency", "nvme-fdp", "oracle:streams=4"],
)
def test_without_durations_hinted_managers_do_what_they_do_untimed(manager: str, load: str) -> None:
    asked = f"{DRIVE} --manager {manager} --workload {LOADS[load]}"
    assert counts(document("simulate", f"{asked} --timed")) == counts(document("simulate", asked))


def test_pages_that_wait_in_the_cache_keep_the_hints_of_the_host() -> None:
    # Without hints, wolf would know one group, and its WA would be that of a drive without any.
    asked = "--device tlc-client --size 256MiB --workload hot-cold:f=0.1,r=0.95 --host-bytes 600MiB"
    asked += " --set map_cache.bytes=0"
    found = [
        document("simulate", f"{asked} --manager {manager}")["wa"] for manager in ("wolf", "single")
    ]
    assert found[0] < 0.9 * found[1], found


def test_a_load_without_groups_is_refused_in_a_sentence(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("0,W,0,4096\n1000,W,4096,4096\n")
    asked = f"--blocks 64 --pages-per-block 32 --timed --manager wolf --trace {trace}"
    columns = "columns:time=1:us,op=2:W=write,offset=3:bytes,length=4:bytes"
    said = refusal("simulate", f"{asked} --format {columns}")
    assert "wolf needs hints on the group of each page, and this workload gives none" in said


def test_an_array_refuses_managers_that_need_hints_and_names_those_that_need_none() -> None:
    asked = "--device raid0:x25-m,x25-m --size 64MiB --workload hot-cold:f=0.1,r=0.9 --time 1ms"
    for manager, hints in (("wolf", "groups"), ("oracle:streams=4", "invalidation times")):
        said = refusal("simulate", f"{asked} --manager {manager}")
        assert f"{manager} needs hints on {hints}, which an array does not give its members" in said
        assert "block managers that need none: single, sepgc" in said
