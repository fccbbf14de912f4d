"""Processes that a test has started: they end with it, also when it fails."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

import psutil

# Beside pytest's own variable: a test of the same name may run in another checkout.
WORKER = "WRITEAMP_TEST_WORKER"


def started_by(test: str) -> Iterator[psutil.Process]:
    """Yield processes that a test's body has started, and theirs: they inherit its environment."""
    marks = {"PYTEST_CURRENT_TEST": f"{test} (call)", WORKER: os.environ[WORKER]}
    for process in psutil.process_iter():
        try:
            environment = process.environ()
        except (psutil.Error, OSError):
            continue
        if environment.items() >= marks.items():
            yield process


def end_processes_of(test: str) -> None:
    """Kill the processes that a test has started and not ended."""
    for process in started_by(test):
        with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
            process.kill()
