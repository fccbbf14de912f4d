"""Deviations from a profile: size, caches, single values; and arrays of profiles."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

import writeamp as wa
from in_process import document, refusal, run
from places import TRACE
from refusals import refused_with
from writeamp.devices.profile import profile, profile_names
from writeamp.devices.size import _effect
from writeamp.text import Caution

FLASH = [name for name in profile_names() if wa.device(name).kind == "flash"]
SIZES = [24 * 2**20, 200 * 2**20, 2**30, 10 * 2**30, 100 * 10**9]
GIB = 2**30
RUN = {"writes": 5_000, "warmup": 2_000, "replicas": 1}


@pytest.mark.parametrize("name", FLASH)
@pytest.mark.parametrize("size", SIZES)
def test_a_host_sees_the_size_it_asks_for_at_the_op_of_the_profile(name: str, size: int) -> None:
    found, full = wa.device(name, size=size), profile(name)
    assert 0 <= size - found.capacity_bytes < found.page_bytes
    assert full.op is not None
    # A block of a small drive holds a few programs, of which one more or less is all there is.
    assert found.op == pytest.approx(full.op, rel=0.02 if size > GIB else 0.08)
    assert found.pages_per_erase_unit % found.pages_per_program == 0
    assert found.geometry.blocks / found.geometry.luns >= 32
    assert (found.shrunk != ()) == (found.geometry.blocks != full.shape.geometry.blocks)
    # Dies are left out only if 64 blocks of 64 pages in each of one die more do not fit.
    dies = 1 if found.erase_unit == "superblock" else found.dies
    assert found.dies == 1 or found.geometry.blocks / dies >= 63
    if found.dies < full.shape.dies:
        program = full.shape.pages_per_program
        least = max(128, min(64 + program, full.shape.pages_per_erase_unit))
        assert found.physical_pages < 128 * least * full.shape.dies
        assert isinstance(found.shrunk[0], Caution)


@pytest.mark.parametrize("name", FLASH)
def test_a_small_drive_of_any_profile_runs_timed_and_untimed(name: str) -> None:
    drive = wa.device(name, size="24MiB")
    assert wa.simulate(drive, "uniform", writes=5000, warmup=0, replicas=1).wa > 1
    if drive.times:
        load = f"random:bs={drive.page_bytes},write=1,qd=4"
        assert wa.simulate(drive, load, host_bytes="30MiB", timed=True).wa > 1


def test_a_drive_gives_up_blocks_first_then_pages_then_dies_then_channels() -> None:
    full, found = profile("tlc-datacenter").shape, {}
    for size in ("500GB", "40GiB", "1GiB", "256MiB", "24MiB"):
        drive = wa.device("tlc-datacenter", size=size)
        found[size] = (drive.channels, drive.dies_per_chip, drive.pages_per_block)
        assert drive.blocks_per_plane < full.blocks_per_plane
        assert drive.planes_per_die == full.planes_per_die
        assert drive.chips_per_channel == 1
    assert found == {
        "500GB": (8, 4, 4608),
        "40GiB": (8, 4, 1464),
        "1GiB": (8, 4, 36),
        "256MiB": (8, 1, 36),
        "24MiB": (1, 1, 24),
    }


def test_given_pages_per_block_are_kept_as_long_as_a_die_can_be_left_out() -> None:
    found = [
        wa.device("tlc-datacenter", size=size, pages_per_block=1152)
        for size in ("64GiB", "12GiB", "64MiB")
    ]
    changed = wa.device("tlc-datacenter", size="12GiB", set=["geometry.pages_per_block=1152"])
    assert [(drive.dies, drive.pages_per_block > 1000) for drive in (*found, changed)] == [
        (32, True),
        (24, True),
        (1, False),
        (24, True),
    ]


def test_what_shrank_is_said_in_words() -> None:
    first, *more = wa.device("qlc").shrunk
    assert first == (
        "qlc has 64 GiB instead of 13.98 TiB (set it with size): blocks per plane 1342 → 64, "
        "pages per block 1536 → 144, which lowers WA by less than 1% (greedy collection, uniform "
        "writes); erase times are shorter in proportion"
    )
    assert more == [
        "qlc has blocks of an SLC cache of 784.5 MiB instead of 184 GB, because the drive is "
        "smaller than its profile"
    ]
    op = wa.device("tlc-client").op
    assert f"op is {op:.4g} instead of 0.1, because tlc-client has whole blocks" in (
        wa.device("tlc-client").shrunk
    )


@pytest.mark.parametrize(
    ("name", "size", "sentence"),
    [
        ("tlc-client", "1GiB", None),
        (
            "tlc-client",
            "16MiB",
            "--size 16MiB leaves 1 die of 16: bandwidth and latency are not those of tlc-client; "
            "WA has 4.3 spare blocks",
        ),
        (
            "ssd-m",
            "64MiB",
            "--size 64MiB leaves 4 dies of 16: bandwidth and latency are not those of ssd-m; WA "
            "has 4.9 spare blocks per die",
        ),
        (
            "samsung-slc",
            "8MiB",
            "--size 8MiB leaves 3 spare blocks, so WA is not that of samsung-slc",
        ),
    ],
)
def test_dies_that_are_left_out_are_warned_of_once(
    name: str, size: str, sentence: str | None
) -> None:
    found = [each for each in wa.device(name, size=size).shrunk if isinstance(each, Caution)]
    assert found == ([] if sentence is None else [sentence])


@pytest.mark.parametrize("verb", ["simulate", "compare", "answer"])
def test_every_command_prints_that_warning(verb: str) -> None:
    given = "--device tlc-client --size 16MiB --workload uniform"
    runs = "--writes 2000 --replicas 1"
    if verb == "compare":
        runs += " --managers single"
    done = run(verb, f"{given} {runs}")
    assert done.status == 0
    assert done.err.count("writeamp: warning: --size 16MiB leaves 1 die of 16: ") == 1


def test_shorter_blocks_have_shorter_erases_unless_their_time_is_given() -> None:
    full, small = profile("tlc-client").shape, wa.device("tlc-client", size="1GiB")
    share = small.pages_per_block / full.pages_per_block
    assert share < 1 / 64
    for table in ("timing", "slc"):
        before, after = (drive.times[table]["erase_us"] for drive in (full, small))
        assert after == pytest.approx(before * share, rel=0.2)
    reads = small.times["refresh"]["reads_per_block"]
    assert reads == pytest.approx(1_000_000 * share, rel=0.2)
    kept = wa.device("tlc-client", size="1GiB", set=["timing.erase_us=5000"]).times
    assert kept["timing"]["erase_us"] == 5000
    assert wa.device("tlc-client", size="500GB").times["timing"]["erase_us"] == 5000


def test_the_stated_effect_of_shorter_blocks_is_that_of_simulations() -> None:
    short, long = (
        wa.simulate(
            wa.device(blocks=400, pages_per_block=pages, op=0.1),
            "uniform", writes=10**6, warmup=5 * 10**5, replicas=1,
        ).wa
        for pages in (48, 768)
    )  # fmt: skip
    drive = wa.device(blocks=400, pages_per_block=768, op=0.1)
    smaller = wa.device(blocks=400, pages_per_block=48, op=0.1)
    assert _effect(drive, smaller).startswith(", which lowers WA by about 10%")
    assert 1 - short / long == pytest.approx(0.10, abs=0.015)


def test_a_drive_can_be_larger_than_its_profile() -> None:
    found = wa.device("ssd-v", size="100GiB")
    assert found.capacity_bytes == 100 * GIB
    assert found.dies == 4
    assert "blocks per plane 2048 → 14629" in found.shrunk[0]
    with pytest.raises(wa.WriteampError, match="32-bit page number"):
        wa.device("ssd-v", size="16TiB")


def test_timed_profiles_above_64_gib_show_64_unless_a_size_is_given() -> None:
    assert wa.device("tlc-client").capacity_bytes == 64 * GIB
    assert wa.device("tlc-client", size="1TB").capacity_bytes == 10**12 // 4096 * 4096
    assert wa.device("tlc-client", blocks=800).geometry.blocks == 800
    assert wa.device("ssd-m").shrunk == ()
    assert wa.device("samsung-843tn").capacity_bytes > 200 * GIB


def test_a_size_that_is_no_drive_is_refused_with_the_least_there_is() -> None:
    with refused_with("size is 64 KiB; ", "at least 5.24 MiB"):
        wa.device("tlc-datacenter", size="64k")
    assert wa.device("tlc-datacenter", size=round(5.25 * 2**20)).pages_per_block == 12
    with pytest.raises(wa.WriteampError, match="size and blocks each set the size"):
        wa.device("ssd-v", size="1GiB", blocks=64)


def test_a_write_cache_keeps_its_size_up_to_an_eighth_of_the_drive() -> None:
    def cache(size: str) -> int:
        times = wa.device("ssd-m", size=size).times
        return int(times["write_cache"]["bytes"])

    assert cache("10GiB") == cache("1GiB") == 128 * 2**20
    assert cache("512MiB") == 64 * 2**20
    assert (
        "write cache of 64 MiB instead of 128 MiB" in wa.device("ssd-m", size="512MiB").shrunk[-1]
    )


def test_a_map_cache_keeps_its_share_of_the_table() -> None:
    half = wa.device("ssd-v", size="7GiB")
    assert half.times["map_cache"]["bytes"] == 16384
    assert "map cache of 16 KiB instead of 32 KiB" in half.shrunk[-1]
    larger = wa.device("ssd-v", size="28GiB").times
    assert larger["map_cache"]["bytes"] == 32768


@pytest.mark.parametrize(
    "change", ["write_cache.access_ns=999", "map_cache.segment_bytes=4096", "slc.watermark=0.5"]
)
def test_another_value_of_a_cache_leaves_it_the_size_that_suits_the_drive(change: str) -> None:
    plain, changed = (wa.device("tlc-client", size="16MiB", set=given) for given in ([], [change]))
    assert len(plain.shrunk) == 6
    assert changed.shrunk == plain.shrunk


def test_caches_that_are_asked_for_are_what_they_are() -> None:
    found = wa.device("ssd-v", write_cache="64k", map_cache="all", size="1GiB").times
    assert (found["write_cache"]["bytes"], found["map_cache"]["bytes"]) == (65536, 0)
    off = wa.device("ssd-v", write_cache="off", map_cache=2**20).times
    assert (off["write_cache"]["bytes"], off["map_cache"]["bytes"]) == (0, 2**20)
    whole = wa.device("ssd-m", write_cache="1GiB", size="2GiB").times
    assert whole["write_cache"]["bytes"] == 2**30


@pytest.mark.parametrize(
    "given",
    [
        ["timing.program_us=[300,1500]", "host.full_duplex=false", "timing.read_us=9"],
        {"timing.read_us": 9.0, "timing.program_us": [300, 1500], "host.full_duplex": False},
        ("timing.read_us=3", "timing.read_us = 9", "host.full_duplex=false",
         "timing.program_us=[300.0, 1_500]"),
    ],
)  # fmt: skip
def test_values_are_replaced_however_they_are_given(given: object) -> None:
    found = wa.device("ssd-i", set=given)  # type: ignore[arg-type]
    assert found.times["timing"]["program_us"] == [300, 1500]
    assert found.times["timing"]["read_us"] == 9
    assert found.times["host"]["full_duplex"] is False
    assert found.times["timing"]["erase_us"] == 3800
    expected = wa.device("ssd-i", set=["host.full_duplex=false", "timing.read_us=9",
                                       "timing.program_us=[300,1500]"])  # fmt: skip
    assert found == expected
    assert hash(found) == hash(expected)


def test_a_shape_is_replaced_too_and_keeps_the_op() -> None:
    found = wa.device("ssd-v", set=["geometry.channels=2", 'geometry.erase_unit="multi-plane"'])
    assert (found.channels, found.erase_unit) == (2, "multi-plane")
    assert found.op == pytest.approx(1 / 7)
    disk = wa.device("spinpoint-m7", set=["disk.capacity_bytes=1000000000", "disk.rpm=7200"])
    assert (disk.capacity_bytes, disk.logical_pages) == (10**9 // 512 * 512, 10**9 // 512)
    again = wa.device(disk, size="1GiB").times
    assert (again["disk"]["capacity_bytes"], again["disk"]["rpm"]) == (2**30, 7200)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"set": "timng.read_us=3"}, ["table of ssd-v", "did you mean 'timing'"]),
        ({"set": "timing.read_us"}, ["TABLE.KEY=VALUE"]),
        ({"set": "read_us=3"}, ["TABLE.KEY=VALUE"]),
        ({"set": "timing.read_us="}, ["TABLE.KEY=VALUE"]),
        ({"set": "bus.arbitration=command"}, ["must be TOML", "as 'bus.arbitration=\"command\"'"]),
        ({"set": "timing.read_us=3\nx=4"}, ["must be TOML"]),
        ({"set": "timing.read_us=inf"}, ["timing.read_us is inf", "finite"]),
        ({"set": {"timing.read_us": object()}}, ["timing.read_us is <object", "finite number"]),
        ({"set": [3]}, ["set has 3", "TABLE.KEY=VALUE"]),
        ({"set": 3}, ["set is 3"]),
        ({"set": "geometry.channels=0"}, ["channels is 0", "from 1"]),
        ({"set": "geometry.channels=2.5"}, ["channels is 2.5"]),
        ({"set": 'geometry.erase_unit="bloc"'}, ["did you mean 'block'"]),
        ({"write_cache": "none"}, ["write_cache is 'none'", "off, or whole bytes"]),
        ({"map_cache": "0"}, ["map_cache is '0'", "all, or whole bytes"]),
        ({"size": "1.5"}, ["size is '1.5'", "whole bytes"]),
        ({"size": True}, ["size is True"]),
        ({"size": -3}, ["size is -3"]),
        ({"size": "9e30GB"}, ["size is '9e30GB'"]),
        ({"size": 100}, ["size is 100 B; "]),
    ],
)
def test_what_is_wrong_in_a_change_is_named(given: dict[str, object], words: list[str]) -> None:
    with refused_with(*words):
        wa.device("ssd-v", **given)  # type: ignore[arg-type]


class TestArrays:
    def test_members_divide_the_size_and_differ_alike(self) -> None:
        found = wa.device("raid0:x25-m,x25-m", size="20GiB", set=["timing.read_us=9"])
        assert (found.kind, found.capacity_bytes, found.stripe_bytes) == ("raid0", 20 * GIB, 65536)
        assert found.dies == 40
        assert found.is_timed_by_default
        for one in found.members:
            assert (one.capacity_bytes, one.times["timing"]["read_us"]) == (10 * GIB, 9)

    def test_an_array_shows_64_gib_unless_a_size_is_given(self) -> None:
        assert wa.device("raid0:x25-m,x25-m").capacity_bytes == 64 * GIB
        found = wa.device("raid0:x25-m,x25-m,x25-m,x25-m", size="320GB")
        assert found.capacity_bytes == pytest.approx(320e9, abs=4 * 65536)

    def test_members_may_differ_and_the_smallest_counts(self, tmp_path: Path) -> None:
        mine = tmp_path / "mine.toml"
        mine.write_text(
            "[geometry]\nblocks_per_plane = 64\npages_per_block = 64\n[management]\nop = 0.25\n"
        )
        found = wa.device(f"raid0:spinpoint-m7,{mine},stripe=128k")
        small = found.members[1].capacity_bytes
        assert found.capacity_bytes == small // 131072 * 131072 * 2
        assert [one.kind for one in found.members] == ["disk", "flash"]

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("raid0:x25-m", "two or more"),
            ("raid0:x25-m,", "two or more"),
            ("raid0:x25-m,raid0:apex", "two or more"),
            ("raid0:x25-m,x52-m", "did you mean 'x25-m'"),
            ("raid0:x25-m,x25-m,strip=64k", "did you mean 'stripe'"),
            ("raid0:x25-m,x25-m,stripe=100", "multiple of 512"),
            ("raid0:x25-m,x25-m,stripe=1TiB", "smaller than a stripe"),
        ],
    )
    def test_what_is_no_array_is_refused(self, text: str, words: str) -> None:
        with pytest.raises(wa.WriteampError, match=words):
            wa.device(text)

    def test_what_has_no_flash_takes_no_options_of_flash(self) -> None:
        for base in ("spinpoint-m7", wa.device("raid0:x25-m,x25-m")):
            with pytest.raises(wa.WriteampError, match="does not support blocks, op"):
                wa.device(base, blocks=64, op=0.2)
        with pytest.raises(wa.WriteampError, match=r"table of spinpoint-m7.*write_cache"):
            wa.device("spinpoint-m7", write_cache="off")

    def test_untimed_runs_refuse_them_in_a_sentence(self) -> None:
        for name in ("spinpoint-m7", "raid0:x25-m,x25-m"):
            assert "timed runs only" in refusal("simulate", f"--device {name} --writes 10")


class TestExperiments:
    def test_a_shrunk_drive_is_named_in_notes_and_json(self) -> None:
        done = run("simulate", "--device ssd-v --size 256MiB --writes 5000 --replicas 1 --json")
        assert "note: ssd-v has 256 MiB instead of 14 GiB" in done.err
        assert done.err.index("warning: WA is not steady") < done.err.index("note: ")
        found = json.loads(done.out)
        assert found["shrunk"][0].startswith("ssd-v has 256 MiB")
        assert (found["kind"], found["capacity_bytes"]) == ("flash", 2**28)

    def test_every_verb_takes_a_size(self) -> None:
        found = wa.compare(
            device="ssd-v", size="64MiB", managers=["single"], writes=2_000, replicas=1
        )
        assert found.to_dict()["capacity_bytes"] == 2**26
        done = document(
            "endurance", "--device ssd-v --size 8MiB --w-max 3 --replicas 2 --set timing.read_us=3"
        )
        assert done["capacity_bytes"] == 2**23

    def test_files_tables_and_pickles_keep_what_differs(self, tmp_path: Path) -> None:
        asked = wa.Experiment.of(
            "simulate", device="raid0:x25-m,mine.toml", size="4GiB", write_cache="off",
            map_cache="1M", set={"timing.read_us": 9, "timing.program_us": [1, 2]},
        )  # fmt: skip
        folder = tmp_path / "there"
        folder.mkdir()
        path = folder / "one.toml"
        asked.to_toml(path)
        assert asked.input_files == ("mine.toml",)
        moved = wa.Experiment.from_toml(path)
        assert moved.device.profile == "raid0:x25-m,mine.toml,stripe=65536"
        assert moved.device.set == ("timing.program_us=[1, 2]", "timing.read_us=9")
        assert pickle.loads(pickle.dumps(moved)) == moved
        built = wa.Experiment.of("simulate", device=wa.device("raid0:x25-m,x25-m"))
        assert wa.Experiment.from_dict(built.to_dict()) == built

    def test_options_of_the_command_replace_those_of_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "one.toml"
        wa.Experiment.of("simulate", device="ssd-v", size="64MiB", set=["timing.read_us=9"],
                         **RUN).to_toml(path)  # fmt: skip
        assert document("simulate", str(path))["capacity_bytes"] == 2**26
        assert document("simulate", f"{path} --blocks 400")["blocks"] == 400
        saved = tmp_path / "two.toml"
        run("simulate", f"{path} --size 8MiB --save-config {saved}")
        found = wa.Experiment.from_toml(saved)
        assert (found.device.size, found.device.set) == (2**23, ("timing.read_us=9",))

    def test_times_are_in_the_hash_where_time_may_pass(self) -> None:
        def digest(**settings: object) -> str:
            return wa.Experiment.of("simulate", **settings).hash

        assert digest(device="ssd-v") != digest(device="ssd-v", set=["timing.read_us=9"])
        assert digest(device="ssd-v") == digest(device="ssd-v", set=["timing.read_us=50.0"])
        assert digest() != digest(set=["timing.read_us=9"])
        assert digest(device="ssd-v", size="14GiB") == digest(device="ssd-v")
        assert digest(device="ssd-v", size="1GiB") != digest(device="ssd-v")
        assert digest(device="ssd-v", write_cache="off") != digest(device="ssd-v")
        built = wa.device("eagletree", blocks=800)
        assert digest(device=built) == digest(device="eagletree", blocks=800)

    def test_a_trace_runs_on_a_drive_of_a_size(self) -> None:
        trace = TRACE
        found = wa.simulate(trace=trace, size="512MiB", spread=False)
        assert found.to_dict()["capacity_bytes"] == 2**29
