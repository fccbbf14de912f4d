"""Values of a profile are checked when it is loaded, alone and beside the others."""

from __future__ import annotations

import math
import random
import tomllib
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import tomli_w

import refusals
import writeamp as wa
from forms import FULL
from in_process import refusal
from writeamp.devices.profile import profile_names

SMALL = "--size 16MiB --writes 2000 --warmup 0 --replicas 1"
SHIPPED = resources.files("writeamp.devices").joinpath("profiles")
TABLES: dict[str, dict[str, Any]] = {
    name: tomllib.loads(SHIPPED.joinpath(f"{name}.toml").read_text("utf-8"))
    for name in profile_names()
}
# What decides the shape of a drive, and with it the write amplification of untimed runs.
OF_SHAPE = ("geometry", "management", "program")
CHANGED = 10_000 if FULL else 100


def built(base: str | Path, options: dict[str, Any]) -> wa.Device | None:
    """Return a drive, or None if one sentence refuses it."""
    sentence = ""
    try:
        return wa.device(base, **options)
    except wa.WriteampError as error:
        sentence = str(error)
    assert sentence
    assert "\n" not in sentence
    return None


@pytest.mark.parametrize("time", ["", " --timed"])
@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--set program.pages_per_word_line=-3", "program.pages_per_word_line is -3; it must be a"),
        ("--set program.pages_per_word_line=0", "program.pages_per_word_line is 0; it must be fro"),
        ("--set program.pages_per_word_line=2.5", "program.pages_per_word_line is 2.5; it must be"),
        ("--set program.pages_per_word_line=true", "program.pages_per_word_line is true; it must"),
        ("--set program.pages_per_word_line=5", "pages_per_block is 768; it must be a multiple of"),
        ("--set program.flash_page_bytes=-16384", "program.flash_page_bytes is -16384; it must be"),
        ("--set program.flash_page_bytes=0", "program.flash_page_bytes is 0; it must be from 1"),
        ("--set program.flash_page_bytes=6000", "program.flash_page_bytes is 6000; it must be a m"),
        ("--set program.planes=3", "program.planes is 3; it must be 1, or planes_per_die, 4"),
        ("""--set 'write_cache.bytes="x"'""", 'write_cache.bytes is "x"; it must be a whole numb'),
        ("--set map_cache.bytes=[1]", "map_cache.bytes is [1]; it must be a whole number from 0"),
        ("--set map_cache.bytes=1", "map_cache.bytes is 1; it must be 0, or at least the"),
        ("--set slc.bits_per_cell=9", "slc.bits_per_cell is 9; it must be from 1 to 8"),
        ("--set slc.when_full=3", "slc.when_full is 3; it must be fold or through"),
        ("--set host.depth=0", "host.depth is 0; it must be from 1 to 65536"),
        ("--set geometry.width=3", "unknown key in set: [geometry] 'width'"),
        ("--set geometry.planes_per_die=2", "program.planes is 4; it must be 1, or planes_per_die"),
        ("--page-bytes 1", "a program writes 196608 mapping units"),
        ("--page-bytes 8", "a program writes 24576 mapping units"),
        ("--page-bytes 3", "program.flash_page_bytes is 16384; it must be a multiple of"),
        ("--pages-per-block 100", "--pages-per-block is 100; it must be a multiple of the 12"),
        ("--write-cache 1", "write_cache.bytes is 1; it must be 0, or at least two mapping units"),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_untimed_runs_too(
    option: str, sentence: str, time: str
) -> None:
    said = refusal("simulate", f"--device fdp-datacenter {SMALL} {option}{time}")
    assert said.startswith(f"writeamp: {sentence}"), said


@pytest.mark.parametrize("page_bytes", ["1", "2", "8"])
@pytest.mark.parametrize("name", [*profile_names(), "raid0:x25-m,x25-m"])
def test_tiny_pages_are_a_drive_or_one_sentence(name: str, page_bytes: str) -> None:
    found = built(name, {"size": "16MiB", "page_bytes": page_bytes})
    assert found is None or found.capacity_bytes == 16 * 2**20


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"channels": 0}, "channels is 0; it must be a whole number from 1"),
        ({"page_bytes": -4096}, "page_bytes is -4096"),
        ({"pages_per_block": 1}, "pages_per_block is 1; it must be at least 2"),
        ({"pages_per_block": 30}, "pages_per_block is 30; it must be a multiple of"),
        ({"erase_unit": "block"}, 'program.planes is above 1, but erase_unit is "block"'),
        ({"layout": "round"}, "unknown layout 'round'"),
        ({"kind": "tape"}, "unknown kind 'tape'"),
        ({"kind": "raid0"}, "has 0 members"),
        ({"logical_pages": -1}, "logical_pages is -1"),
        ({"logical_pages": 0}, "has 0 logical pages"),
        ({"logical_pages": 2**31}, "has 2147483648 logical pages; valid: 1"),
        ({"times_json": '{"host":{"depth":0}}'}, "host.depth is 0"),
        ({"rated_erases": 0}, "rated_erases is 0"),
        ({"is_timed_by_default": 1}, "is_timed_by_default is 1"),
    ],
)
def test_a_device_that_is_built_by_hand_is_checked_too(values: dict[str, Any], words: str) -> None:
    drive = wa.device("fdp-datacenter", size="16MiB")
    assert words in refusals.refusal(lambda: wa.simulate(replace(drive, **values), writes=2000))


