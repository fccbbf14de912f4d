"""Progress of slow subcommands: a bar on a terminal, otherwise one line per minute."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from writeamp.cli import boundary
from writeamp.cli.options import stderr
from writeamp.runners.estimates import listening_to_estimates

if TYPE_CHECKING:
    from rich.progress import Task, TaskID

# Time in seconds over which the speed is averaged.
_RECENT_S = 30.0
_ALL_S = 1e9
# Time in seconds before the first line and between two lines if stderr is not a terminal.
_FIRST_LINE_AFTER_S = 20.0
_LINE_EVERY_S = 60.0


class Clock:
    """Clock of the lines; tests replace it."""

    def now_s(self) -> float:
        """Return the time in seconds since any moment."""
        return time.monotonic()

    def wait(self, end: threading.Event, seconds: float) -> bool:
        """Wait until the event or for a time; return whether the event has happened."""
        return end.wait(seconds)


class Bar:
    """Progress on stderr: a bar if stderr is a terminal, otherwise one line per minute."""

    def __init__(
        self,
        verb: str,
        words: Callable[[int, int], str] | None = None,
        *,
        has_slow_steps: bool = False,
        clock: Clock | None = None,
    ) -> None:
        """Make a bar.

        Args:
            verb: the activity, such as "simulating".
            words: returns the progress as text, from the amounts done and expected. None if the
                amounts are unknown.
            has_slow_steps: whether a step may take minutes; the time left is then estimated from
                the whole run instead of the last seconds.
            clock: clock of the lines and of the estimate; by default the system's.
        """
        from rich.progress import (  # noqa: PLC0415 (slow; not needed for help)
            BarColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._words = words
        self._clock = clock or Clock()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[words]}"),
            TextColumn("{task.fields[estimate]}"),
            TimeElapsedColumn() if words is None else TimeRemainingColumn(),
            console=stderr,
            transient=True,
            disable=not stderr.is_terminal,
            speed_estimate_period=_ALL_S if has_slow_steps else _RECENT_S,
            get_time=self._clock.now_s,
        )
        self._task = self._added(verb)
        self._is_over = threading.Event()
        self._listening = ExitStack()

    def __enter__(self) -> Bar:
        """Show the progress bar."""
        self._progress.start()
        self._listening.enter_context(listening_to_estimates(self._show_estimate))
        if self._progress.disable:
            threading.Thread(target=self._print_lines, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the progress bar."""
        self._is_over.set()
        self._listening.close()
        self._progress.stop()

    def update(self, done: int, expected: int) -> None:
        """Show the progress."""
        words = "" if self._words is None else self._words(done, expected)
        self._progress.update(self._task, completed=done, total=expected or None, words=words)

    def describe(self, verb: str) -> None:
        """Show another activity, such as "replaying", whose amounts are not known yet."""
        previous, self._task = self._task, self._added(verb)
        self._progress.remove_task(previous)

    def _added(self, verb: str) -> TaskID:
        return self._progress.add_task(verb, total=None, words="", estimate="")

    def _show_estimate(self, estimate: str) -> None:
        self._progress.update(self._task, estimate=estimate)

    def _print_lines(self) -> None:
        began_s = self._clock.now_s()
        pause_s = _FIRST_LINE_AFTER_S
        while not self._clock.wait(self._is_over, pause_s):
            boundary.say(f"progress: {self._line(self._clock.now_s() - began_s)}")
            pause_s = _LINE_EVERY_S

    def _line(self, elapsed_s: float) -> str:
        """Return activity, count, estimate, time so far and time left as one line."""
        task = self._progress.tasks[-1]
        parts = [f"{task.description} {task.fields['words']}".rstrip(), task.fields["estimate"]]
        parts.append(f"{duration(elapsed_s)} so far")
        if left_s := _left_s(task):
            parts.append(f"about {duration(left_s)} left")
        return ", ".join(filter(None, parts))


def _left_s(task: Task) -> float | None:
    """Return the estimated time left in seconds; None if nothing is done, 0 at the end."""
    # The recent speed is unknown before the second step, and after the total has changed.
    if task.time_remaining is None and task.total and task.completed and task.elapsed:
        return task.elapsed * (task.total - task.completed) / task.completed
    return task.time_remaining


def duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours.

    >>> duration(20), duration(140), duration(7300)
    ('20 s', '2 min', '2.0 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def points_in_words(done: int, expected: int) -> str:
    """Return the progress of a study as text for a bar: the points done, of all points."""
    return f"{done} of {expected} points"
