"""`writeamp top` shows a running drive: once, as JSON, or live until somebody ends it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

import in_process
import writeamp as wa
from patience import PATIENCE_S
from served import needs
from vssd_documents import BLOCKS, COUNTERS, SERIES, control_server, counters
from writeamp._engine import TIMED_CAUSES
from writeamp.vssd.live import LiveReading, Recent, binned

CLEAR = "\x1b[?1049l"  # the terminal is given back


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Path]:
    """Serve the counters beside the NBD socket that is returned."""
    with control_server(tmp_path / "vssd.sock.control"):
        yield tmp_path / "vssd.sock"


def shown(path: Path) -> list[str]:
    done = in_process.run("top", f"{path} --once")
    assert done.status == 0, done.err
    return done.out.splitlines()


def test_json_holds_wa_and_the_documents(served: Path) -> None:
    found = in_process.document("top", str(served))
    # Since counting began: 10,000 pages of the host, for which 36,000 were programmed.
    assert found["wa"] == 3.6
    assert found["wa_life"] == 2.3
    assert found["counters"] == COUNTERS
    assert found["blocks"] == BLOCKS


def test_the_control_socket_does_as_well_as_the_one_beside_it(served: Path) -> None:
    beside = in_process.document("top", f"{served}.control")
    assert beside == in_process.document("top", str(served))


def test_once_shows_wa_bytes_by_cause_and_both_histograms(served: Path) -> None:
    lines = shown(served)
    text = "\n".join(" ".join(line.split()) for line in lines)
    assert "WA 3.600 since counting began, 2.300 over its lifetime" in text
    assert "garbage collection 102 MB" in text
    assert "wear levelling 4.1 MB" in text
    assert "5 blocks free, 901 erases" in text
    (worn,) = [line for line in lines if "9–10" in line]
    assert worn.endswith("79")
    (full,) = [line for line in lines if "35–41" in line]
    assert "90" in full


def test_a_pipe_gets_what_once_prints(served: Path) -> None:
    assert in_process.run("top", str(served)).out.splitlines() == shown(served)


@pytest.mark.parametrize("many", [1, 10**8])
def test_it_fits_60_columns_and_24_lines(many: int, tmp_path: Path) -> None:
    host = {key: value * many for key, value in COUNTERS["host"].items()}
    programs = dict.fromkeys(TIMED_CAUSES, 20_000 * many)
    large = counters(host=host, programs=programs, erases=10**10, blocks=30_000_000)
    with control_server(tmp_path / "a.control", lambda: large):
        lines = shown(tmp_path / "a")
    assert len(lines) <= 24
    assert max(len(line.rstrip()) for line in lines) <= 60


def test_a_new_drive_has_no_wa(tmp_path: Path) -> None:
    host = dict.fromkeys(COUNTERS["host"], 0)
    new = counters(host=host, programs={"host": 0, "gc": 0, "wear_leveling": 0})
    with control_server(tmp_path / "a.control", lambda: new):
        found = in_process.document("top", str(tmp_path / "a"))
        lines = shown(tmp_path / "a")
    assert found["wa"] is found["wa_life"] is None
    assert lines[1].rstrip() == "WA – since counting began, – over its lifetime"


def test_no_server_is_one_sentence(tmp_path: Path) -> None:
    assert "vssd.sock.control" in in_process.refusal("top", f"{tmp_path}/vssd.sock")


def test_what_is_no_drive_is_one_sentence(tmp_path: Path) -> None:
    with control_server(tmp_path / "a.control", lambda: {"error": "nonsense"}):
        assert "nonsense" in in_process.refusal("top", f"{tmp_path}/a")


@needs()
def test_a_real_drive_answers_as_the_one_of_these_tests(tmp_path: Path) -> None:
    with wa.VirtualSsd("generic", size="16MiB", socket=tmp_path / "vssd.sock") as drive:
        found = in_process.document("top", str(tmp_path / "vssd.sock"))
        assert "since counting began" in shown(tmp_path / "vssd.sock")[1]
        series = drive.control.series()
    for real, ours in ((found["counters"], COUNTERS), (found["blocks"], BLOCKS), (series, SERIES)):
        assert real.keys() == ours.keys()
    assert found["counters"]["host"].keys() == COUNTERS["host"].keys()
    assert found["counters"]["programs"].keys() == COUNTERS["programs"].keys()
    histogram = found["blocks"]["valid_pages_histogram"]
    assert len(histogram) == wa.device("generic", size="16MiB").pages_per_block + 1


def reading(at_s: float, written: int, programmed: int) -> LiveReading:
    host = COUNTERS["host"] | {"written_pages": written}
    found = counters(elapsed_ns=int(at_s * 1e9), host=host, programs={"host": programmed})
    return LiveReading(found, BLOCKS, {"written_pages": [], "programmed_pages": []})


def test_recent_wa_is_that_of_the_last_ten_seconds() -> None:
    recent = Recent()
    for second in range(30):
        # WA is 3 in the first fifteen seconds, and 1.5 from then on.
        programmed = 300 * min(second, 15) + 150 * max(second - 15, 0)
        now = reading(second, 100 * second, programmed)
        earlier = recent.add(now)
    assert now.seconds_after(earlier) == 10
    assert now.wa_after(earlier) == 1.5
    assert now.wa_life == (300 * 15 + 150 * 14) / 2900


def test_wa_of_an_idle_drive_is_none() -> None:
    assert reading(2, 100, 150).wa_after(reading(1, 100, 150)) is None


@pytest.mark.parametrize("values", [range(1), range(7), range(8), range(9), range(3, 4611)])
def test_bins_hold_every_count_once(values: range) -> None:
    bins = binned(dict.fromkeys(values, 1), 8)
    assert len(bins) <= 8
    assert [one for low, high, _ in bins for one in range(low, high + 1)] == list(values)
    assert sum(count for *_, count in bins) == len(values)


class Watching:
    """The command on a terminal of 60 columns."""

    def __init__(self, path: Path) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "writeamp", "top", str(path)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=os.environ | {"TERM": "xterm-256color"},
        )
        os.close(slave)
        self.text = ""

    def read_until(self, words: str) -> None:
        last_s = time.monotonic() + PATIENCE_S
        while words not in self.text:
            assert time.monotonic() < last_s, self.text
            assert self.process.poll() is None, self.text
            if select.select([self._master], [], [], 1)[0]:
                with suppress(OSError):  # it has ended
                    self.text += os.read(self._master, 65536).decode(errors="replace")

    def press(self, keys: bytes) -> None:
        os.write(self._master, keys)

    def end(self) -> int:
        with suppress(OSError):  # there is nobody any more who could write
            while part := os.read(self._master, 65536):
                self.text += part.decode(errors="replace")
        os.close(self._master)
        return self.process.wait()


@contextmanager
def watching(path: Path) -> Iterator[Watching]:
    running = Watching(path)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.wait()


def test_q_ends_it_and_leaves_the_last_figures(served: Path) -> None:
    with watching(served) as top:
        top.read_until("over its lifetime")
        top.press(b"xq")
        assert top.end() == 0
    after = top.text.partition(CLEAR)[2]
    assert "since counting began, 2.300 over its lifetime" in after


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_well(by: signal.Signals, served: Path) -> None:
    with watching(served) as top:
        top.read_until("over its lifetime")
        top.process.send_signal(by)
        assert top.end() == 0
    assert CLEAR in top.text
    assert "Traceback" not in top.text


def test_it_says_when_the_drive_is_gone(tmp_path: Path) -> None:
    with ExitStack() as serving:
        serving.enter_context(control_server(tmp_path / "a.control"))
        with watching(tmp_path / "a") as top:
            top.read_until("over its lifetime")
            serving.close()
            assert top.end() == 0
    after = top.text.partition(CLEAR)[2]
    assert "no virtual drive responds" in after
    assert "the last state follows" in after
