"""Files to try: some of every kind that writeamp reads, made once, and what damages them."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import values

from mutations import mutated
from pastes import PASTES
from writeamp.traces import FORMATS

# What a file of a role is called in the folder of a call, before its number and its suffix.
ROLES = (
    *("trace", "device", "run", "sweep", "snap", "snaps", "capture", "model", "measured"),
    *("windows", "plan", "history", "result", "page", "job", "families", "swept", "fleet", "kept"),
    *("phases", "readings"),
)
# Of those who are read as texts that somebody pasted.
_PASTED = ("snap", "snaps", "job")
_TOML = ("device", "run", "sweep", "plan", "families", "phases")
# Not bytes of its own but names of settings are what these are made of.
_TABLE_VALUE = re.compile(rb"(?m)^([ \t]*([\w.\"-]+)[ \t]*=[ \t]*)(.*)$")
_ODD_VALUES = ("true", "[]", "[[1]]", "{}", "{a=1}", "1979-05-27", "[" * 5000, '"""', '"x"')


@dataclass(frozen=True)
class Sample:
    """File, or folder with files, of a role: its name there, and contents by place in it."""

    name: str
    contents: dict[str, bytes]

    @property
    def is_folder(self) -> bool:
        """True of a folder."""
        return "" not in self.contents


Samples = dict[str, list[Sample]]


def samples_in(folder: Path) -> Samples:
    """Read all samples that were made in a folder: `ROLE/NAME` is a file or a folder."""
    found: Samples = {}
    for role in ROLES:
        for place in sorted((folder / role).iterdir()):
            inside = (
                {"": place.read_bytes()}
                if place.is_file()
                else {
                    str(each.relative_to(place)): each.read_bytes()
                    for each in sorted(place.rglob("*"))
                    if each.is_file()
                }
            )
            found.setdefault(role, []).append(Sample(place.name, inside))
    return found


def samples_of(samples: Samples, asked: str) -> list[Sample]:
    """Return a role's samples whose names begin with what follows a colon in `asked`."""
    role, _, beginning = asked.partition(":")
    return [each for each in samples.get(role, []) if each.name.startswith(beginning)]


@dataclass
class Folder:
    """Files of one call, as they come to be named in it.

    Attributes:
        samples: whole files.
        rng: source of all choices.
        damage: share of files that are damaged.
        contents: what was named, by its place in the folder.
        whole: the same, undamaged.
        formats: of traces whose samples are called like theirs.
    """

    samples: Samples
    rng: Random
    damage: float
    contents: dict[str, bytes]
    whole: dict[str, bytes]
    formats: list[str] = field(default_factory=list)

    def name(self, asked: str) -> str:
        """Add a file of a role, or a folder, and return its name."""
        rng = self.rng
        role = asked.partition(":")[0]
        fitting = samples_of(self.samples, asked)
        if rng.random() < 0.02:
            fitting = self.samples[str(values.one_of(rng, ROLES))]
        sample = values.one_of(rng, fitting)
        if sample.name in FORMATS:
            self.formats.append(sample.name)
        suffix = "" if sample.is_folder else "".join(Path(sample.name).suffixes[-2:])
        name = f"{role}{len({each.partition('/')[0] for each in self.contents})}{suffix}"
        damaged = ""
        is_damaged = rng.random() < self.damage
        if is_damaged:
            damaged = values.one_of(rng, list(sample.contents))
        for inside, content in sample.contents.items():
            place = f"{name}/{inside}" if inside else name
            self.whole[place] = content
            other = is_damaged and inside == damaged
            self.contents[place] = self._damaged(role, content) if other else content
        return name

    def _damaged(self, role: str, content: bytes) -> bytes:
        rng = self.rng
        how = rng.random()
        if role in _PASTED and how < 0.3:
            return _pasted(rng, content)
        if role in _TOML and how < 0.6:
            return _with_value(rng, content)
        if how > 0.97:
            content = gzip.compress(content, mtime=0)
        others = [values.one_of(rng, values.one_of(rng, list(self.samples.values())))]
        return mutated(content, [next(iter(each.contents.values())) for each in others], rng)


def _pasted(rng: Random, content: bytes) -> bytes:
    text = content.decode("utf-8", "replace")
    for _ in range(1 + int(rng.random() * 2)):
        pasted = PASTES[values.one_of(rng, list(PASTES))](text)
        if isinstance(pasted, bytes):
            return pasted
        text = pasted
    return text.encode("utf-8", "replace")


def _with_value(rng: Random, content: bytes) -> bytes:
    """Return a file of settings with a value that is something else."""
    found = list(_TABLE_VALUE.finditer(content))
    if not found:
        return content
    where = values.one_of(rng, found)
    how = rng.random()
    if where[2].decode().rpartition(".")[2] in values.LENGTHS:
        text = values.bounded(rng)
    elif how < 0.4:
        text = values.edge(rng)
    elif how < 0.6:
        text = str(values.one_of(rng, _ODD_VALUES))
    elif how < 0.8:
        text = f'"{values.any_spec(rng)}"'
    else:
        text = '"' + re.sub(r'["\\\0\n\r]', "", values.junk(rng)) + '"'
    changed = where[1] + text.encode("utf-8", "replace")
    return content[: where.start()] + changed + content[where.end() :]
