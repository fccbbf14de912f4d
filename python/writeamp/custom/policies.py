"""Base classes of users' policies, `Placement` and `VictimPolicy` (docs/your-own.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from writeamp.fields.old_names import DECLARATIONS, by_better_names

if TYPE_CHECKING:
    import numpy.typing as npt

    from writeamp._engine import Candidates, Victim

# Invalidation time of a page whose next write is unknown: the largest signed 64-bit clock.
NEVER = 2**63 - 1


@dataclass(frozen=True)
class DriveFacts:
    """Values of a drive for the constructor of its policy.

    `seed` is the seed of the run. A policy that draws random numbers should create its
    `numpy.random.default_rng` from it, so that runs are reproducible.
    """

    logical_pages: int
    blocks: int
    pages_per_block: int
    seed: int


class Placement:
    """Placement of pages: chooses a stream, and thereby a write frontier, for each page.

    Derive a class that defines `on_write` and `on_migrate`. Its state must be in its attributes,
    which are saved with a run. Its parameters are the arguments of its constructor after the drive:
    `Mine:groups=3` calls `Mine(drive, groups=3)`.

    Clocks are numbers of host pages written so far. Hooks are called in the order of events. A
    class may also define these:

    - `on_collect(victim)`: a block was chosen; its valid pages are migrated next;
    - `on_trim(page)`: the host trimmed a page, so its data is invalid;
    - `on_migrate_all(pages, victim)` instead of `on_migrate`: gets all valid pages of a victim as
      an array of int64, and returns an array or list of their streams;
    - `save()` and `restore(saved)`, if the state is not only in attributes.

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
    """Number of streams, 1 to 256; streams are numbered from 0. The constructor may set it."""

    migration_streams: Iterable[int] | None = None
    """Streams that `on_migrate` may return; by default all. Each except one reserves a block of
    spare space."""

    victims: Any = "greedy"
    """Default victim policy."""

    required_hints: ClassVar[str] = "nothing"
    """Required hint of the host on each page, the third argument of `on_write`: "groups" (number of
    the page's group, by update frequency) or "invalidation_times" (clock at which the page becomes
    invalid, `NEVER` if unknown)."""

    is_compiled: ClassVar[bool] = False
    """True to compile the class if Numba is installed; `writeamp.compiled` sets it."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        """Accept declarations by their older names."""
        super().__init_subclass__(**arguments)
        declared = by_better_names(vars(cls), DECLARATIONS)
        for name in DECLARATIONS.keys() & declared.keys():
            setattr(cls, name, declared[name])

    def __init__(self, drive: DriveFacts) -> None:
        """Initialize for a drive; derived classes have their parameters after the drive."""

    def on_write(self, page: int, now: int) -> int:
        """Return the stream of a page that the host writes; `now` is the clock."""
        raise NotImplementedError

    def on_migrate(self, page: int, victim: Victim) -> int:
        """Return the stream of a page that garbage collection moves.

        The victim has the `stream` for which its block was opened, the clock at which it was
        `opened`, and `now`.
        """
        raise NotImplementedError


class VictimPolicy:
    """Victim policy: chooses the block that is collected next.

    Derive a class that defines `choose`. Parameters, state, `save` and `restore` are as in
    `Placement`. In layouts where LUNs collect separately (striped-per-lun and static), one policy
    object serves all LUNs, and each call has the candidates of one LUN.

    >>> import numpy as np
    >>> import writeamp as wa
    >>> class Emptiest(wa.VictimPolicy):
    ...     def choose(self, candidates, now):
    ...         return np.argmax(candidates.invalid_pages)
    """

    def __init__(self, drive: DriveFacts) -> None:
        """Initialize for a drive; derived classes have their parameters after the drive."""

    def choose(self, candidates: Candidates, now: int) -> int | npt.NDArray[Any]:
        """Return the index of the victim among the candidates; `now` is the clock.

        The candidates are the closed blocks, at least one, in the order of closing. Their
        attributes are arrays of int64 of the same length: the number of each `block`, its
        `invalid_pages`, and the clocks at which it was `closed_at` and `changed_at`, when it closed
        or last had a page invalidated. Repeated calls must eventually choose a block with invalid
        pages.
        """
        raise NotImplementedError
