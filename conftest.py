"""Fixtures and settings of every test."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from faults import FaultLayer, build_fault_layer
from started import WORKER, end_processes_of

# A deadline is a timed assertion, which a busy machine fails.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

# Of processor time, its own and that of the processes it waited for: a busy machine names no other.
MOST_SECONDS_OF_A_UNIT_TEST = 1
HAS_FAILED = pytest.StashKey[bool]()
# Its import gives a function, in which pytest looks for examples of a module.
collect_ignore = ["python/writeamp/reproduce.py"]


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with a short name, in which sockets fit."""
    return tmp_path_factory.mktemp("s")


@pytest.fixture(scope="session")
def fault_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the library that lets calls to the file system fail."""
    return build_fault_layer(tmp_path_factory.mktemp("faults"))


@pytest.fixture
def fault_layer(
    fault_library: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> FaultLayer:
    """Give faults of the file system in this test's own folder."""
    return FaultLayer(fault_library, tmp_path, tmp_path_factory.mktemp("orders") / "orders")


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run sweeps in this process unless a test asks for workers."""
    monkeypatch.setattr("writeamp.runners.choice.processors", lambda: 1)


@pytest.fixture
def plain_messages() -> Iterator[None]:
    """Hold every error, warning and note of a test to the words of docs/STYLE.md."""
    from messages import collected, faults_of  # noqa: PLC0415 (imports the command)

    with collected() as messages:
        yield
    assert {one: faults for one in messages if (faults := faults_of(one))} == {}


def pytest_configure() -> None:
    """Let tests and their processes hear Ctrl-C, which programs in a shell's background ignore."""
    os.environ[WORKER] = str(os.getpid())
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """End the processes of a test that failed, after the fixtures that may end them."""
    try:
        yield
    finally:
        if item.stash.get(HAS_FAILED, False):
            end_processes_of(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Note the processor time of each test, and whether it failed."""
    before = sum(os.times()[:4])
    try:
        yield
    except BaseException:
        item.stash[HAS_FAILED] = True
        raise
    finally:
        item.user_properties.append(("seconds", sum(os.times()[:4]) - before))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that are too long for their tier."""
    passed = terminalreporter.getreports("passed")
    seconds = {
        one.nodeid: dict(one.user_properties).get("seconds", 0)
        for one in passed
        if one.nodeid.startswith(("tests/unit/", "papers/tests/unit/"))
    }
    long = {test: took for test, took in seconds.items() if took > MOST_SECONDS_OF_A_UNIT_TEST}
    # They pass: no test asserts a time.
    if long:
        terminalreporter.section("too long for a unit test: make it quicker, or move it")
    for test, took in sorted(long.items(), key=lambda one: -one[1]):
        terminalreporter.line(f"{took:.1f} s of processor time: {test}")
