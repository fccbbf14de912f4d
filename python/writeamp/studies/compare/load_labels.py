"""Names of loads that stand side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath


def load_labels(paths: Sequence[str]) -> tuple[str, ...]:
    """Return the last parts of paths, as many as tell them apart; equal ones are numbered.

    >>> load_labels(["monday/disk.csv", "tuesday/disk.csv", "log.csv"])
    ('monday/disk.csv', 'tuesday/disk.csv', 'log.csv')
    >>> load_labels(["trace", "trace"])
    ('trace (1)', 'trace (2)')
    """
    parts = [PurePath(path).parts or (path,) for path in paths]
    shown = [1] * len(parts)
    while True:
        names = [_ends(one, count) for one, count in zip(parts, shown, strict=True)]
        often = Counter(names)
        longer = [
            at for at, name in enumerate(names) if often[name] > 1 and shown[at] < len(parts[at])
        ]
        if not longer:
            return _numbered(names)
        for at in longer:
            shown[at] += 1


def _ends(parts: tuple[str, ...], count: int) -> str:
    return str(PurePath(*parts[-count:]))


def _numbered(names: Sequence[str]) -> tuple[str, ...]:
    often, before = Counter(names), Counter[str]()
    found = []
    for name in names:
        before[name] += 1
        found.append(f"{name} ({before[name]})" if often[name] > 1 else name)
    return tuple(found)
