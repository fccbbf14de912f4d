"""Point of a sweep: one task as plain values that travel to any process."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from writeamp._engine import __version__
from writeamp.errors import WriteampError
from writeamp.files import inputs
from writeamp.runners import Stopped
from writeamp.studies.sweep.designs import Choice
from writeamp.studies.sweep.kinds.kind import Found
from writeamp.studies.sweep.kinds.registry import find_kind


@dataclass(frozen=True)
class Point:
    """Task of a sweep; it can be pickled, and holds nothing but JSON types.

    Attributes:
        kind: of `kinds.registry`.
        settings: all of them, as the kind takes them.
        hash: of what they mean. With `version` it is the key of the point's result.
        version: the engine's, which must be that of whoever runs it.
        choice: the values of the axes.
        replica: from 0; the runs of one choice differ by their seed.
        seed: decides every random draw; None if nothing is drawn.
        study: as `hash`, but without the seed: replicas have it in common.
        place: in the order of its sweep, in which results are shown; it is no part of the key.
        files: the identities of those that it reads (`writeamp.files`), by name.
    """

    kind: str
    settings: Mapping[str, Any]
    hash: str
    version: str
    choice: Choice
    replica: int = 0
    seed: int | None = None
    study: str = ""
    place: int = 0
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """Key of its result: hash and version."""
        return self.hash, self.version


@dataclass(frozen=True)
class Outcome:
    """Outcome of a point: what was found, or the sentence that says why nothing was.

    `elapsed_s` is the time that it took where it ran.
    """

    point: Point
    found: Found | None
    error: str | None
    elapsed_s: float

    @property
    def key(self) -> tuple[str, str]:
        """Name of its result: that of the point."""
        return self.point.key


def run_point(point: Point) -> Outcome:
    """Run a point and return its outcome; an error is an outcome, too.

    Raises:
        WriteampError: the point was made by another version of the engine, or a file that it
            reads is not what it was then.
        KeyboardInterrupt: Ctrl-C.
    """
    if point.version != __version__:
        raise WriteampError(
            f"the points are of writeamp {point.version}, and here is {__version__}; use one "
            "version everywhere"
        )
    started = time.perf_counter()
    found, error = None, None
    _check_files(point)
    try:
        found = find_kind(point.kind).run(point.settings)
    except (KeyboardInterrupt, SystemExit, Stopped):
        raise
    except WriteampError as refused:
        error = str(refused)
    except MemoryError:
        error = "out of memory; use a smaller drive or trace"
    except BaseException as fault:  # a panic of the engine is no Exception
        error = f"this is a fault of writeamp {__version__}: {type(fault).__name__}: {fault}"
    # While it was run, too, or its key would stand for what it does not mean.
    _check_files(point)
    return Outcome(point, found, error, time.perf_counter() - started)


def _check_files(point: Point) -> None:
    for name, expected in point.files.items():
        if inputs.identity(name) != expected:
            raise WriteampError(f"{name} has changed since the sweep began; begin it again")


def lost_point(point: Point, why: str) -> Outcome:
    """Return the outcome of a point that ended every process which ran it."""
    return Outcome(point, None, why, 0.0)


def words_of(choice: Choice) -> str:
    """Return a choice in words."""
    return ", ".join(f"{name} = {value}" for name, value in choice.items()) or "the only point"
