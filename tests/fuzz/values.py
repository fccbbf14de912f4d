"""Values and specs to try: what is valid, at the edges of it, and what nobody would write."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

from places import ROOT
from writeamp.registry import EngineKind, engine_entries

KINDS: tuple[EngineKind, ...] = ("victims", "managers", "workloads", "detectors", "wear_levelers")
_DEEPEST = 2
# Of specs that are one parameter's value inside another.
_DAMAGES = ("", ":", "=", ",", "(", ")", "/", "é", "\0x")

EDGES = (
    *("0", "-0", "1", "-1", "2", "0.5", "1e-9", "1e-300", "5e-324", "1e308", "1e309", "1e9"),
    *("2147483648", "4294967295", "4294967296", "9223372036854775807", "1e18", "1e30"),
    *("18446744073709551615", "18446744073709551616", "9" * 400, "9" * 5000, "0.1e", "0x10"),
    *("4k", "2MiB", "1GiB", "4kB", "0.5k", "1e9G", "15%", "1e300%", "-3%", "5s", "1e300h"),
    *("nan", "inf", "-inf", "NaN", "1_0", "１", " 1 ", "", "auto", "never", "oracle", "None"),
)
_JUNK = (
    *(
        "\x1b[31m",
        "[bold]x[/bold]",
        "a\nb",
        "\t",
        "(" * 300,
        "a" * 3000,
        "é\u202e",
        "=x",
        "-",
        "--",
    ),
    *("{}", "[]", '"', "'", "\\", "../../x", "/dev/null", "/", "~", "*", "%s", "${HOME}", "\udcff"),
)
_CHARACTERS = "abx019.,:;=/()[]{}<>'\"\\%$#@!&|~^`*?+-_ \t\n\r\x00\x1b\x7fé\u202e\u200b\uffff😀"
# Names of settings whose values decide how long a run takes.
LENGTHS = (
    *("writes", "replicas", "repeat", "repeats", "warmup", "drive_writes", "host_bytes", "w_max"),
    *("size", "capacity", "blocks", "logical_blocks", "logical_pages", "pages_per_block"),
    *("page_bytes", "batch_pages", "request_pages", "reserve", "level", "groups", "chunks"),
    *("d", "d_swap", "window", "target_wa", "wa", "precision", "tolerance", "least_move"),
    *("points", "requests", "volumes", "phases", "rounds", "resamples", "cv", "sample"),
    *("samples", "cycles", "rb_rate", "dies", "time", "duration", "settle", "burst", "time_scale"),
    *("width", "sweep", "scheduler", "threads", "traffic_sigma", "size_sigma", "rated_tbw"),
    *("write_cache", "map_cache"),
)
# Valid, and what outlasts every patience is left out.
_BOUNDED = ("0", "-1", "1.5", "x", "", "nan", "1e30", "9" * 400, "1", "2", "3")


def one_of(rng: Random, choices: Sequence[Any]) -> Any:
    """Return one of several, twice as fast as `Random.choice`."""
    return choices[int(rng.random() * len(choices))]


def edge(rng: Random) -> str:
    """Return a number at an edge, or a word that is none."""
    return str(one_of(rng, EDGES))


def junk(rng: Random) -> str:
    """Return text that nobody would give."""
    kind = rng.random()
    if kind < 0.4:
        return edge(rng)
    if kind < 0.7:
        return str(one_of(rng, _JUNK))
    return "".join(one_of(rng, _CHARACTERS) for _ in range(int(rng.random() * 9)))


def bounded(rng: Random) -> str:
    """Return what is no such number, or a small one, where a large one takes hours."""
    return str(one_of(rng, _BOUNDED))


def share(rng: Random) -> str:
    """Return a share or a ratio."""
    kind = rng.random()
    if kind < 0.3:
        return str(one_of(rng, ("0.1", "0.28", "0.9", "1e-6", "0.999999", "15%", "1", "0.5")))
    return repr(rng.random()) if kind < 0.6 else f"{0.05 + 0.6 * rng.random():.3g}"


def count(rng: Random) -> str:
    """Return a small whole number."""
    return str(1 + int(64 * rng.random() ** 2))


@cache
def profile_values() -> list[tuple[str, Any]]:
    """Return every key of a profile's tables, and a value that a shipped profile gives it."""
    found = []
    for path in sorted((ROOT / "python" / "writeamp" / "devices" / "profiles").glob("*.toml")):
        for title, table in tomllib.loads(path.read_text("utf-8")).items():
            if isinstance(table, dict) and title not in ("sources", "data_sheet"):
                found += [(f"{title}.{key}", value) for key, value in table.items()]
    return found


