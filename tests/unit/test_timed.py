"""Runs in virtual time: when they are, what they find, and that they find the same again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import writeamp as wa
from in_process import document, refusal, run
from page_traces import page_trace
from places import TRACE
from timed_runs import PROFILE, timed
from writeamp._engine import TIMED_CAUSES

# They keep the pins of a die high between two operations, so that an analyser sees both.
COMMANDS = tuple(f"bus.{name}_command_ns=20000" for name in ("read", "program", "erase"))
KEYS = {"mean", "p50", "p99", "p99_9", "p99_99", "max"}


@pytest.fixture
def profile(tmp_path: Path) -> str:
    path = tmp_path / "small.toml"
    path.write_text(PROFILE.replace("program_us = 900", "program_us = [300, 900]"))
    return str(path)


def without_clock(found: dict[str, Any]) -> dict[str, Any]:
    """Return what a run found without what the machine's clock says."""
    return {key: found[key] for key in found if key not in ("elapsed_s", "flash_ops_per_s")}


def test_a_run_that_only_reads_reports_what_was_refreshed(profile: str) -> None:
    found = timed(
        profile, "random:bs=4k,write=0,qd=8", time="500ms", set="refresh.reads_per_block=50"
    ).to_dict(series=True)
    assert found["wa"] is None
    assert found["host"]["read_bytes"] > 4096 * 1000
    assert found["causes"]["refresh"] == found["flash_pages"] > 0
    assert found["erases"] > 0
    assert found["series"]["wa"] == []


def test_requests_that_take_no_time_come_to_the_end_of_a_closed_loop(tmp_path: Path) -> None:
    path = tmp_path / "no-time.toml"
    shape = "[geometry]\nblocks_per_plane = 48\npages_per_block = 32\n"
    path.write_text(shape + "[management]\nop = 0.25")
    found = timed(str(path), "random:bs=4k,write=0,qd=2", time="2ms", warmup=0)
    assert found.virtual_time_s == pytest.approx(2e-3)
    assert found.iops["read"] == pytest.approx(2 * 1e6, rel=1e-3)
    assert found.latency_us["read"]["max"] == 0


def test_a_timed_document_has_the_keys_of_an_untimed_one_and_those_of_time(profile: str) -> None:
    found = document(
        "simulate", f"--device {profile} --workload random:bs=4k,write=0.3,qd=8 --time 200ms"
    )
    untimed = document("simulate", "--blocks 64 --pages-per-block 32 --writes 5000")
    only_untimed = {"theory", "wa_of_replicas", "held_pages", "host_pages_per_s"}
    assert set(untimed) - set(found) == only_untimed
    assert found["timed"] is True
    assert set(found["latency_us"]["read"]) == set(found["latency_us"]["write"]) == KEYS
    for name in ("bandwidth_mb_s", "iops"):
        rates = found[name]
        assert rates["all"] == pytest.approx(rates["read"] + rates["write"])
        assert rates["write"] / rates["all"] == pytest.approx(0.3, abs=0.05)
    assert set(found["causes"]) == set(TIMED_CAUSES)
    assert found["flash_pages"] == sum(found["causes"].values())
    assert found["wa"] == pytest.approx(found["flash_pages"] / found["host_pages"])
    assert {"channel", "die"} <= set(found["utilization"])
    assert all(0 <= share <= 1 for share in found["utilization"].values())
    assert found["measured_from_s"] == pytest.approx(0.02, abs=1e-3)
    assert found["virtual_time_s"] >= 0.2
    assert found["used_share"] == 1.0


def test_a_run_without_writes_succeeds_and_has_no_wa(profile: str) -> None:
    found = document(
        "simulate", f"--device {profile} --workload sequential:bs=16k,write=0 --time 50ms"
    )
    assert found["wa"] is found["wa_ci95"] is found["latency_us"]["write"] is None
    assert found["bandwidth_mb_s"]["write"] == found["iops"]["write"] == 0
    assert found["host_pages"] == found["program_operations"] == 0
    assert found["read_operations"] > 0
    assert not found["warnings"]


