"""Settings of `answer` beyond the settings of the drive and its load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from writeamp.errors import WriteampError
from writeamp.fields.setting import Settings, setting
from writeamp.vssd.mount import FILE_SYSTEMS


@dataclass(frozen=True)
class QuestionSettings(Settings):
    """Program as the load, counters of a real drive, and the switch `--quick`."""

    title: ClassVar[str] = "answer"
    names_options: ClassVar[bool] = True

    run: str | None = setting(
        None,
        None,
        "load: a shell command that writes to the virtual drive at $uri, $unixsocket or "
        "$mountpoint; its writes are recorded as the load of all other rows",
        metavar="CMD",
        panel="answer",
    )
    mount: str | None = setting(
        None,
        None,
        "folder where the virtual drive of --run is mounted with a file system, made if missing; "
        "needs root",
        number="path",
        metavar="DIR",
        panel="answer",
    )
    fs: str | None = setting(
        None,
        None,
        f"file system for --mount: {', '.join(FILE_SYSTEMS)} (default ext4)",
        choices=FILE_SYSTEMS,
        panel="answer",
    )
    counters: tuple[str, ...] | None = setting(
        None,
        None,
        "snapshot of a real drive's counters; one snapshot gives WA over its whole life, two (one "
        "before and one after this load) WA of the load; may be given twice",
        number="texts",
        metavar="SNAP",
        panel="answer",
    )
    model: str | None = setting(
        None,
        None,
        "model of the drive, if the snapshots do not contain it (`smartctl -x` prints it in its "
        "first lines)",
        metavar="MODEL",
        panel="answer",
    )
    quick: bool = setting(
        False,
        None,
        "after the simulation, leave out each step that would take more than ten seconds",
        number="switch",
        panel="answer",
    )

    def __post_init__(self) -> None:
        """Check every field and reject contradictions."""
        if isinstance(self.counters, str):
            object.__setattr__(self, "counters", (self.counters,))
        elif self.counters is not None:
            object.__setattr__(self, "counters", tuple(map(str, self.counters)))
        super().__post_init__()
        if self.run is not None and not self.run.strip():
            raise WriteampError("--run is empty; give a shell command")
        if self.run is None and (self.mount is not None or self.fs is not None):
            raise WriteampError("--mount and --fs need the command of --run; give --run too")
        if self.counters is not None and not 0 < len(self.counters) <= 2:
            raise WriteampError(
                f"--counters has {len(self.counters)} snapshots; give one, or one before the load "
                "and one after it"
            )
