"""Progress bar of verbs that take long."""

from __future__ import annotations

from collections.abc import Callable

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from writeamp.cli.options import stderr

_MOMENTS_S = 30.0
_EVER_S = 1e9


class Bar:
    """A progress bar on stderr, if that is a terminal."""

    def __init__(
        self, verb: str, words: Callable[[int, int], str], *, by_own_pace: bool = False
    ) -> None:
        """Make a bar for what `verb` says.

        Args:
            verb: what is being done.
            words: tells how far it is, of what is expected.
            by_own_pace: whether the time left follows from all that is done, for parts that may
                take minutes each, and not from the last moments.
        """
        self._words = words
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[words]}"),
            TimeRemainingColumn(),
            console=stderr,
            transient=True,
            disable=not stderr.is_terminal,
            speed_estimate_period=_EVER_S if by_own_pace else _MOMENTS_S,
        )
        self._task = self._progress.add_task(verb, total=None, words="")

    def __enter__(self) -> Bar:
        """Show the bar."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bar."""
        self._progress.stop()

    def update(self, done: int, expected: int) -> None:
        """Show the progress."""
        self._progress.update(
            self._task, completed=done, total=expected, words=self._words(done, expected)
        )
