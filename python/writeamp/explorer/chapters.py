"""The ten chapters: their texts, and the scenes in recordings that are made for them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any

from writeamp.devices.device import device
from writeamp.devices.policy import Policy
from writeamp.explorer.recording import Recording, record
from writeamp.pages.frame import source

_LOGICAL_PAGES = 320
_PAGES_PER_BLOCK = 16
_BLOCKS = 24
_WRITES = 3000


@dataclass(frozen=True)
class Scene:
    """Place in one recording or two, with the write that comes next and how far it has come.

    Args:
        recordings: names of the recordings, which go through the same host writes.
        colouring: what the colours show: "origin", "owner", "heat" or "age" (drawing.js).
        write: host writes that are done.
        step: events of the next write that are done.
        plays: host writes that the scene goes on for.
    """

    recordings: tuple[str, ...]
    colouring: str
    write: int
    step: int
    plays: int

    def document(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return vars(self) | {"recordings": list(self.recordings)}


@dataclass(frozen=True)
class Chapter:
    """Chapter: a paragraph, a scene with what to look at, a question and its answer, a command."""

    title: str
    text: str
    look: str
    scene: Scene
    question: str
    answer: str
    command: str


@cache
def _source() -> dict[str, Any]:
    return tomllib.loads(source("writeamp.explorer", "chapters.toml"))


def words() -> dict[str, str]:
    """Return the words that the chapters use, each with what it means."""
    found: dict[str, str] = _source()["words"]
    return found


@cache
def recordings() -> dict[str, Recording]:
    """Return the recordings of the chapters' scenes, by name; they take a fraction of a second."""
    return {name: _recorded(**asked) for name, asked in _source()["recordings"].items()}


def _recorded(
    name: str,
    workload: str,
    manager: str = "single",
    victims: str | None = None,
    blocks: int = _BLOCKS,
) -> Recording:
    fill = _LOGICAL_PAGES / (blocks * _PAGES_PER_BLOCK)
    return record(
        Policy(manager, victims, None),
        device(blocks=blocks, pages_per_block=_PAGES_PER_BLOCK, fill=fill),
        workload,
        writes=_WRITES,
        seed=1,
        name=name,
    )


def chapters(recorded: dict[str, Recording]) -> list[Chapter]:
    """Return the chapters, with the numbers and the places that are found in their recordings."""
    numbers = {name: f"{one.wa:.2f}" for name, one in recorded.items()}
    return [
        Chapter(
            title=one["title"],
            text=one["text"].strip().format(**numbers),
            look=one["look"],
            scene=_scene(one, recorded),
            question=one["question"],
            answer=one["answer"],
            command=one["command"],
        )
        for one in _source()["chapters"]
    ]


def _scene(chapter: dict[str, Any], recorded: dict[str, Recording]) -> Scene:
    names = tuple(chapter["recordings"])
    write, step = _place([recorded[name] for name in names], **chapter["at"])
    return Scene(names, chapter["colouring"], write, step, chapter["plays"])


def _place(
    recorded: list[Recording], write: int = 0, event: str = "", after: int = 0
) -> tuple[int, int]:
    """Return the writes that are done, and the events of the next one.

    Args:
        recorded: the recordings of the scene.
        write: writes that are done, if no event is asked for.
        event: "victim" for the first write for which each drive chooses a victim, or "swap" for
            the first for which the last drive swaps; the place is just after the choice.
        after: writes from which on it is looked for.
    """
    if not event:
        return write, 0
    chosen = 2 if event == "swap" else 1
    seen = [one.steps() for one in (recorded[-1:] if event == "swap" else recorded)]
    for at in range(after, len(seen[0])):
        places = [_choice(steps[at], chosen) for steps in seen]
        if all(places):
            return at, max(places)
    raise AssertionError(f"no {event} is in the recordings")


def _choice(kinds: list[str], count: int) -> int:
    """Return the events until so many victims are chosen before the first is erased; 0 if never."""
    chosen = 0
    for place, kind in enumerate(kinds, 1):
        chosen = 0 if kind == "erase" else chosen + (kind == "victim")
        if chosen == count:
            return place
    return 0