@pytest.mark.parametrize(
    ("arguments", "is_timed"),
    [
        ("--workload uniform --writes 3000", False),
        ("--workload uniform --writes 3000 --timed", True),
        ("--workload uniform --time 10ms", True),
        ("--workload random:bs=4k --writes 3000", False),
        ("--workload random:bs=4k,qd=2 --writes 3000", True),
        ("--workload sequential:bs=4k,rate=1000 --writes 300", True),
        ("--workload io:write=0.5 --writes 3000", False),
        ("--workload sequential --writes 3000", False),
        ("--workload uniform --host-bytes 16MiB", False),
        (f"--trace {TRACE} --no-spread --writes 3000 --op 0.2", False),
    ],
)
def test_a_run_is_timed_if_time_is_asked_for_or_the_load_is_paced(
    arguments: str, is_timed: bool
) -> None:
    shape = "" if "--trace" in arguments else "--blocks 64 --pages-per-block 32"
    found = document("simulate", f"{shape} {arguments}")
    assert ("latency_us" in found) == is_timed


def test_a_trace_is_timed_on_a_device_that_is_by_default(profile: str) -> None:
    pages = page_trace(range(100), every_ns=1_000_000)
    found = wa.simulate(profile, trace=pages)
    assert isinstance(found, wa.TimedResult)
    # It plays at its own times, and to its end.
    assert found.virtual_time_s == pytest.approx(0.099, abs=2e-3)
    assert found.writes == 100
    assert wa.simulate(profile, trace=pages, time=0.05).writes == 50


def test_a_timed_trace_keeps_reads_of_what_it_never_writes(profile: str, tmp_path: Path) -> None:
    path = tmp_path / "reads.csv"
    rows = [f"{10_000 * at},host,0,Read,{4096 * 7 * at},4096,0" for at in range(50)]
    path.write_text("\n".join([*rows, f"500000,host,0,Write,{4096 * 8},4096,0"]) + "\n")
    found = document("simulate", f"--device {profile} --trace {path} --format msr --warmup 0")
    assert (found["host"]["read_pages"], found["host"]["written_pages"]) == (50, 1)


def test_times_of_an_open_loop_are_scaled(profile: str) -> None:
    pages = page_trace(range(100), every_ns=1_000_000)
    slow, fast = (wa.simulate(profile, trace=pages, time_scale=scale) for scale in (2.0, 0.5))
    assert isinstance(slow, wa.TimedResult)
    assert isinstance(fast, wa.TimedResult)
    assert slow.iops["write"] * 4 == pytest.approx(fast.iops["write"], rel=0.02)


def test_one_read_takes_what_its_steps_take(profile: str) -> None:
    found = timed(profile, "random:bs=4k,write=0,qd=1", time="20ms")
    assert found.latency_us["read"] == dict.fromkeys(KEYS, 50.0)
    # One request at a time: throughput is the reciprocal of the time that one takes.
    assert found.iops["read"] == pytest.approx(20_000, rel=1e-3)
    # And one of four dies is busy all the time.
    assert found.utilization["die"] == pytest.approx(0.25, rel=1e-3)


@pytest.mark.parametrize("queue_depth", [1, 4, 16])
def test_outstanding_requests_are_throughput_times_latency(profile: str, queue_depth: int) -> None:
    found = timed(profile, f"random:bs=4k,write=0.3,qd={queue_depth}", time=1.0)
    both = (found.reads, found.writes_served)
    held = sum(one.requests * (one.mean_us or 0) for one in both) / 1e6 / found.measured_s
    assert held == pytest.approx(queue_depth, rel=0.02)


