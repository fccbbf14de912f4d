"""The progress bar of verbs that take long."""

from __future__ import annotations

from collections.abc import Callable

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from writeamp.cli.options import stderr


class Bar:
    """A progress bar on stderr, if that is a terminal."""

    def __init__(self, verb: str, words: Callable[[int, int], str]) -> None:
        """Make a bar for what `verb` says; `words` tells how far it is, of what is expected."""
        self._words = words
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[words]}"),
            TimeRemainingColumn(),
            console=stderr,
            transient=True,
            disable=not stderr.is_terminal,
        )
        self._task = self._progress.add_task(verb, total=None, words="")

    def __enter__(self) -> Bar:
        """Show the bar."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bar away."""
        self._progress.stop()

    def update(self, done: int, expected: int) -> None:
        """Say how far it is."""
        self._progress.update(
            self._task, completed=done, total=expected, words=self._words(done, expected)
        )
