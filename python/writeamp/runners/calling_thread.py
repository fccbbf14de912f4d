"""Runner on the calling thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from writeamp.runners.runner import J, Lost, T


class Here:
    """Runs one job after the other, in their order, on the calling thread."""

    def results(
        self,
        work: Callable[[J], T],
        jobs: Sequence[J],
        *,
        lost: Lost[J, T] | None = None,
        files: Collection[str] = (),
    ) -> Iterator[tuple[int, T]]:
        """Give each index with its result."""
        for at, job in enumerate(jobs):
            yield at, work(job)
