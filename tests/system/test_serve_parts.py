"""The parts of a virtual drive that need no drive: signals, processes, counts, layers."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

import writeamp as wa
from patience import PATIENCE_S
from served import program
from vssd_documents import BLOCKS, COUNTERS, DEVICE, PAGE_BYTES, control_server, counters
from writeamp.devices.policy import Policy
from writeamp.errors import WriteampError
from writeamp.machine import command, programs
from writeamp.machine.command import run_command
from writeamp.machine.signals import HeldSignals, held_signals
from writeamp.plots.spec import BarChart, LineChart
from writeamp.vssd.control import Control
from writeamp.vssd.layers import Layers
from writeamp.vssd.result import ServeResult
from writeamp.vssd.settings import DriveSettings

SILENT = HeldSignals(None)


class TestSignals:
    def test_one_that_comes_is_delivered_at_the_end_of_the_block(self) -> None:
        reached = []

        def hold() -> None:
            with held_signals():
                signal.raise_signal(signal.SIGINT)
                reached.append(True)

        with pytest.raises(KeyboardInterrupt):
            hold()
        assert reached

    def test_one_that_is_taken_is_not_delivered(self) -> None:
        with held_signals() as held:
            os.kill(os.getpid(), signal.SIGTERM)
            held.wait([], 60)
            assert held.take() is signal.SIGTERM
            assert held.take() is None

    def test_a_check_stops_after_one(self) -> None:
        with held_signals() as held:
            held.check()
            signal.raise_signal(signal.SIGINT)
            with pytest.raises(KeyboardInterrupt):
                held.check()
            held.take()

    def test_those_that_are_ignored_stay_so(self) -> None:
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            with held_signals() as held:
                signal.raise_signal(signal.SIGHUP)
                assert held.came == []
        finally:
            signal.signal(signal.SIGHUP, before)

    def test_handlers_are_afterwards_as_they_were(self) -> None:
        before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
        with held_signals():
            pass
        assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before

    def test_a_thread_holds_none(self) -> None:
        found: list[HeldSignals] = []

        def hold() -> None:
            with held_signals() as held:
                held.wait([], 0.01)
                found.append(held)

        thread = threading.Thread(target=hold)
        thread.start()
        thread.join()
        assert found[0].came == []


@pytest.fixture
def had() -> list[int]:
    """Return the children that this process has before, such as a tracker of multiprocessing."""
    return command.children(os.getpid())


class TestPrograms:
    def test_one_that_is_missing_is_named_with_its_package(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(programs, "_SYSTEM_FOLDERS", "")
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(WriteampError, match=r"nbdfuse is not installed.* libnbd-bin"):
            programs.require("nbdfuse")

    def test_one_that_fails_is_quoted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        script = "echo first\necho 'wrong fs type' >&2\nexit 32"
        monkeypatch.setenv("PATH", program(tmp_path, "mount", script))
        with pytest.raises(WriteampError, match=r"^mount failed: first; wrong fs type$"):
            programs.run(SILENT, "mount")

    def test_one_that_takes_long_is_ended_by_a_signal(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, had: list[int]
    ) -> None:
        script = f"kill -INT {os.getpid()}\nexec sleep 600"
        monkeypatch.setenv("PATH", program(tmp_path, "mount", script))
        with pytest.raises(KeyboardInterrupt), held_signals() as held:
            programs.run(held, "mount")
        assert command.children(os.getpid()) == had

    def test_one_that_has_ended_is_told_by_its_errors_and_not_by_its_warnings(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        script = (
            "echo 'writeamp: warning: no snapshot'\necho other\n"
            "echo 'nbdkit: vssd[1]: error: no space' >&2\nexit 1"
        )
        monkeypatch.setenv("PATH", program(tmp_path, "nbdkit", script))
        with ExitStack() as undo:
            daemon = programs.start_daemon(undo, tmp_path / "messages", "nbdkit")
            daemon.process.wait()
            assert daemon.complaints() == ["no snapshot", "no space"]
            with pytest.raises(WriteampError, match=r"^no space$"):
                daemon.check()

    def test_one_is_ended_also_where_it_cannot_be_waited_for(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, had: list[int]
    ) -> None:
        monkeypatch.setenv("PATH", program(tmp_path, "nbdkit", "exec sleep 600"))

        def refuse(_pid: int) -> int:
            raise OSError("too many open files")

        monkeypatch.setattr(os, "pidfd_open", refuse)
        with pytest.raises(OSError, match="too many"), ExitStack() as undo:
            programs.start_daemon(undo, tmp_path / "messages", "nbdkit")
        assert command.children(os.getpid()) == had


class TestCommand:
    def run(self, text: str) -> tuple[int, command.ProcessWrites]:
        ended = run_command(text, {"uri": "nbd:"}, signals=SILENT, check=lambda: None)
        return ended.status, ended.written

    def test_its_status_is_as_a_shell_has_it(self) -> None:
        assert self.run("exit 7")[0] == 7
        assert self.run("kill -9 $$")[0] == 128 + 9

    def test_it_finds_the_drive_in_its_environment(self) -> None:
        assert self.run('test "$uri" = nbd:')[0] == 0

    def test_what_its_children_wrote_is_counted(self, tmp_path: Path) -> None:
        write = f"head -c 1000000 /dev/zero > {tmp_path}/one"
        status, written = self.run(f"{write}; ({write}2)")
        assert status == 0
        assert 2_000_000 <= written.calls_bytes <= 2_000_100

    def test_a_daemon_is_ended_and_what_it_wrote_counted(
        self, tmp_path: Path, had: list[int]
    ) -> None:
        daemon = f"head -c 1000000 /dev/zero > {tmp_path}/one; sleep 600"
        ready = f"while ! test -s {tmp_path}/one; do sleep 0.01; done"
        status, written = self.run(f"setsid sh -c '{daemon}' & {ready}; sleep 0.1")
        assert status == 0
        assert written.calls_bytes >= 1_000_000
        assert command.children(os.getpid()) == had

    def test_it_is_ended_where_the_drive_has_gone(self, had: list[int]) -> None:
        def gone() -> None:
            raise WriteampError("nbdkit ended")

        with pytest.raises(WriteampError, match="nbdkit ended"):
            run_command("sleep 600", {}, signals=SILENT, check=gone)
        assert command.children(os.getpid()) == had

    def test_a_second_signal_is_plainer_than_the_first(self, tmp_path: Path) -> None:
        # In a process of its own: it is the one that the signals are for.
        program = (
            "import sys\n"
            "from writeamp.machine.command import run_command\n"
            "from writeamp.machine.signals import held_signals\n"
            "with held_signals() as held:\n"
            "    ended = run_command(sys.argv[1], {}, signals=held, check=lambda: None)\n"
            "print(ended.status, ended.signal.name)\n"
        )
        stubborn = "trap 'echo heard' INT; echo ready; while :; do sleep 0.05; done"
        running = subprocess.Popen(
            [sys.executable, "-c", program, stubborn],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGINT)
        assert running.stdout.readline() == "heard\n"
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=PATIENCE_S)
        assert out.splitlines()[-1] == f"{128 + signal.SIGTERM} SIGINT"


class TestControl:
    def test_it_asks(self, tmp_path: Path) -> None:
        with control_server(tmp_path / "c"):
            control = Control(tmp_path / "c")
            assert control.counters() == COUNTERS
            assert control.blocks() == BLOCKS

    def test_nobody_there_is_a_sentence(self, tmp_path: Path) -> None:
        with pytest.raises(WriteampError, match=r"no virtual drive responds at .*/c: No such file"):
            Control(tmp_path / "c").counters()


def result(
    *,
    layers: Layers | None = None,
    written: list[int] | None = None,
    device: wa.Device = DEVICE,
    settings: DriveSettings | None = None,
    is_kept: bool = False,
    **ended: object,
) -> ServeResult:
    """Return what a drive did that was fresh when counting began."""
    began = counters(
        elapsed_ns=0,
        erases=1,
        read_modify_write_pages=1,
        programs={"host": 1000, "gc": 500, "wear_leveling": 0},
        host=dict.fromkeys(COUNTERS["host"], 0) | {"written_pages": 1000},
    )
    pages = [1000, 20_000] if written is None else written
    return ServeResult(
        device=device,
        policy=Policy("single", None, None),
        settings=settings or DriveSettings(),
        is_kept=is_kept,
        began=began,
        ended=counters(**ended),
        samples={"written_pages": pages, "programmed_pages": [2 * page for page in pages]},
        blocks=BLOCKS,
        layers=layers,
    )


class TestResult:
    def test_counts_are_those_since_counting_began(self) -> None:
        found = result()
        assert found.host_pages == 19_000
        assert found.host_bytes == 20_000 * PAGE_BYTES
        assert found.causes == {"host": 19_000, "gc": 24_500, "wear_leveling": 1000}
        assert found.flash_bytes == 44_500 * PAGE_BYTES
        assert found.wa == 44_500 / 19_000
        assert found.wa_bytes == 44_500 / 20_000
        assert (found.erases, found.read_modify_write_pages) == (900, 10)
        assert found.max_erase_count == 14

    def test_the_document_has_what_the_attributes_have(self) -> None:
        found = result()
        document = found.to_dict()
        for key in ("wa", "host_bytes", "flash_bytes", "causes", "erases", "max_erase_count"):
            assert document[key] == getattr(found, key)
        assert document["wa_ci95"] == [None, None]
        assert document["layers"] is None

    def test_too_little_for_an_interval_is_said(self) -> None:
        found = result()
        assert math.isnan(found.ci[0])
        assert any("1 samples, but 10 are needed" in note for note in found.notes)

    def test_samples_make_an_interval_around_their_mean(self) -> None:
        found = result(written=list(range(1000, 21_000, 500)))
        assert found.ci == pytest.approx((2, 2))

    def test_a_few_pages_are_too_little_and_not_nothing(self) -> None:
        notes = result(written=[1000]).notes
        assert any("19,000 pages give 0 samples" in note for note in notes)
        assert not any("wrote nothing" in note for note in notes)

    @pytest.mark.parametrize(
        ("erases", "when"), [(1, "in this run"), (0, "since the drive was new")]
    )
    def test_without_collection_there_is_no_interval(self, erases: int, when: str) -> None:
        found = result(written=list(range(1000, 21_000, 500)), erases=erases)
        found = replace(found, began=found.began | {"erases": erases})
        assert found.to_dict()["wa_ci95"] == [None, None]
        assert f"no confidence interval: no garbage collection {when}" in found.notes

    def test_a_short_run_is_measured_since_the_drive_was_new(self) -> None:
        programs = {"host": 3000, "gc": 1000, "wear_leveling": 0}
        found = result(written=list(range(1000, 21_000, 500)), programs=programs)
        assert any("0.80 times since the drive was new" in note for note in found.notes)

    def test_padding_that_is_left_out_is_said(self) -> None:
        said = "the padding that 7 flushes cause in the flash is counted only with --timed"
        wide = wa.device("tlc-client", size="1GiB")
        assert said in result(device=wide).notes
        timed = DriveSettings(timed=True)
        none = COUNTERS["host"] | {"flushes": 0}
        for other in (
            result(device=wide, settings=timed),
            result(device=wide, host=none),
            result(device=wa.device("ssd-v", size="1GiB")),  # programs single pages
            result(device=wa.device("tlc-datacenter", size="1GiB")),  # safe from power loss
        ):
            assert not any("pad" in note for note in other.notes)

    def test_a_drive_that_goes_on_was_not_preconditioned(self) -> None:
        full = DriveSettings(precondition="full")
        assert result(settings=full).to_dict()["precondition"] == "full"
        assert result(settings=full, is_kept=True).to_dict()["precondition"] == "kept"

    def test_nothing_written_has_no_write_amplification(self) -> None:
        began = result().began
        found = result(host=began["host"], programs=began["programs"], written=[1000])
        assert math.isnan(found.wa)
        assert not found.exceeds(1.0)
        assert found.to_dict()["wa"] is None
        assert any("wrote nothing" in note for note in found.notes)

    def test_a_limit_is_exceeded_from_above(self) -> None:
        found = result()
        assert found.exceeds(2.3)
        assert not found.exceeds(found.wa)

    def test_latencies_are_in_microseconds_of_what_was_asked(self) -> None:
        none = dict.fromkeys(["mean_ns", "p50_ns", "p99_ns", "p99_9_ns", "max_ns"])
        read = {"requests": 0, **none}
        write = {"requests": 2, **dict.fromkeys(none, 1500)}
        assert result(latency={"read": read, "write": write}).latency_us == {
            "read": None,
            "write": dict.fromkeys(["mean", "p50", "p99", "p99_9", "max"], 1.5),
        }

    def test_it_draws_the_run_or_its_layers(self) -> None:
        assert isinstance(result().figure(), LineChart)
        layers = Layers(100, 200, 300, 600)
        assert isinstance(result(layers=layers).figure(), BarChart)


class TestLayers:
    def test_factors_multiply_to_the_whole(self) -> None:
        layers = Layers(100, 250, 300, 600)
        assert layers.factors() == {"file_system": 2.5, "device": 1.2, "flash": 2.0}
        assert math.prod(filter(None, layers.factors().values())) == layers.whole() == 6.0

    def test_without_a_command_the_file_system_is_on_top(self) -> None:
        layers = Layers.of(None, file_system=250, device=300, flash=600)
        assert layers.factors() == {"device": 1.2, "flash": 2.0}
        assert layers.to_dict()["application_bytes"] is None

    def test_nothing_above_makes_no_factor(self) -> None:
        assert Layers(0, 10, 10, 10).factors()["file_system"] is None

    def test_an_unknown_application_has_no_factor_and_a_note(self) -> None:
        layers = Layers(None, 1000, 1000, 3000, unknown="stores are not counted")
        assert layers.factors() == {"file_system": None, "device": 1.0, "flash": 3.0}
        assert layers.whole() is None
        assert layers.notes() == [
            "the ratio of file system to application bytes is unknown: stores are not counted"
        ]
        assert not Layers(100, 1000, 1000, 1000).notes()


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "words"),
        [
            ({"manager": "wolf"}, "wolf needs hints on groups.* wolf-interval"),
            ({"manager": "oracle"}, "oracle needs hints on invalidation times.* single"),
            ({"manager": "nvme-fdp"}, "handles, which programs do not provide;.* with by=range$"),
            ({"device": "raid0:x25-m,x25-m"}, "a single flash drive"),
            ({"device": "spinpoint-m7"}, "a single flash drive"),
            ({"precondition": "workload"}, "are unknown"),
            ({"fs": "fat"}, "ext4, xfs, btrfs"),
            ({"fs": "ext4"}, "mount"),
            ({"time_scale": 0}, "from 1e-6 to 1e9"),
            ({"time_scale": 9e-7}, "from 1e-6 to 1e9"),
            ({"time_scale": 2e9}, "from 1e-6 to 1e9"),
            ({"socket": 3}, "path"),
        ],
    )
    def test_what_cannot_be_is_refused_before_anything_is_built(
        self, settings: dict[str, object], words: str
    ) -> None:
        with pytest.raises(WriteampError, match=words):
            wa.VirtualSsd(**settings)

    def test_an_unknown_one_is_no_argument(self) -> None:
        with pytest.raises(TypeError, match="colour"):
            wa.VirtualSsd(colour="red")

    def test_it_is_used_in_a_block(self) -> None:
        with pytest.raises(WriteampError, match="not open"):
            _ = wa.VirtualSsd(size="64MiB").uri
