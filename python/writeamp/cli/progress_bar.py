"""Progress of slow subcommands: a bar on a terminal, otherwise one line per minute."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from writeamp.cli import boundary
from writeamp.cli.options import stderr

# Time in seconds over which the speed is averaged.
_RECENT_S = 30.0
_ALL_S = 1e9
# Time in seconds between two lines if stderr is not a terminal.
_LINE_EVERY_S = 60.0


class Bar:
    """Progress on stderr: a bar if stderr is a terminal, otherwise one line per minute."""

    def __init__(
        self,
        verb: str,
        words: Callable[[int, int], str] | None = None,
        *,
        has_slow_steps: bool = False,
    ) -> None:
        """Make a bar.

        Args:
            verb: the activity, such as "simulating".
            words: returns the progress as text, from the amounts done and expected. None if the
                amounts are unknown.
            has_slow_steps: whether a step may take minutes; the time left is then estimated from
                the whole run instead of the last seconds.
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
            speed_estimate_period=_ALL_S if has_slow_steps else _RECENT_S,
        )
        self._task = self._progress.add_task(verb, total=None, words="")
        self._is_over = threading.Event()

    def __enter__(self) -> Bar:
        """Show the progress bar."""
        self._progress.start()
        if self._progress.disable:
            threading.Thread(target=self._print_lines, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the progress bar."""
        self._is_over.set()
        self._progress.stop()

    def update(self, done: int, expected: int) -> None:
        """Show the progress."""
        words = "" if self._words is None else self._words(done, expected)
        self._progress.update(self._task, completed=done, total=expected, words=words)

    def describe(self, verb: str) -> None:
        """Show another activity, such as "replaying"."""
        self._progress.update(self._task, description=verb)

    def _print_lines(self) -> None:
        began_s = time.monotonic()
        task = self._progress.tasks[0]
        while not self._is_over.wait(_LINE_EVERY_S):
            words = task.fields["words"] and f" {task.fields['words']}"
            minutes = (time.monotonic() - began_s) / 60
            boundary.say(f"progress: {task.description}{words} ({minutes:.0f} min)")


def points_in_words(done: int, expected: int) -> str:
    """Return the progress of a study as text for a bar: the points done, of all points."""
    return f"{done} of {expected} points"
