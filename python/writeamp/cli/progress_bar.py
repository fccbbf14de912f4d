"""Progress of verbs that take long: a bar on a terminal, and elsewhere a line a minute."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from writeamp.cli import boundary
from writeamp.cli.options import stderr

_MOMENTS_S = 30.0
_EVER_S = 1e9
# Between two lines where stderr is no terminal.
_LINE_EVERY_S = 60.0


class Bar:
    """Progress on stderr: a bar if that is a terminal, else a line a minute."""

    def __init__(
        self,
        verb: str,
        words: Callable[[int, int], str] | None = None,
        *,
        by_own_pace: bool = False,
    ) -> None:
        """Make a bar for what `verb` says.

        Args:
            verb: what is being done.
            words: tells how far it is, of what is expected; None if that is unknown.
            by_own_pace: whether the time left follows from all that is done, for parts that may
                take minutes each, and not from the last moments.
        """
        self._words = words
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[words]}"),
            TimeElapsedColumn() if words is None else TimeRemainingColumn(),
            console=stderr,
            transient=True,
            disable=not stderr.is_terminal,
            speed_estimate_period=_EVER_S if by_own_pace else _MOMENTS_S,
        )
        self._task = self._progress.add_task(verb, total=None, words="")
        self._is_over = threading.Event()

    def __enter__(self) -> Bar:
        """Show the bar."""
        self._progress.start()
        if self._progress.disable:
            threading.Thread(target=self._print_lines, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bar."""
        self._is_over.set()
        self._progress.stop()

    def update(self, done: int, expected: int) -> None:
        """Show the progress."""
        words = "" if self._words is None else self._words(done, expected)
        self._progress.update(self._task, completed=done, total=expected, words=words)

    def describe(self, verb: str) -> None:
        """Show what is being done now."""
        self._progress.update(self._task, description=verb)

    def _print_lines(self) -> None:
        began_s = time.monotonic()
        task = self._progress.tasks[0]
        while not self._is_over.wait(_LINE_EVERY_S):
            words = task.fields["words"] and f" {task.fields['words']}"
            minutes = (time.monotonic() - began_s) / 60
            boundary.say(f"progress: {task.description}{words} ({minutes:.0f} min)")


def points_in_words(done: int, expected: int) -> str:
    """Return how far a study of points is, as text of a bar."""
    return f"{done} of {expected} points"
