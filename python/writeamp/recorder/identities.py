"""Identities of files: a freed inode gets a new one, as another file may use it next."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable

import numpy as np

from writeamp.recorder.extents import Allocations, Integers
from writeamp.recorder.fanotify import Deleted, Named
from writeamp.recorder.names import Names

# The first identity of an inode is its number; later ones are above all numbers of inodes.
_FIRST_NEW = 1 << 62
# Names of new files above which those of deleted ones are forgotten.
MOST_NEW_NAMES = 300_000
# A file may have ended before its name was read, at most so long before.
_LATEST_NS = 500_000_000
# A file is reported as deleted before its blocks and inode are freed, at most so long before.
_LONGEST_FREEING_NS = 10_000_000_000
_MOST_ENDED = 64
# Inodes with a later identity above which the one that ended first is forgotten.
_MOST_REUSED = 100_000


class Identities:
    """Files by inode and time, and their paths; a deleted file keeps its name."""

    def __init__(
        self, names: Names, inode_at: Callable[[str], int | None] = lambda _: None
    ) -> None:
        """Begin with the files that `names` has.

        Args:
            names: names of the files.
            inode_at: returns the inode that has a path now, or None.
        """
        self._names = names
        self._inode_at = inode_at
        self._current: dict[int, int] = {}
        self._inodes: dict[int, int] = {}
        self._next = _FIRST_NEW
        self._dead: deque[int] = deque()
        self._lives: dict[int, list[tuple[int, int]]] = {}
        # By inode: times and identities of files that ended, until their deletion is read, too.
        # Names that are read until then may be theirs.
        self._ended: dict[int, list[tuple[int, int]]] = {}
        # By inode: number of deletions that are read before the end, and the time of the last.
        self._deleted: dict[int, tuple[int, int]] = {}
        self._early: list[tuple[int, Named | Deleted]] = []
        self.has_all_names = True
        """Whether no name had to be left out."""

    def advance(
        self,
        freed_ns: Integers,
        freed: Integers,
        changes: Iterable[tuple[int, Named | Deleted]],
        until_ns: int | None,
    ) -> None:
        """Apply what happened since the last call.

        Args:
            freed_ns, freed: times at which inodes were freed, and the inodes, shape (n,).
            changes: names that files got and files that were deleted, in their order, each with the
                time at which it was read, which is a little later.
            until_ns: time before which all freed inodes are given; None if all are.
        """
        self._lives = {}
        deaths = zip(freed_ns.tolist(), freed.tolist(), strict=True)
        steps: list[tuple[int, int, int | Named | Deleted]] = [(at, 0, it) for at, it in deaths]
        steps += [(at, 1, change) for at, change in (*self._early, *changes)]
        self._early = []
        waiting: set[int] = set()
        for time_ns, _, it in sorted(steps, key=lambda step: step[:2]):
            if isinstance(it, int):
                self._end(it, time_ns)
            elif it.inode in waiting:
                self._early.append((time_ns, it))
            elif isinstance(it, Deleted):
                self._delete(it.inode, time_ns)
            elif not self._name(it, time_ns, until_ns):
                waiting.add(it.inode)
                self._early.append((time_ns, it))
        self._forget_older((until_ns or 0) - _LATEST_NS)
        while len(self._current) > _MOST_REUSED:
            self._forget_oldest()

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
        inode = identity if identity < _FIRST_NEW else self._inodes.get(identity)
        return inode if inode is not None and self._now(inode) == identity else None

    def _now(self, inode: int) -> int:
        return self._current.get(inode, inode)

    def _end(self, inode: int, time_ns: int) -> None:
        previous = self._now(inode)
        self._lives.setdefault(inode, [(0, previous)]).append((time_ns, self._next))
        self._inodes.pop(previous, None)
        self._current.pop(inode, None)  # so that the order is that of the ends
        self._current[inode], self._inodes[self._next] = self._next, inode
        self._next += 1
        if self._names.is_new(previous):
            self._dead.append(previous)
        deletions, last_ns = self._deleted.pop(inode, (0, 0))
        if deletions > 1:
            self._deleted[inode] = (deletions - 1, last_ns)
        if not deletions:
            ended = self._ended.setdefault(inode, [])
            ended.append((time_ns, previous))
            del ended[:-_MOST_ENDED]

    def _delete(self, inode: int, time_ns: int) -> None:
        """Let names of an inode that are read later belong to its next file."""
        ended = self._ended.get(inode)
        if ended is None:
            deletions, _ = self._deleted.pop(inode, (0, 0))  # so that the last one comes last
            self._deleted[inode] = (deletions + 1, time_ns)
        elif len(ended) > 1:
            ended.pop(0)
        else:
            del self._ended[inode]

    def _forget_older(self, oldest_ns: int) -> None:
        """Forget ends without a deletion, and deletions without an end, before a time."""
        self._ended = {
            inode: ended for inode, ended in self._ended.items() if ended[-1][0] >= oldest_ns
        }
        while self._deleted:
            inode, (_, last_ns) = next(iter(self._deleted.items()))
            if last_ns >= oldest_ns - _LONGEST_FREEING_NS:
                return
            del self._deleted[inode]

    def _forget_oldest(self) -> None:
        """Let the inode that ended first have its number as identity again, with its name."""
        inode, identity = next(iter(self._current.items()))
        del self._current[inode], self._inodes[identity]
        entry = self._names.entry(identity)
        if entry is not None:
            self._dead.append(identity)
            self._set_name(inode, *entry)

    def _name(self, named: Named, time_ns: int, until_ns: int | None) -> bool:
        """Name a file; return whether it is clear which of the files that an inode had."""
        for ended_ns, identity in self._ended.get(named.inode, []) if named.is_new else []:
            if ended_ns >= time_ns - _LATEST_NS and not self._names.has(identity):
                self._set_name(identity, named.folder, named.name)
                return True
        identity = self._now(named.inode)
        has_name = self._names.has(identity)
        if not named.is_new and identity >= _FIRST_NEW and not has_name:
            return True  # a late rename of the deleted file, and the next one is not made yet
        # The file may be the next of the inode, if its end is not read yet.
        may_be_next = has_name or named.inode in self._deleted
        if until_ns is not None and time_ns >= until_ns and may_be_next:
            return False
        if named.is_new and has_name and self._inode_at(self.path(identity) or "") == named.inode:
            return True  # a hard link; the first name is still there
        self._set_name(identity, named.folder, named.name)
        return True

    def _set_name(self, identity: int, folder: int, name: bytes) -> None:
        while self._dead and self._names.new_names >= MOST_NEW_NAMES:
            dead = self._dead.popleft()
            if self.inode(dead) is None:  # its inode may have its first identity again
                self._names.forget(dead)
        if self._names.new_names >= MOST_NEW_NAMES:
            self.has_all_names = False
            return
        self._names.change(identity, folder, name)


def _alive(lives: list[tuple[int, int]], time_ns: int) -> int:
    """Return the identity that an inode had at a time."""
    return lives[bisect_right(lives, time_ns, key=lambda life: life[0]) - 1][1]
