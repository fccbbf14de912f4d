"""Processes of a test: found by their environment, also when their parent has ended."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator

import pytest

from patience import PATIENCE_S, await_value
from started import end_processes_of, started_by


@pytest.fixture
def of_a_fixture() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", str(PATIENCE_S)]) as sleeping:
        yield sleeping
        sleeping.kill()


def test_those_of_the_body_end_and_those_of_fixtures_stay(
    of_a_fixture: subprocess.Popen[bytes], request: pytest.FixtureRequest
) -> None:
    test = request.node.nodeid
    orphan = f"sleep {PATIENCE_S} > /dev/null & echo $!"
    shell = subprocess.run(["sh", "-c", orphan], stdout=subprocess.PIPE, check=True)
    with subprocess.Popen(["sleep", str(PATIENCE_S)]) as sleeping:
        await_value(lambda: sleeping.pid in pids(test))
        assert int(shell.stdout) in pids(test)
        assert of_a_fixture.pid not in pids(test)
        end_processes_of(test)
        assert sleeping.wait(PATIENCE_S) == -signal.SIGKILL
    await_value(lambda: not pids(test))
    assert of_a_fixture.poll() is None


def pids(test: str) -> set[int]:
    return {process.pid for process in started_by(test)}