def change(rng: Random) -> str:
    """Return a value for a key of a profile's tables, such as another profile's or an edge."""
    key, value = one_of(rng, profile_values())
    how = rng.random()
    if how < 0.4:
        text = repr(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')
    elif how < 0.7 and isinstance(value, int | float) and not isinstance(value, bool):
        text = repr(type(value)(value * one_of(rng, (-1, 0, 0.5, 2, 3, 1e-9, 1e9))))
    elif how < 0.9:
        text = str(one_of(rng, (edge(rng), f"[{edge(rng)}]", '"x"', "true", "{}", "[]")))
    else:
        key, text = str(one_of(rng, (key, key[:-1], "x.y", "geometry", ""))), junk(rng)
    return f"{key}={text}"


@cache
def _entries(kind: EngineKind) -> tuple[Any, ...]:
    return tuple(engine_entries(kind))


def spec(rng: Random, kind: EngineKind, depth: int = 0) -> str:
    """Return a spec of a registry: an example, one by its domains and beyond, or a damaged one."""
    entry = one_of(rng, _entries(kind))
    how = rng.random()
    if depth >= _DEEPEST or how < 0.5:
        return str(one_of(rng, (entry.small, entry.example)))
    text = _given(rng, entry, depth)
    if how < 0.9:
        return text
    low, high = sorted(int(rng.random() * (len(text) + 1)) for _ in range(2))
    return text[:low] + str(one_of(rng, _DAMAGES)) + text[high:]


def any_spec(rng: Random) -> str:
    """Return a spec of any registry, also where another is asked for."""
    return spec(rng, one_of(rng, KINDS))


def _given(rng: Random, entry: Any, depth: int) -> str:
    chosen = [each for each in entry.params if not each.default or rng.random() < 0.4]
    inside = ",".join(f"{each.name}={_value(rng, each.values, depth)}" for each in chosen)
    if not inside:
        return str(entry.name)
    return f"{entry.name}:{inside}" if depth == 0 else f"{entry.name}({inside})"


def _value(rng: Random, domain: dict[str, Any], depth: int) -> str:
    return edge(rng) if rng.random() < 0.1 else _valid(rng, domain, depth)


def _valid(rng: Random, domain: dict[str, Any], depth: int) -> str:  # noqa: PLR0911
    kind = domain["kind"]
    if kind in ("whole", "bytes"):
        least, most = domain["least"], domain["most"]
        if rng.random() < 0.2:
            return str(one_of(rng, (least, min(least + 1, most), most)))
        return str(min(most, least + int(200 * rng.random() ** 2)))
    if kind == "number":
        least = -10.0 if domain["least"] is None else domain["least"]
        most = max(least, 10.0) if domain["most"] is None else domain["most"]
        edges = (least, most, math.nextafter(least, math.inf), math.nextafter(most, -math.inf))
        return repr(one_of(rng, edges) if rng.random() < 0.2 else rng.uniform(least, most))
    if kind == "word":
        return str(one_of(rng, domain["words"]))
    if kind == "spec":
        return spec(rng, domain["registry"], depth + 1)
    if kind == "list":
        return "/".join(_valid(rng, domain["of"], depth) for _ in range(1 + int(4 * rng.random())))
    return _valid(rng, one_of(rng, domain["of"]), depth)
