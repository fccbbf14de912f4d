"""Command lines to try: lines that work, with other options, operands and files.

Drives are small or absurd, never large: a valid run takes a moment.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from random import Random
from typing import Any

from call import Call
from files import Folder, Samples, samples_of
from lines import FIXED, LINES, RARE, RARITY
from values import LENGTHS, bounded, change, count, edge, junk, one_of, share, spec

from writeamp.cli.verbs import load, verbs
from writeamp.learn.blackbox.model_kinds import model_kinds

Make = Callable[[Random], str]
_OUTPUTS = (
    *("out.svg", "out.html", "out.toml", "out.json", "out", "out.gif", "out.vcd", "out/x.svg"),
    *("", ".", "no/such/out.svg", "out\n.svg", "outé.svg", "/dev/full", "/dev/null", "out.pdf"),
)
# Options whose value is a file that is written, or a folder in which some are.
OUTPUT_NAMES = (
    *("--out", "--keep", "--plot", "--report", "--save-config", "--db", "--prometheus", "--plots"),
    *("--rb-capture", "--record", "--plot-erases", "--counters", "--backing"),
)
# They run programs, mount, write to drives or wait: nothing but these values.
_SAFE: dict[str, tuple[str, ...]] = {
    "--run": ("true", "false", "exit 3", "", "no-such-program"),
    "--mount": ("",),
    "--fs": ("ext4", "x"),
    "--scheduler": ("", "x", "tcp://"),
    "--yes-destroy-data": ("", "x"),
    "--target": ("generic", "ssd-i", "x25-m", "no-such", "", "raid0:generic,generic"),
    "--write": ("0", "-1", "x"),
    "--in": ("no-such",),
    "--socket": ("out.sock", "a" * 200, ""),
    "--metrics": ("x", "", "0.0.0.0:1"),
    "--counters": ("out", ""),
    "--precondition": ("none", "full", "workload", "random", "random:2", "random:0", "aged:x", "x"),
    "--wait": ("0.1s", "0", "x", "-1s"),
    "--settle": ("0.1s", "0", "x", "-1s"),
    "--every": ("1s", "0", "x"),
    "--workers": ("1", "0", "-1", "x"),
    "--threads": ("1", "2", "0", "x", "1e9"),
    "--time": ("1ms", "0", "x", "-1s", "nan"),
    "--runtime": ("1s", "x"),
    "--round": ("1s", "x"),
    "--burst": ("1ms", "x"),
    "--size": ("16MiB", "1MiB", "4KiB", "0", "-1", "x", "1e30", "300kB", "2MB", "1"),
    "--capacity": ("16MiB", "1GB", "100TB", "1e-9B", "0", "x", "1e300TB"),
    "--explore": ("2", "8", "12", "1", "0", "-1", "64", "x", "1.5"),
    "--precision": ("0.1", "0.05", "0", "-1", "nan", "x", "1"),
    "--full": ("x",),
    "--resume": ("out",),
    "--traces": ("no-such", ""),
    "--sweep": ("op=0.3:0.4:2", "op=0.1:0.2:0", "x=1:2:3", "op=::", "op=nan:1:2", "fill=0.7:0.8:2"),
}
_WORDS: dict[str, tuple[str, ...]] = {
    "--device": ("generic", "eagletree", "qlc", "fdp-datacenter", "raid0:generic,generic", "x"),
    "--layout": ("flat", "striped", "striped-per-lun", "static"),
    "--mapping": ("compact", "as-is"),
    "--format": ("msr", "spc", "mqsim", "ssdsim", "disksim", "blkparse", "parquet", "alibaba"),
    "--action": ("Q", "D", "C"),
    "--model": (*model_kinds(), "d-choices", "markov", "fifo", "INTEL SSDSC2KB480G8"),
    "--mode": ("hcwf", "hcwf-swap"),
    "--definition": ("pages", "bytes", "tlc+slc", "tlc", "as the vendor reports"),
    "--targets": ("wa", "latency", "latency,bandwidth", "x,wa"),
    "--features": ("basic", "extended", "modern"),
    "--design": ("mixed", "grid", "random", "latin-hypercube", "active"),
    "--prior": ("none", "auto", "generic"),
    "--preset": ("sepbit",),
    "--where": ("requests > 0", "drive_writes > 1e9", "op=0.2", "1", "x(", "'a' = requests", ";"),
    "--vary": ("fill", "recent-writes", "fill,recent-writes"),
    "--kind": ("lines", "heatmap"),
    "--pareto": ("wa,op", "min wa,max op", "wa,op,seed"),
    "--method": ("mixture", "fixed"),
    "--fail-on": ("error", "warning", "note"),
    "--window": ("200:2200", "1s", "5min", "1:0"),
    "--baseline": ("single", "sepgc"),
    "--write-cache": ("off", "64KiB", "1MiB", "1"),
    "--map-cache": ("all", "4KiB", "64KiB"),
    "--sizes": ("0.5,0.5", "0.2,0.8", "1", "0.2/0.3/0.5", "nan,1", "0,1"),
    "--frequencies": ("0.5,0.5", "0.9,0.1", "1", "0.6/0.3/0.1", "1e-300,1", "0,1"),
}
_FILES = {
    "--trace": "trace", "--families": "families", "--plan": "plan", "--windows": "windows",
    "--of": "sweep", "--tls-ca-file": "snap", "--tls-cert": "snap", "--tls-key": "snap",
}  # fmt: skip
_SPECS = {"--manager": "managers", "--victims": "victims", "--workload": "workloads",
          "--wear-leveling": "wear_levelers", "--managers": "managers"}  # fmt: skip
_BY_METAVAR: dict[str, Make] = {
    "RATIO": share, "SHARE": share, "N": count, "WA": lambda rng: repr(1 + 3 * rng.random()),
    "SIZE": lambda rng: one_of(rng, ("4KiB", "1MiB", "2GB", "512", "1e12")),
    "TIME": lambda rng: one_of(rng, ("1ms", "2s", "1min", "50us")),
    "NUMBER": share, "AXIS": lambda rng: one_of(rng, ("op", "manager", "seed", "wa")),
    "COLUMN": lambda rng: one_of(rng, ("wa", "op", "manager", "writes")),
}  # fmt: skip


@dataclass(frozen=True)
class _Option:
    name: str
    is_flag: bool
    metavar: str | None


def options_of() -> Iterator[tuple[str, list[_Option]]]:
    """Every verb with its options, as the command has them."""

    def walk(name: str, command: Any) -> Iterator[tuple[str, list[_Option]]]:
        if hasattr(command, "commands"):
            for inner, each in command.commands.items():
                yield from walk(f"{name} {inner}", each)
            return
        yield (
            name,
            [
                _Option(flag, bool(each.is_flag), each.metavar)
                for each in command.params
                if each.param_type_name == "option"
                for flag in (*each.opts, *each.secondary_opts)
                if flag.startswith("--")
            ],
        )

    for verb in verbs():
        yield from walk(verb, load(verb))


OPTIONS = dict(options_of())
assert set(OPTIONS) == set(LINES), "a verb is not tried, or there is none of this name"


def unmade(samples: Samples) -> set[str]:
    """Return the samples that the lines name and that there are not."""
    named = {
        word
        for line in chain.from_iterable((*LINES.values(), *RARE.values()))
        for word in line.split()
        if len(word) > 1 and word[0] == "@"
    }
    return {word for word in named if not samples_of(samples, word[1:])}


@cache
def _ordinary(verb: str) -> list[_Option]:
    return [each for each in OPTIONS[verb] if each.name not in ("--help", "--json", "--cite")]


@cache
def _has(verb: str, flag: str) -> bool:
    return any(each.name == flag for each in OPTIONS[verb])


def _takes_value(verb: str, flag: str) -> bool:
    return any(each.name == flag and not each.is_flag for each in OPTIONS[verb])


def draw(rng: Random, verb: str, samples: Samples) -> Call:
    """Return a command line of a verb, with the files that it names."""
    is_rare = verb in RARE and rng.random() * RARITY < 1
    line = str(one_of(rng, RARE[verb] if is_rare else LINES[verb]))
    damage = one_of(rng, (0.0, 0.2, 0.5))
    folder = Folder(samples, rng, damage, {}, {})
    words = [folder.name(word[1:]) if word[:1] == "@" else word for word in line.split(" ")]
    changes = one_of(rng, (0, 0, 0, 0, 1, 1, 1, 2)) if not is_rare else 0
    flag = "--from" if verb == "trace convert" else "--format"
    if folder.formats and flag not in words and rng.random() < 0.7 and _has(verb, flag):
        words += [flag, folder.formats[0]]
    if not line:
        words = []
    for _ in range(changes):
        _change(rng, verb, words, folder)
    if rng.random() < 0.4 and "--" not in words and _has(verb, "--json"):
        words.append("--json")
    argv = [*verb.split(), *(word.replace("\0", "") for word in words)]
    outputs = [word for flag, word in pairwise(argv) if flag in OUTPUT_NAMES]
    if verb == "trace convert":
        outputs += argv[2:5]
    if verb == "examples":
        outputs += [*argv[1:], "examples"]
    return Call(
        kind=verb,
        shown=shlex.join(["writeamp", *argv]),
        argv=argv,
        contents=folder.contents,
        whole=folder.whole,
        outputs=tuple(outputs),
        is_document=argv[-1] == "--json" and not _takes_value(verb, argv[-2]),
        runs_programs=verb in ("serve", "measure run", "answer"),
    )


def _change(rng: Random, verb: str, words: list[str], folder: Folder) -> None:
    """Change a command line: give it an option, or leave out, double or put in a word."""
    how = rng.random()
    end = words.index("--") if "--" in words else len(words)
    if not _ordinary(verb):
        words.append(junk(rng))
    elif how < 0.86 or verb in FIXED or not end:
        option = one_of(rng, _ordinary(verb))
        if option.name == "--plot" and rng.random() < 0.8:
            return  # To draw takes as long as a hundred other calls.
        if verb in FIXED and option.name in words:
            return
        given = [option.name] if option.is_flag else [option.name, _value(rng, option, folder)]
        if option.name in words and not option.is_flag:
            at = words.index(option.name)
            words[at : at + 2] = given
        else:
            words[end:end] = given
    else:
        _change_word(rng, words, int(rng.random() * end), how, folder)


def _change_word(rng: Random, words: list[str], at: int, how: float, folder: Folder) -> None:
    if how < 0.9:
        # A drive of full size takes hours to simulate.
        if words[at] not in ("--size", "--capacity", "--writes"):
            del words[at]
    elif how < 0.93:
        words.insert(at, words[at])
    elif words[at - 1] in OUTPUT_NAMES or words[at - 1] in _SAFE or _is_length(words[at - 1]):
        return
    elif how < 0.97:
        words[at] = folder.name(one_of(rng, list(folder.samples)))
    elif words[at][:2] not in ("--", "ou"):
        words[at] = junk(rng)


def _is_length(option: str) -> bool:
    return option[:2] == "--" and option[2:].replace("-", "_") in LENGTHS


def _value(rng: Random, option: _Option, folder: Folder) -> str:  # noqa: PLR0911
    name = option.name
    if name in _SAFE:
        return str(one_of(rng, _SAFE[name]))
    if name in OUTPUT_NAMES:
        return str(one_of(rng, _OUTPUTS if rng.random() < 0.8 else (*folder.contents, "out")))
    if name == "--set":
        return change(rng)
    is_odd = rng.random() < 0.25
    if _is_length(name):
        return bounded(rng) if is_odd else str(one_of(rng, ("4", "8", "16", "64", count(rng))))
    if is_odd:
        return junk(rng)
    if name in _FILES:
        return folder.name(_FILES[name])
    if name in _WORDS:
        return str(one_of(rng, _WORDS[name]))
    if name in _SPECS:
        several = 2 if name == "--managers" and rng.random() < 0.5 else 1
        return ",".join(spec(rng, _SPECS[name]) for _ in range(several))  # type: ignore[arg-type]
    make = _BY_METAVAR.get(option.metavar or "", edge)
    return make(rng)
