"""The ten chapters: their texts, and scenes from recordings that are made for them."""

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
    """Scene: a position in one or two recordings, which the page shows.

    Args:
        recordings: names of the recordings, which contain the same host writes.
        colouring: meaning of the colours: "origin", "owner", "heat" or "age" (drawing.js).
        write: number of host writes that are done.
        step: number of events (such as programs and erases) that are done of the next host write.
        plays: number of host writes that "Play" animates from this position.
    """

    recordings: tuple[str, ...]
    colouring: str
    write: int
    step: int
    plays: int

    def document(self) -> dict[str, Any]:
        """Return the scene as JSON types."""
        return vars(self) | {"recordings": list(self.recordings)}


@dataclass(frozen=True)
class Chapter:
    """Chapter: a paragraph, a scene with a hint, a question and answer, and a shell command."""

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
    """Return the terms that the chapters use, each with its meaning."""
    meanings: dict[str, str] = _source()["words"]
    return meanings


@cache
def recordings() -> dict[str, Recording]:
    """Return the recordings of the chapters by name; they take a fraction of a second to make."""
    return {name: _recorded(**arguments) for name, arguments in _source()["recordings"].items()}


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
    """Return the chapters, with numbers and positions taken from their recordings."""
    numbers = {name: f"{recording.wa:.2f}" for name, recording in recorded.items()}
    return [
        Chapter(
            title=chapter["title"],
            text=chapter["text"].strip().format(**numbers),
            look=chapter["look"],
            scene=_scene(chapter, recorded),
            question=chapter["question"],
            answer=chapter["answer"],
            command=chapter["command"],
        )
        for chapter in _source()["chapters"]
    ]


def _scene(chapter: dict[str, Any], recorded: dict[str, Recording]) -> Scene:
    names = tuple(chapter["recordings"])
    write, step = _place([recorded[name] for name in names], **chapter["at"])
    return Scene(names, chapter["colouring"], write, step, chapter["plays"])


def _place(
    recorded: list[Recording], write: int = 0, event: str = "", after: int = 0
) -> tuple[int, int]:
    """Return the number of host writes done, and of events done of the next host write.

    Args:
        recorded: the recordings of the scene.
        write: host writes done, if no event is requested.
        event: "victim" for the first write at which each drive chooses a victim, or "swap" for the
            first write at which the last drive swaps, for which it chooses two victims. The
            position is just after the choice.
        after: number of the host write at which the search starts.
    """
    if not event:
        return write, 0
    chosen = 2 if event == "swap" else 1
    steps_by_drive = [
        recording.steps() for recording in (recorded[-1:] if event == "swap" else recorded)
    ]
    for index in range(after, len(steps_by_drive[0])):
        places = [_choice(steps[index], chosen) for steps in steps_by_drive]
        if all(places):
            return index, max(places)
    raise AssertionError(f"no {event} is in the recordings")


def _choice(kinds: list[str], count: int) -> int:
    """Return the position, from 1, of the last of `count` victim choices; 0 if there are fewer.

    Only choices without an erase between them count.
    """
    chosen = 0
    for place, kind in enumerate(kinds, 1):
        chosen = 0 if kind == "erase" else chosen + (kind == "victim")
        if chosen == count:
            return place
    return 0