def test_a_seed_makes_one_result(profile: str) -> None:
    asked = {"workload": "random:bs=4k,write=0.5,qd=4", "time": 0.2}
    first, again, other = (
        without_clock(wa.simulate(profile, **asked, seed=seed).to_dict(series=True))
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first["latency_us"] != other["latency_us"]


def test_host_bytes_end_a_run_and_count_from_the_fill(profile: str) -> None:
    found = timed(profile, "random:bs=4k,qd=8", host_bytes="8MiB")
    assert found.host["written_bytes"] == 8 * 2**20
    assert (found.warmup_pages, found.measured_from_s) == (0, 0.0)
    capture = found.capture
    assert capture.host_bytes == 8 * 2**20
    assert capture.wa == pytest.approx(found.wa)
    assert capture.flash_bytes == capture.programs * capture.pages_per_program * 4096


def test_writes_end_a_timed_run_too(profile: str) -> None:
    assert timed(profile, "random:bs=4k,qd=2", writes=500).host["written_bytes"] == 500 * 4096


def test_an_untimed_run_of_host_bytes_writes_their_pages() -> None:
    drive = {"blocks": 64, "pages_per_block": 32, "host_bytes": "20MiB"}
    found = wa.simulate(workload="uniform", **drive)
    assert isinstance(found, wa.Result)
    assert found.writes == 5120
    in_part = wa.simulate(workload="random:bs=1k,write=1", warmup=0, **drive)
    assert in_part.host["written_bytes"] == pytest.approx(20 << 20, rel=0.01)
    assert in_part.host["written_pages"] > 3 * 5120


def edges_of(path: Path) -> dict[str, list[tuple[int, int]]]:
    """Return the edges of each wire of a VCD of single changes: times in ticks, and levels."""
    names, edges, now = {}, {}, 0
    for line in path.read_text().splitlines():
        if found := re.match(r"\$var wire 1 (\S+) (\S+) \$end", line):
            names[found[1]] = found[2]
            edges[found[2]] = []
        elif line.startswith("#"):
            now = int(line[1:])
        elif line[:1] in ("0", "1") and line[1:] in names:
            edges[names[line[1:]]].append((now, int(line[0])))
    return edges


def test_the_pins_are_low_while_their_dies_are_busy(profile: str, tmp_path: Path) -> None:
    path = tmp_path / "rb.vcd"
    found = timed(profile, "random:bs=4k,write=1,qd=8", host_bytes="8MiB", rb_capture=path)
    edges = edges_of(path)
    assert list(edges) == [
        f"rb_ch{channel}_chip{chip}_die0" for chip in range(2) for channel in range(2)
    ]
    capture = found.capture
    assert sum(map(len, edges.values())) == (capture.edges or 0) + len(edges)
    low_ns: list[int] = []
    for pin in edges.values():
        assert pin[0] == (0, 1)
        assert [level for _, level in pin] == [(at + 1) % 2 for at in range(len(pin))]
        low_ns += [up - down for (down, _), (up, _) in zip(pin[1::2], pin[2::2], strict=True)]
    operations = {ns: low_ns.count(ns) for ns in set(low_ns)}
    assert set(operations) <= {50_000, 300_000, 900_000, 2_000_000}
    assert operations[300_000] + operations[900_000] == capture.programs
    assert operations[2_000_000] == capture.erases
    assert operations.get(50_000, 0) == capture.reads
    header = path.read_text().split("$enddefinitions")[0]
    for word in ("small", f"host_bytes {8 * 2**20}", f"writeamp {wa.__version__} seed 1", "1 ns"):
        assert word in header


def test_an_analyser_samples_the_pins_at_its_rate(profile: str, tmp_path: Path) -> None:
    path = tmp_path / "rb.vcd"
    asked = {"host_bytes": "4MiB", "rb_capture": path, "seed": 3, "set": COMMANDS}
    exact = timed(profile, "random:bs=4k,qd=8", **asked)
    sampled = timed(profile, "random:bs=4k,qd=8", **asked, rb_rate="1MHz", rb_missed=0.25)
    assert "$timescale 1 us" in path.read_text()
    # What is captured changes nothing of what is found.
    assert sampled.latency_us == exact.latency_us
    assert sampled.capture.edges == pytest.approx(0.75 * (exact.capture.edges or 0), rel=0.05)


def test_measuring_the_capture_finds_the_wa_of_the_run(profile: str, tmp_path: Path) -> None:
    path = tmp_path / "rb.vcd"
    asked = f"--device {profile} --workload random:bs=4k --host-bytes 24MiB --rb-capture {path}"
    found = document("simulate", " ".join([asked, *(f"--set {one}" for one in COMMANDS)]))
    measured = document("measure rb", f"{path} --device {profile} --host-bytes 24MiB")
    assert measured["programs"] == pytest.approx(found["capture"]["programs"], rel=1e-3)
    assert measured["wa"] == pytest.approx(found["wa"], rel=1e-3)


def test_the_series_adds_up_to_the_run(profile: str) -> None:
    found = timed(profile, "random:bs=4k,write=0.5,qd=4", time=0.5, warmup=0)
    document = json.loads(json.dumps(found.to_dict(series=True)))
    rows, time_rows = document["series"], document["time_series"]
    assert rows["host_pages"][-1] == found.writes
    assert sum(rows["gc_programs"]) == found.causes["gc"]
    assert rows["time_s"] == sorted(rows["time_s"])
    span_s = time_rows["time_s"][0]
    moved = sum(map(sum, (time_rows["read_mb_s"], time_rows["write_mb_s"]))) * span_s
    assert moved == pytest.approx((found.reads.bytes + found.writes_served.bytes) / 1e6)


@pytest.mark.parametrize("suffix", ["png", "html"])
def test_the_picture_shows_latencies_and_what_happened_when(
    profile: str, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"latency.{suffix}"
    arguments = f"--device {profile} --workload random:bs=4k,write=0.3,qd=8 --time 100ms"
    assert run("simulate", f"{arguments} --plot {path}").status == 0
    assert path.stat().st_size > 10_000
    panels = timed(profile, "random:bs=4k,write=0.3,qd=8", time=0.1).figure().panels
    assert panels[0].title == "Latency"
    assert panels[0].x_label == "latency (ms)"
    shares = [share for line in panels[0].lines for share in line.y]
    assert 0 < min(shares) <= max(shares) <= 1
    only_reads = timed(profile, "random:bs=4k,write=0,qd=8", time=0.1).figure().panels
    assert [panel.title for panel in panels if panel not in only_reads][-1].startswith("Write")


def test_points_over_virtual_time_do_not_jump_within_a_collection(profile: str) -> None:
    result = timed(profile, "random:bs=4k,write=1,qd=4", writes=20_000)
    drawn = result.beside()["over_time"]
    series = result.series.filter(pl.col("time_s") > drawn["warmup"])["wa"].to_numpy()
    points = np.array(drawn["wa"])[np.array(drawn["x"]) > drawn["warmup"]]
    spread, raw = (float(np.std(wa) / np.mean(wa)) for wa in (points, series))
    assert points.size > 50
    assert spread < 0.1
    assert raw > 0.3
    # Their mean is WA of the same interval.
    assert np.mean(points) == pytest.approx(result.wa, rel=0.03)


def test_the_table_names_latencies_and_causes(profile: str) -> None:
    out = run(
        "simulate", f"--device {profile} --workload random:bs=4k,write=0.5,qd=4 --time 100ms"
    ).out
    for word in ("p99.99", "IOPS", "busy: die", "programmed: host", "write amplification"):
        assert word in out
    # Causes of no page are left out; the document has them.
    assert "refresh" not in out


def test_the_mapping_table_on_flash_is_programmed_too(profile: str) -> None:
    found = timed(profile, "random:bs=4k,qd=4", time=0.5, map_cache="4k")
    assert found.causes["mapping"] > 0
    assert found.flash_pages == sum(found.causes.values())
    # The host sees as much as without.
    assert found.device.capacity_bytes == wa.device(profile).capacity_bytes


def test_an_experiment_file_keeps_what_is_timed(profile: str, tmp_path: Path) -> None:
    asked = wa.Experiment.of(
        "simulate", device=profile, workload="random:bs=4k,qd=2", time="500ms", rb_rate=None
    )
    path = tmp_path / "timed.toml"
    asked.to_toml(path)
    again = wa.Experiment.from_toml(path)
    assert again.is_timed
    assert again.run == asked.run
    assert again.hash == asked.hash
    assert again.hash != asked.with_settings(time="1s").hash
    assert again.hash == asked.with_settings(rb_capture=str(tmp_path / "rb.vcd")).hash


def test_an_array_serves_what_its_members_serve_together(profile: str) -> None:
    workload = "random:bs=4k,write=0,qd=16"
    one = timed(profile, workload, time=0.1)
    two = timed(f"raid0:{profile},{profile}", workload, time=0.1)
    assert two.iops["read"] > 1.3 * one.iops["read"]
    assert two.device.dies == 8
    written = timed(f"raid0:{profile},{profile}", "random:bs=4k,qd=16", host_bytes="4MiB")
    assert written.host["written_bytes"] == 4 * 2**20
    assert written.host_pages == 1024
    assert written.wa >= 1


def test_a_disk_has_latencies_and_no_wa() -> None:
    found = document(
        "simulate", "--device spinpoint-m7 --workload sequential:bs=128k,write=0 --time 2s"
    )
    assert found["wa"] is found["causes"] is found["host_pages"] is None
    assert 50 < found["bandwidth_mb_s"]["read"] < 150
    assert found["kind"] == "disk"


def test_a_host_whose_first_write_comes_late_is_judged_from_there_on() -> None:
    load = "io:write=0.75,qd=16,write_size=65536,write_random=0.0,write_stride=131072"
    load += ",read_size=4096,read_random=0.0,read_stride=1024"
    found = wa.simulate(device="x25-m", workload=load, time="0.6s")
    assert 0.99 < found.wa <= 1
    assert (found.series["host_pages"].diff().drop_nulls() > 0).all()


UNTIMED = "--blocks 96 --pages-per-block 32 --op 0.25 --writes 5000 --warmup 0"
LOADS = {
    "groups": "hot-cold:f=0.1,r=0.9",
    "phases": "phases:writes=1500/1e3,of=uniform/hot-cold(f=0.1,r=0.9)",
}


def counts(found: dict[str, Any]) -> tuple[int, ...]:
    causes = found["causes"]
    return (found["host_pages"], causes["host"], causes["gc"], found["erases"])


@pytest.mark.parametrize("load", ["groups", "phases"])
@pytest.mark.parametrize(
    "manager", ["hcwf", "hcwf-swap", "wolf", "fdp-frequency", "nvme-fdp", "oracle:streams=4"]
)
def test_without_durations_hinted_managers_do_what_they_do_untimed(manager: str, load: str) -> None:
    asked = f"{UNTIMED} --manager {manager} --workload {LOADS[load]}"
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
    assert "wolf needs hints on the group of each page, but this workload provides none" in said


def test_an_array_refuses_managers_that_need_hints_and_names_those_that_need_none() -> None:
    asked = "--device raid0:x25-m,x25-m --size 64MiB --workload hot-cold:f=0.1,r=0.9 --time 1ms"
    for manager, hints in (("wolf", "groups"), ("oracle:streams=4", "invalidation times")):
        said = refusal("simulate", f"{asked} --manager {manager}")
        assert (
            f"{manager} needs hints on {hints}, which an array does not pass to its members" in said
        )
        assert "block managers without hints: single, sepgc" in said
