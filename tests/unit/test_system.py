"""Differences between operating systems, on a system that says that it is not Linux."""

from __future__ import annotations

import sys
import urllib.request  # noqa: F401 (on macOS, it imports a module that only macOS has)

import pytest

import writeamp as wa
from in_process import refusal, run
from writeamp import system


@pytest.fixture(autouse=True)
def _not_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("top", "drive.sock"),
        ("live", "/dev/null"),
        ("trace record", "/dev/null --out trace.parquet"),
        ("measure all", ""),
        ("lifetime", "/dev/null"),
        ("trace info", "-"),
    ],
)
def test_what_needs_linux_is_refused_in_one_sentence(verb: str, arguments: str) -> None:
    refusal(verb, arguments, "needs Linux; this system is darwin")


def test_the_library_refuses_the_virtual_ssd() -> None:
    with pytest.raises(wa.WriteampError, match="the virtual SSD needs Linux"):
        wa.VirtualSsd("ssd-v", size="64MiB")


def test_simulations_run_and_memory_is_known() -> None:
    assert run("simulate", "--blocks 64 --pages-per-block 16 --op 0.2 --writes 4000").status == 0
    assert 0 < system.free_memory_bytes() < 2**50
    assert system.mount_points() == []
