"""Base classes of users' policies, `Placement` and `VictimPolicy` (docs/your-own.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import numpy.typing as npt

    from writeamp._engine import Candidates, Victim

# The invalidation time of a page whose next write is not foreseen: the last that 64 bits count to.
NEVER = 2**63 - 1


@dataclass(frozen=True)
class DriveFacts:
    """Facts of a drive that are known when a policy is made for it.

    `seed` decides every random draw of the run; a policy that draws takes it for its own
    `numpy.random.default_rng`, and is the same in every run of that seed.
    """

    logical_pages: int
    blocks: int
    pages_per_block: int
    seed: int


class Placement:
    """Placement of pages: chooses a stream, and so a write frontier, for each page.

    Derive a class from it that has `on_write` and `on_migrate`. Whatever it remembers stands in its
    attributes, which are saved with a run. Its parameters are the arguments of its constructor,
    after the drive: `Mine:groups=3` is made by `Mine(drive, groups=3)`.

    A clock is the number of host pages written so far. Hooks are called in the order in which
    things happen, whatever else is set. Beside those below, a class may have

    - `on_collect(victim)`: a block has been chosen; its valid pages come next;
    - `on_trim(page)`: the host has trimmed a page: what it held is gone;
    - `on_migrate_all(pages, victim)` in the place of `on_migrate`: all valid pages of a victim at
      once, an array of int64, for an array or list of as many streams;
    - `save()` and `restore(saved)`, where attributes alone do not say its state.

    >>> import writeamp as wa
    >>> class Apart(wa.Placement):
    ...     streams, migration_streams = 2, [1]
    ...     def on_write(self, page, now):
    ...         return 0
    ...     def on_migrate(self, page, victim):
    ...         return 1
    >>> load = {"workload": "hot-cold:f=0.1,r=0.9", "writes": 20_000, "blocks": 200, "replicas": 1}
    >>> mine, built_in = wa.simulate(manager=Apart, **load), wa.simulate(manager="sepgc", **load)
    >>> mine.causes == built_in.causes
    True
    """

    streams: int = 1
    """How many streams it has, numbered from 0: 1 to 256. The constructor may set it."""

    migration_streams: Iterable[int] | None = None
    """Those that `on_migrate` may return: all by default. Each but one keeps a block in reserve."""

    victims: Any = "greedy"
    """The victim policy that it works by, unless another is asked for."""

    hears: ClassVar[str] = "nothing"
    """What the host must tell it of each page, as the third argument of `on_write`: "groups" (the
    number of its group of like update frequency) or "invalidation_times" (the clock when it will be
    invalid, `NEVER` if that is not foreseen)."""

    is_compiled: ClassVar[bool] = False
    """Whether Numba compiles it where it is installed, which `writeamp.compiled` says."""

    def __init__(self, drive: DriveFacts) -> None:
        """Make it for a drive; derived classes that have parameters take them after the drive."""

    def on_write(self, page: int, now: int) -> int:
        """Return the stream of a page that the host writes, after `now` others."""
        raise NotImplementedError

    def on_migrate(self, page: int, victim: Victim) -> int:
        """Return the stream of a page that collection moves.

        The victim has the `stream` that its block was opened for, the clock when it was `opened`,
        and `now`.
        """
        raise NotImplementedError


class VictimPolicy:
    """Victim policy: chooses the block that is collected next.

    Derive a class from it that has `choose`. Parameters, state, `save` and `restore` are as those
    of `Placement`. Where parts of a drive collect for themselves (layouts striped-per-lun and
    static), one policy chooses for all of them, and is shown the candidates of one.

    >>> import numpy as np
    >>> import writeamp as wa
    >>> class Emptiest(wa.VictimPolicy):
    ...     def choose(self, candidates, now):
    ...         return np.argmax(candidates.invalid_pages)
    """

    def __init__(self, drive: DriveFacts) -> None:
        """Make it for a drive; derived classes that have parameters take them after the drive."""

    def choose(self, candidates: Candidates, now: int) -> int | npt.NDArray[Any]:
        """Return the place of a victim among the candidates, `now` pages written by the host.

        The candidates are the closed blocks in the order in which they closed, the oldest first,
        of which there is at least one: arrays of int64 of one length with each `block`'s number,
        its `invalid_pages`, and the clocks when it was `closed_at` and when it closed or last lost
        a page (`changed_at`). It must come to a block with an invalid page sooner or later.
        """
        raise NotImplementedError
