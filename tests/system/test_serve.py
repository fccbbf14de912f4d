"""`writeamp serve`: real programs write to a drive, and it tells of the work of its flash."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

import in_process
import served
from served import FIO, PLUGIN, SMALL, ended, left_behind, missing, needs, refused, serve, start
from writeamp.machine import programs
from writeamp.reports.headlines.headline import headline


@needs("nbdcopy", "fio")
class TestCaptive:
    def test_a_command_finds_the_drive_and_ends_it(self, folder: Path) -> None:
        (folder / "image").write_bytes(os.urandom(1 << 20))
        done = serve(f"{SMALL} --json", folder, run='nbdcopy image "$uri"; test -S "$unixsocket"')
        assert done.status == 0, done.err
        found = done.document
        assert found["run_exit_status"] == 0
        assert found["host_bytes"] == found["flash_bytes"] == 1 << 20
        assert (found["wa"], found["causes"]["gc"], found["erases"]) == (1.0, 0, 0)
        assert found["layers"] is None
        assert left_behind(folder) == []

    def test_data_come_back_as_they_were_written(self, folder: Path) -> None:
        (folder / "image").write_bytes(os.urandom(1 << 20))
        copy = "nbdcopy image $uri; nbdcopy $uri back; cmp -n 1048576 image back"
        assert serve(SMALL, folder, run=copy).status == 0

    def test_random_writes_are_amplified_by_collection(self, folder: Path) -> None:
        done = serve(f"{SMALL} --json", folder, run=FIO.format(size="400M"))
        found = done.document
        assert found["wa"] == pytest.approx(found["flash_bytes"] / found["host_bytes"])
        assert found["causes"]["gc"] > 0
        assert found["wa"] > 1.2
        assert found["findings"] == []
        assert found["max_erase_count"] > 1

    def test_mistakes_of_a_job_are_told_before_it_runs(self, folder: Path) -> None:
        looped = "fio --name=w --ioengine=nbd --uri=$uri --rw=randwrite --size=4M --loops=3"
        done = serve(f"{SMALL} --json", folder, run=f"{looped} --output=out.txt")
        assert [one["id"] for one in done.document["findings"]] == ["looped-permutation"]
        assert "warning: looped-permutation" in done.err

    @pytest.mark.parametrize("as_json", [True, False], ids=["document", "table"])
    def test_the_output_of_the_command_does_not_come_into_a_document(
        self, folder: Path, as_json: bool
    ) -> None:
        words = [*SMALL.split(), "--run", "echo hello", *["--json"] * as_json]
        done = ended(start(words, folder))
        if as_json:
            json.loads(done.out)
            assert "hello" in done.err
        else:
            assert done.out.startswith("hello\n")
            assert "none: the host wrote nothing" in done.out

    def test_a_command_that_fails_is_told_by_the_status(self, folder: Path) -> None:
        done = serve(f"{SMALL} --max-wa 1 --json", folder, run="exit 7")
        assert (done.status, done.document["run_exit_status"]) == (1, 7)
        assert "status 7" in done.err

    @pytest.mark.parametrize(
        ("given", "megabytes", "status", "sentence"),
        [
            # Preconditioned by default: WA of the first write is that of an aged drive.
            ("--max-wa 1.5", "60M", 3, r"WA \d.\d+ \(95% CI .*\), .*, is above --max-wa 1.5"),
            ("--max-wa 9", "60M", 0, r"WA \d.\d+ \(95% CI .*\), steady.*, is below --max-wa 9"),
            ("--max-wa 9 --precondition random:2", "500k", 3, "blocks were erased, and 10 are"),
            (
                "--max-wa 9 --precondition none",
                "10M",
                3,
                r"WA 1 cannot be .* --max-wa 9: nothing was collected in this run; write more \(a "
                r"longer --run\), or use a smaller drive \(--size\), or leave out --precondition",
            ),
            ("--max-wa 9 --precondition none", "100M", 3, r"WA is not steady \(too short: .*\)"),
        ],
    )
    def test_a_limit_of_wa_has_a_status_of_its_own(
        self, folder: Path, given: str, megabytes: str, status: int, sentence: str
    ) -> None:
        done = serve(f"{SMALL} {given} --json", folder, run=FIO.format(size=megabytes))
        assert done.status == status
        limit = done.document["limit"]
        assert re.search(sentence, limit["sentence"])
        assert (f"writeamp: {limit['sentence']}" in done.err.splitlines()) == (status == 3)
        assert limit["sentence"] in headline(done.document)
        assert (limit["holds"] is True) == (status == 0)
        expected = given.partition("--precondition ")[2] or "random"
        assert done.document["precondition"] == expected

    def test_a_limit_judges_nothing_where_nothing_was_written(self, folder: Path) -> None:
        done = serve(f"{SMALL} --max-wa 2 --precondition full", folder, run="true")
        assert done.status == 3
        sentence = "he host wrote nothing, so WA cannot be compared with --max-wa"
        assert done.out.startswith(f"T{sentence}")
        assert sentence not in done.err

    @pytest.mark.parametrize(
        ("given", "broken"),
        [
            ("--max-host-bytes 8MiB --max-flash-bytes 100MiB", ""),
            ("--max-host-bytes 1MiB", "the host wrote 8 MiB, above --max-host-bytes 1 MiB"),
            ("--max-flash-bytes 9MiB", r"the flash wrote \S+ MiB, above --max-flash-bytes 9 MiB"),
            (
                "--max-tb-year 0.01 --min-years 1e4 --rated-tbw 600 --repeat-every 1h",
                "the host writes 0.0735 TB a year, above --max-tb-year 0.01; at 0.0735 TB a year, "
                r"the rated 600 TB last 8\S+ years, below --min-years 10,000",
            ),
        ],
    )
    def test_a_broken_budget_of_writes_has_the_status_of_a_limit(
        self, folder: Path, given: str, broken: str
    ) -> None:
        done = serve(f"{SMALL} {given} --json", folder, run=FIO.format(size="8M"))
        assert done.status == (3 if broken else 0)
        budgets = done.document["budgets"]
        assert all(budget["sentence"][1:] in headline(done.document) for budget in budgets)
        assert {budget["holds"] for budget in budgets} == {not broken}
        if broken:
            assert re.search(rf"^writeamp: {broken}$", done.err, re.MULTILINE)
        needs_flash = "--max-flash-bytes" in given
        assert done.document["precondition"] == ("random" if needs_flash else "none")

    def test_a_run_is_compared_with_the_baseline_that_the_first_run_writes(
        self, folder: Path
    ) -> None:
        given = f"{SMALL} --baseline base.json --json"
        first = serve(given, folder, run=FIO.format(size="8M"))
        assert (first.status, first.document["budgets"]) == (0, [])
        assert "base.json is written" in first.err
        assert serve(given, folder, run=FIO.format(size="8M")).status == 0
        more = serve(given, folder, run=FIO.format(size="16M"))
        assert more.status == 3
        assert "the host wrote 16 MiB, +100.00% against base.json, more than --to" in more.err
        assert serve(f"{given} --tolerance 200%", folder, run=FIO.format(size="16M")).status == 0
        other = serve(f"{given} --op 0.5", folder, run=FIO.format(size="8M"))
        assert other.status == 2
        assert "base.json was measured with other settings (" in other.err
        # The run is not lost.
        assert other.document["host_bytes"] == 8 << 20

    def test_writes_smaller_than_a_page_are_read_modified_and_written(self, folder: Path) -> None:
        (folder / "image").write_bytes(os.urandom(1 << 20))
        small = FIO.format(size="1M").replace("bs=4k", "bs=512").replace("randwrite", "write")
        done = serve(f"{SMALL} --json", folder, run=f"nbdcopy image $uri && {small}")
        found = done.document
        assert found["host_bytes"] == 2 << 20
        assert found["read_modify_write_pages"] == 2048
        assert found["wa_bytes"] == pytest.approx(found["wa"] * found["partial_page_factor"])
        assert found["partial_page_factor"] == pytest.approx((256 + 2048) * 4096 / (2 << 20))

    def test_an_aged_drive_collects_from_the_first_write_on(self, folder: Path) -> None:
        arguments = f"{SMALL} --precondition random:2 --json"
        found = serve(arguments, folder, run=FIO.format(size="8M")).document
        assert found["preconditioning"]["host_pages"] == 2 * found["logical_pages"]
        assert found["wa"] > 1.5
        assert found["host_bytes"] == 8 << 20

    def test_a_timed_drive_tells_latencies(self, folder: Path) -> None:
        found = serve(f"{SMALL} --timed --json", folder, run=FIO.format(size="2M")).document
        latency = found["latency_us"]
        assert latency["read"] is None
        assert 0 < latency["write"]["p50"] <= latency["write"]["p99"] <= latency["write"]["max"]
        assert sum(found["causes"].values()) == found["flash_pages"]

    def test_pages_in_an_slc_cache_hold_data(self, folder: Path) -> None:
        (folder / "image").write_bytes(os.urandom(320 * 4096))
        top = f"{sys.executable} -m writeamp top --once"
        arguments = "--device tlc-client --size 64MiB --timed --counters logs --json"
        # Half of it is trimmed at the end.
        trim = "fio --name=t --ioengine=nbd --uri=$uri --rw=trim --bs=640k --size=640k"
        command = f"nbdcopy image $uri; {top} $unixsocket --json > top.json; {trim} >&2"
        found = serve(arguments, folder, run=command).document
        counters = json.loads((folder / "top.json").read_text())["counters"]
        assert found["causes"]["slc"] >= 320
        # Where the machine is slow, the cache is folded in pauses.
        assert counters["slc"]["valid_pages"] + counters["programs"]["folding"] == 320
        assert (counters["mapped_pages"], counters["logical_pages"]) == (320, 16384)
        ocp = json.loads((folder / "logs" / "ocp.json").read_text())
        assert ocp["nuse_namespace_utilization"] == 160 * 4096 // 512

    def test_a_capture_of_the_pins_measures_what_the_drive_counts(self, folder: Path) -> None:
        arguments = f"{SMALL} --rb-capture rb.vcd --precondition full --json"
        found = serve(arguments, folder, run=FIO.format(size="4M")).document
        measured = f"{folder}/rb.vcd --device ssd-v --dies 4 --host-bytes 4MiB"
        capture = in_process.document("measure rb", measured)
        # Reads, programs and erases overlap in time, and are told apart by it alone.
        assert capture["wa"] == pytest.approx(found["wa"], rel=0.05)
        assert sorted(one.name for one in folder.iterdir()) == ["fio.txt", "rb.vcd", "t"]

    def test_figures_are_drawn(self, folder: Path) -> None:
        done = serve(f"{SMALL} --plot wa.svg", folder, run=FIO.format(size="40M"))
        assert done.status == 0
        assert "write amplification" in (folder / "wa.svg").read_text()

    def test_counters_of_drives_are_kept_in_a_folder(self, folder: Path) -> None:
        (folder / "image").write_bytes(os.urandom(1 << 20))
        assert serve(f"{SMALL} --counters logs", folder, run="nbdcopy image $uri").status == 0
        smart = json.loads((folder / "logs" / "smart.json").read_text())
        assert smart["data_units_written"] == 3  # of 512,000 bytes

    def test_a_daemon_of_the_command_ends_with_it(self, folder: Path) -> None:
        done = serve(SMALL, folder, run=f"setsid sh -c 'sleep 600; : {folder}' & true")
        assert done.status == 0
        assert left_behind(folder) == []


@needs("fio")
def test_a_recording_replays_to_the_same_counts(folder: Path) -> None:
    load = FIO.format(size="200M").replace("randwrite", "randtrimwrite")
    mixed = FIO.format(size="8M").replace("bs=4k", "bs=512")
    arguments = f"{SMALL} --manager sepgc --record t.parquet --json"
    served = serve(arguments, folder, run=f"{load}; {mixed}")
    assert served.status == 0, served.err
    replayed = in_process.document("simulate", f"--trace {folder}/t.parquet")
    for key in ("host_pages", "causes", "erases", "flash_pages"):
        assert replayed[key] == served.document[key], key
    assert sorted(one.name for one in folder.iterdir()) == ["fio.txt", "t", "t.parquet"]


class TestRefused:
    @pytest.mark.skipif(not PLUGIN.exists(), reason="needs the nbdkit plugin")
    def test_without_nbdkit_the_package_is_named(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(programs, "_SYSTEM_FOLDERS", "")
        monkeypatch.setattr(served, "PATH", str(folder))
        refused(SMALL, folder, "nbdkit is not installed. Install the Debian package nbdkit")

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ("--precondition aged:none.csv", ["none.csv"]),
            ("--plot wa.txt", ["wa.txt", "png"]),
            ("--record t.svg --plot t.svg", ["the same file"]),
            ("--record t.csv", ["t.csv", ".parquet"]),
            ("--record none/t.parquet", ["none/t.parquet"]),
            ("--metrics 8.8.8.8:80", ["8.8.8.8"]),
            ("--count-from mkfs", ["--count-from", "start", "command"]),
        ],
    )
    def test_bad_options_are_one_sentence(
        self, folder: Path, arguments: str, words: list[str]
    ) -> None:
        if missing() and ("record" in arguments or "metrics" in arguments):
            pytest.skip(f"needs {', '.join(missing())}")
        refused(f"{SMALL} {arguments}", folder, *words)

    @needs()
    @pytest.mark.parametrize("name", ["drive.wa", "drive.wa.flash", "drive.wa.journal-1", "link"])
    def test_no_recording_replaces_the_drive_that_is_kept(self, folder: Path, name: str) -> None:
        (folder / "link").symlink_to("drive.wa")
        words = f"{name} would replace a file of the drive in drive.wa"
        refused(f"{SMALL} --backing drive.wa --record {name}", folder, words)
        assert sorted(one.name for one in folder.iterdir()) == ["link", "t"]

    def test_no_figure_replaces_it_either(self, folder: Path) -> None:
        words = "wa.svg would replace a file of the drive"
        refused(f"{SMALL} --backing wa.svg --plot wa.svg", folder, words)

    @pytest.mark.parametrize("command", ["", " "])
    def test_an_empty_command_is_refused(self, folder: Path, command: str) -> None:
        refused(SMALL, folder, "--run is empty", run=command)


@needs("nbdcopy")
class TestCompare:
    def test_two_commands_run_in_turn_on_equal_drives(self, folder: Path) -> None:
        (folder / "small").write_bytes(os.urandom(1 << 20))
        (folder / "large").write_bytes(os.urandom(3 << 20))
        report = folder / "both.html"
        commands = [f"echo {name} >> order; nbdcopy {name} $uri" for name in ("small", "large")]
        quoted = " ".join(map(shlex.quote, commands))
        arguments = f"{SMALL} --precondition random:1 --seed 5 --compare {quoted}"
        done = serve(f"{arguments} --report {report}", folder)
        assert done.status == 0, done.err
        order = ["small", "large", "large", "small", "small", "large"]
        assert (folder / "order").read_text().split() == order
        assert done.out.startswith("B writes ")
        assert done.out.split(" Settings")[0].replace("\n", " ") in report.read_text()
        found = serve(f"{arguments} --json --replicas 2", folder).document
        firsts, lasts = (found["results"][side] for side in "ab")
        for key in ("seed", "preconditioning"):
            assert [one[key] for one in firsts] == [one[key] for one in lasts]
        assert firsts[0]["seed"] == 5 != firsts[1]["seed"]
        by_key = {one["key"]: one for one in found["numbers"]}
        assert by_key["host_bytes"]["relative"] == 2
        assert list(by_key)[:3] == ["flash_bytes", "wa", "host_bytes"]
        flash = [sum(one["flash_bytes"] for one in side) / 2 for side in (firsts, lasts)]
        assert [by_key["flash_bytes"][side] for side in "ab"] == flash
        assert by_key["flash_bytes"]["difference_ci95"] is not None
        assert left_behind(folder) == []

    def test_a_command_that_fails_is_named(self, folder: Path) -> None:
        done = serve(f"{SMALL} --precondition none --replicas 1 --compare true 'exit 7'", folder)
        assert (done.status, done.out) == (1, "")
        assert "command B failed with status 7 in replica 1" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--compare true ' '", "command B is empty"),
        ("--compare true false --run true", "--compare and --run exclude each other"),
        ("--compare true false --max-wa 2", "--compare and --max-wa exclude each other"),
        ("--compare true false --max-host-bytes 2", "--compare and --max-host-bytes exclude"),
        ("--max-tb-year 2", "--max-tb-year needs --repeat-every: how often the command runs"),
        ("--min-years 2 --repeat-every 1h", "--min-years needs --rated-tbw: TB that the host"),
        ("--repeat-every 1h", "--repeat-every belongs to a budget per year; give --max-tb-year"),
        ("--tolerance 0.1", "--tolerance belongs to --baseline; give that, too"),
        ("--compare true false --plot a.svg", "--compare and --plot exclude each other"),
        ("--compare true false --backing drive.wa", "--backing is for one drive"),
        ("--compare true false --replicas 0", "replicas is 0; it must be"),
    ],
)
def test_what_two_commands_cannot_have_is_refused(folder: Path, arguments: str, words: str) -> None:
    done = serve(f"{SMALL} {arguments}", folder)
    assert (done.status, done.out) == (2, "")
    assert words in done.err


class TestHelp:
    def test_its_example_survives_pasting(self, folder: Path) -> None:
        lines = serve("--help", folder).out.split("Example: ")[1].splitlines()
        pasted = "\n".join(lines[: next(i for i, line in enumerate(lines) if not line.strip())])
        assert shlex.split(pasted)[:4] == ["writeamp", "serve", "--device", "ssd-v"]
        assert shlex.split(pasted)[-2:] == ["--run", "nbdcopy /bin/sh $uri"]

    def test_it_offers_only_managers_that_need_no_hints(self, folder: Path) -> None:
        told = serve("--help", folder).out
        assert "sepbit" in told
        assert not any(name in told for name in ("oracle", "nvme-fdp"))
