"""Identities of files: a freed inode gets a new one, as another file may use it next."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable

import numpy as np

from writeamp.recorder.extents import Allocations, Integers
from writeamp.recorder.fanotify import Named
from writeamp.recorder.names import Names

# The first identity of an inode is its number; later ones are above all numbers of inodes.
_FIRST_NEW = 1 << 62
# Names of new files above which those of deleted ones are forgotten.
MOST_NEW_NAMES = 300_000
# A file may have ended before its name was read, at most so long before.
_LATEST_NS = 500_000_000
_MOST_UNNAMED = 64


class Identities:
    """Files by inode and time, and their paths; a deleted file keeps its name."""

    def __init__(self, names: Names) -> None:
        """Begin with the files that `names` has."""
        self._names = names
        self._current: dict[int, int] = {}
        self._inodes: dict[int, int] = {}
        self._next = _FIRST_NEW
        self._dead: deque[int] = deque()
        self._lives: dict[int, list[tuple[int, int]]] = {}
        self._unnamed: dict[int, deque[tuple[int, int]]] = {}
        self._early: list[tuple[int, Named]] = []
        self.has_all_names = True
        """Whether no name had to be left out."""

    def advance(
        self,
        freed_ns: Integers,
        freed: Integers,
        named: Iterable[tuple[int, Named]],
        until_ns: int | None,
    ) -> None:
        """Apply what happened since the last call.

        Args:
            freed_ns, freed: times at which inodes were freed, and the inodes, shape (n,).
            named: names that files got, each with the time at which it was read, which is a little
                later.
            until_ns: time before which all freed inodes are given; None if all are.
        """
        self._lives = {}
        deaths = zip(freed_ns.tolist(), freed.tolist(), strict=True)
        steps: list[tuple[int, int, int | Named]] = [(at, 0, inode) for at, inode in deaths]
        steps += [(at, 1, name) for at, name in (*self._early, *named)]
        self._early = []
        for time_ns, _, it in sorted(steps, key=lambda step: step[:2]):
            if not isinstance(it, Named):
                self._end(it, time_ns)
            elif not self._name(it, time_ns, until_ns):
                self._early.append((time_ns, it))

    def owners(self, allocations: Allocations) -> Allocations:
        """Return allocations to inodes as allocations to identities, at their times."""
        inodes, codes = np.unique(allocations.owner, return_inverse=True)
        now = np.array([self._now(inode) for inode in inodes.tolist()], np.int64)
        owner = now[codes]
        for place, inode in enumerate(inodes.tolist()):
            lives = self._lives.get(inode)
            if lives is not None:
                at = np.flatnonzero(codes == place)
                owner[at] = [_alive(lives, int(time)) for time in allocations.time_ns[at]]
        return Allocations(allocations.time_ns, allocations.first, allocations.end, owner)

    def path(self, identity: int) -> str | None:
        """Return the path of a file below the mount point, or None if it is not known."""
        return self._names.path(identity, self._now)

    def inode(self, identity: int) -> int | None:
        """Return the inode that a file has; None if it was deleted."""
        inode = self._inodes.get(identity, identity)
        return inode if self._now(inode) == identity else None

    def _now(self, inode: int) -> int:
        return self._current.get(inode, inode)

    def _end(self, inode: int, time_ns: int) -> None:
        previous = self._now(inode)
        self._lives.setdefault(inode, [(0, previous)]).append((time_ns, self._next))
        self._inodes.pop(previous, None)
        self._current[inode], self._inodes[self._next] = self._next, inode
        self._next += 1
        self._dead.append(previous)
        if not self._names.has(previous):
            self._unnamed.setdefault(inode, deque(maxlen=_MOST_UNNAMED)).append((time_ns, previous))

    def _name(self, named: Named, time_ns: int, until_ns: int | None) -> bool:
        """Name a file; return whether it is clear which of the files that an inode had."""
        unnamed = self._unnamed.get(named.inode, deque()) if named.is_new else deque()
        while unnamed:
            ended_ns, identity = unnamed.popleft()
            if ended_ns >= time_ns - _LATEST_NS:
                self._set_name(identity, named)
                return True
        identity = self._now(named.inode)
        if not named.is_new and identity >= _FIRST_NEW and not self._names.has(identity):
            return True  # a late rename of the deleted file, and the next one is not made yet
        # The file may be the next of the inode, if its end is not read yet.
        if until_ns is not None and time_ns >= until_ns and self._names.has(identity):
            return False
        self._set_name(identity, named)
        return True

    def _set_name(self, identity: int, named: Named) -> None:
        while self._dead and self._names.new_names >= MOST_NEW_NAMES:
            self._names.forget(self._dead.popleft())
        if self._names.new_names >= MOST_NEW_NAMES:
            self.has_all_names = False
            return
        self._names.change(identity, named.folder, named.name)


def _alive(lives: list[tuple[int, int]], time_ns: int) -> int:
    """Return the identity that an inode had at a time."""
    return lives[bisect_right(lives, time_ns, key=lambda life: life[0]) - 1][1]