TWIN = {"logical_pages": 800, "error": 0.05}
POLICY = {"manager": "single", "victims": "greedy"}
CANDIDATE = POLICY | {"op": 0.2, "erase_unit_pages": 16, "weight": 1.0}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"logical_pages": 800.5}, "logical_pages is 800.5"),
        ({"error": "0.05"}, "error is '0.05'"),
        ({"candidates": []}, "candidates is []"),
        ({"manager": "nobody"}, "unknown block manager 'nobody'"),
        ({"victims": "nobody"}, "unknown victim policy 'nobody'"),
        ({"op": math.inf}, "op is inf"),
        ({"erase_unit_pages": 16.7}, "erase_unit_pages is 16.7"),
        ({"erase_unit_pages": True}, "erase_unit_pages is True"),
        ({"weight": 2}, "weight is 2"),
        ({"wheel": 2}, "must have the keys manager, victims, op"),
    ],
)
def test_a_twin_says_what_its_candidates_have_wrong(
    values: dict[str, Any], words: str, tmp_path: Path
) -> None:
    own = {key: value for key, value in values.items() if key in (*TWIN, "candidates")}
    candidate = CANDIDATE | {key: value for key, value in values.items() if key not in own}
    tables = {
        "geometry": {"blocks_per_plane": 60, "pages_per_block": 16},
        "management": {"op": 0.2},
        "twin": TWIN | {"candidates": [candidate]} | own,
    }
    path = tmp_path / "twin.toml"
    path.write_text(tomli_w.dumps(tables))
    sentence = refusals.refusal(wa.device, path)
    assert sentence.startswith(f"{path}: [twin]")
    assert words in sentence


ODDITIES: tuple[Any, ...] = (
    0, 1, 2, 3, 7, -1, -3, 0.5, 1.5, -0.5, 1e-300, 1e300, math.nan, math.inf, -math.inf,
    4096, 16384, -16384, 10**6, 2**31, 2**32 - 1, 2**32, 2**63 - 1, -(2**63),
    True, False, "x", "", "4k", "nan", "off", "block", "superblock", "static",
    [], [1], [1, 2, 3], [-1], [[1]], ["a"], [True], {}, {"a": 1},
)  # fmt: skip
FACTORS: tuple[Callable[[Any], Any], ...] = (
    lambda value: -value,
    lambda value: value * 2,
    lambda value: value + 1,
    lambda value: value / 3,
    lambda value: value * 1000,
)
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"size": "16MiB"},
    {"size": "1GiB"},
    {"blocks": 256},
    {"logical_pages": 5000},
    {"page_bytes": 8, "size": "16MiB"},
    {"page_bytes": 16384},
    {"pages_per_block": 12, "size": "16MiB"},
)


def changed(draws: random.Random, tables: dict[str, Any]) -> set[str]:
    """Change some values of a profile; return the names of their tables."""
    titles = [title for title, table in tables.items() if isinstance(table, dict)]
    touched = set()
    for _ in range(draws.choice((1, 1, 1, 2, 3))):
        title = draws.choice(titles)
        if not isinstance(tables[title], dict):
            continue
        touched.add(title)
        key = draws.choice([*tables[title], "other"])
        value = tables[title].get(key)
        match draws.random():
            case share if share < 0.05:
                tables[title].pop(key, None)
            case share if share < 0.1:
                tables[title] = draws.choice(ODDITIES)
            case share if share < 0.4 and type(value) in (int, float):
                tables[title][key] = draws.choice(FACTORS)(value)
            case _:
                tables[title][key] = draws.choice(ODDITIES)
    return touched


def what_untimed_runs_see(drive: wa.Device) -> tuple[Any, ...]:
    shape = drive.shape() if drive.kind == "flash" else {}
    return shape, drive.layout, drive.logical_pages


def test_a_changed_profile_is_a_drive_or_one_sentence(tmp_path: Path) -> None:
    draws, path, unchanged = random.Random(51), tmp_path / "mine.toml", 0
    for _ in range(CHANGED):
        name, options = draws.choice(list(TABLES)), draws.choice(OPTIONS)
        tables = tomllib.loads(tomli_w.dumps(TABLES[name] | {"sources": {}}))
        touched = changed(draws, tables)
        path.write_text(tomli_w.dumps(tables))
        found = built(path, options)
        if found is None or found.kind != "flash":
            continue
        assert found.geometry.blocks >= found.geometry.luns
        assert 0 < found.logical_pages < found.physical_pages
        assert found.pages_per_erase_unit % found.pages_per_program == 0
        if touched.isdisjoint(OF_SHAPE):
            usual = wa.device(name, **options)
            assert what_untimed_runs_see(found) == what_untimed_runs_see(usual), tables
            unchanged += 1
    assert unchanged > CHANGED / 30


def test_values_that_untimed_runs_do_not_look_at_leave_their_wa_alone() -> None:
    values = {
        "timing.read_us": 3.6e9,
        "bus.channel_mb_s": 0,
        "host.depth": 1,
        "scheduling.most_suspends": 0,
        "collection.soft_blocks": 2**32 - 1,
        "write_cache.bytes": 0,
        "map_cache.bytes": 8192,
        "refresh.reads_per_block": 1,
        "slc.static_bytes": 2**20,
    }
    found = [
        wa.simulate("fdp-datacenter", size="16MiB", set=one, writes=3000, warmup=0, replicas=1).wa
        for one in (None, values)
    ]
    assert found[0] == found[1]


def test_a_changed_value_is_a_drive_or_one_sentence_however_it_is_given() -> None:
    draws = random.Random(15)
    for _ in range(CHANGED // 2):
        name, options = draws.choice(list(TABLES)), draws.choice(OPTIONS)
        tables = {title: one for title, one in TABLES[name].items() if isinstance(one, dict)}
        title = draws.choice(list(tables))
        key = draws.choice([*tables[title], "other"])
        value = draws.choice(ODDITIES)
        built(name, {**options, "set": {f"{title}.{key}": value}})
        built(name, {**options, "set": f"{title}.{key}={str(value).lower()}"})
