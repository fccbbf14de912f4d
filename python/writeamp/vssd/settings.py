"""Settings of a virtual drive besides its device, and the policies that it can work by."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar

from writeamp import custom
from writeamp.errors import WriteampError
from writeamp.fields.domains import Flag, Number, OneOf, Whole, shown
from writeamp.fields.setting import Settings, places_in, setting, words_of
from writeamp.files import output
from writeamp.registry.declarations import without_hints
from writeamp.registry.entries import EngineKind, Entry, engine_entries
from writeamp.settings.device import DeviceSettings
from writeamp.settings.precondition import CHOICES, PreconditionText
from writeamp.settings.settings import PolicySettings
from writeamp.vssd.mount import FILE_SYSTEMS

_FROM_START, _FROM_COMMAND = "start", "command"
_RECORDED = ".parquet"
# What a kept drive has beside its data: its flash, once it has been made, journals, whose names
# begin so, and checksums (crates/vssd/src/kept/store.rs).
FLASH_SUFFIX = ".flash"
_JOURNALS = ".journal-"
_SUMS = ".sums"
_SCALE = Number("be from 1e-6 to 1e9", lambda value: 1e-6 <= value <= 1e9, is_ratio=True)

_MOST_WA = Number("be at least 1", lambda value: value >= 1)

_DRIVE = {"panel": "virtual"}
_COUNTED = {"panel": "counted"}
_TIMED = {"panel": "timed"}
_PATH = {"number": "path", "metavar": "FILE"}


@dataclass(frozen=True)
class DriveSettings(Settings):
    """Settings of a virtual drive: where it is served, what it keeps, what is recorded."""

    title: ClassVar[str] = "drive"

    socket: str | None = setting(
        None,
        None,
        "Unix socket to serve at; by default one in a private folder. The counters are at "
        "SOCKET.control",
        number="path",
        metavar="SOCKET",
        **_DRIVE,
    )
    backing: str | None = setting(
        None,
        None,
        "keep the drive in this sparse file, and its flash in FILE.flash: stopped or killed and "
        "started again with the same options, it goes on; by default the data is in memory",
        **_PATH,
        **_DRIVE,
    )
    mount: str | None = setting(
        None,
        None,
        "mount the drive with a file system at this folder, which is made; needs root. The file "
        "system that a kept drive has stays",
        number="path",
        metavar="DIR",
        **_DRIVE,
    )
    fs: str | None = setting(
        None,
        OneOf(FILE_SYSTEMS),
        f"file system for --mount: {', '.join(FILE_SYSTEMS)}. On a preconditioned drive it is made "
        "without discard, or the drive would be new again (default ext4)",
        choices=FILE_SYSTEMS,
        **_DRIVE,
    )
    precondition: str = setting(
        "none",
        PreconditionText(),
        "state of a new drive before its host comes, not counted: none (as sold), full (each page "
        "written once, in order), random (full, then aged by random writes until WA is steady), "
        "random:N (by N drive writes of them) or aged:TRACE (full, then one pass over that trace)",
        choices=tuple(one for one in CHOICES if one != "workload"),
        metavar="STATE",
        **_DRIVE,
    )
    seed: int = setting(1, Whole(0), "decides every random draw", number="count", **_DRIVE)
    count_from: str = setting(
        _FROM_COMMAND,
        OneOf((_FROM_START, _FROM_COMMAND)),
        "when counting begins: with the command, after mkfs and mount, or at the start of the "
        "server",
        choices=(_FROM_START, _FROM_COMMAND),
        metavar="start|command",
        **_COUNTED,
    )
    record: str | None = setting(
        None,
        None,
        "write every request, from the start of the server, to this Parquet trace, "
        "which simulate replays exactly",
        **_PATH,
        **_COUNTED,
    )
    counters: str | None = setting(
        None,
        None,
        "keep the drive's own logs in this folder, refreshed once a second: smart.json, ocp.json "
        "and fdp.json as nvme-cli prints them",
        number="path",
        metavar="DIR",
        **_COUNTED,
    )
    metrics: str | None = setting(
        None,
        None,
        "serve Prometheus metrics at this loopback address, such as 127.0.0.1:9105, or unix:PATH",
        metavar="ADDR",
        **_COUNTED,
    )
    timed: bool = setting(
        False,
        Flag(),
        "answer requests when the drive would, instead of at full speed",
        number="flag",
        **_TIMED,
    )
    time_scale: float | None = setting(
        None,
        _SCALE,
        "seconds of the host for one of the drive: 10 is ten times slower, and lets slow computers "
        "keep up; the drive is then timed",
        number="ratio",
        **_TIMED,
    )
    rb_capture: str | None = setting(
        None,
        None,
        "write the Ready/Busy pins of all dies to this .vcd file; the drive is then timed",
        **_PATH,
        **_TIMED,
    )

    def __post_init__(self) -> None:
        """Check every field."""
        for one in fields(self):
            value = getattr(self, one.name)
            if words_of(one).number == "path" and value is not None:
                if not isinstance(value, str | Path):
                    raise WriteampError(f"{one.name} is {shown(value)}; it must be a path")
                object.__setattr__(self, one.name, str(value))
        super().__post_init__()
        if self.fs is not None and self.mount is None:
            raise WriteampError("fs says what to mount the drive with; give mount (--mount) too")

    @property
    def file_system(self) -> str:
        """The file system for `mount`."""
        return self.fs or FILE_SYSTEMS[0]

    @property
    def is_timed(self) -> bool:
        """True if the drive answers when its model would."""
        return self.timed or self.time_scale is not None or self.rb_capture is not None

    @property
    def counts_from_start(self) -> bool:
        """True if what comes before the command counts too."""
        return self.count_from == _FROM_START

    def output_files(self) -> list[str]:
        """Return the files that are written whole when the run has ended."""
        return [path for path in (self.record, self.rb_capture) if path is not None]

    def check_outputs(self, others: Iterable[output.AnyPath] = ()) -> None:
        """Refuse files to write that are one, part of the drive which is kept, or misnamed.

        Args:
            others: files that are written besides `output_files`.

        Raises:
            WriteampError: two outputs are one file, one would replace the drive, or the name of the
                recording does not end in .parquet.
        """
        outputs = [*others, *self.output_files()]
        output.check_distinct(outputs)
        for path in outputs:
            if self._is_of_the_drive(path):
                raise WriteampError(
                    f"{os.fspath(path)} would replace a file of the drive that is kept in "
                    f"{self.backing}; choose another name"
                )
        if self.record is not None and Path(self.record).suffix.lower() != _RECORDED:
            raise WriteampError(
                f"{self.record}: recordings are Parquet files; end the name in {_RECORDED}"
            )

    def _is_of_the_drive(self, path: output.AnyPath) -> bool:
        if self.backing is None:
            return False
        folder, name = os.path.split(os.path.abspath(self.backing))
        beside = os.path.join(os.path.realpath(folder), name)
        real = os.path.realpath(path)
        others = (beside + FLASH_SUFFIX, beside + _JOURNALS, beside + _SUMS)
        return real == os.path.realpath(self.backing) or real.startswith(others)


@dataclass(frozen=True)
class ServeSettings(Settings):
    """Command on a virtual drive of `writeamp serve`, and the limit of its status."""

    title: ClassVar[str] = "serve"
    names_options: ClassVar[bool] = True

    run: str | None = setting(
        None,
        None,
        "run this shell command, with $uri, $unixsocket, $mountpoint and $metrics, and end with "
        "it; without it, serve until Ctrl-C or SIGTERM",
        metavar="CMD",
        panel="run",
    )
    max_wa: float | None = setting(
        None,
        _MOST_WA,
        "exit with status 3 if write amplification (`wa`, of pages) is above this, or if nothing "
        "was written",
        number="number",
        metavar="X",
        panel="run",
    )


_FIELDS: dict[EngineKind, str] = {"managers": "manager", "victims": "victims"}


@dataclass(frozen=True)
class BuiltInPolicySettings(PolicySettings):
    """Policy of a virtual drive; its server runs no Python."""

    title: ClassVar[str] = "policy"

    def __post_init__(self) -> None:
        """Refuse what is written in Python before it is imported, and check every field."""
        for kind, name in _FIELDS.items():
            given = getattr(self, name)
            if given is None or not (isinstance(given, type) or custom.is_users(kind, str(given))):
                continue
            words = given.__name__ if isinstance(given, type) else given
            raise WriteampError(
                f"{words} is written in Python, which the server of a virtual drive does not run; "
                f"give one of {', '.join(entry.name for entry in engine_entries(kind))}"
            )
        super().__post_init__()


def served_examples(kind: EngineKind) -> tuple[str, ...]:
    """Return an example of each policy of a kind that a virtual drive can work by."""
    served: Iterable[Entry] = without_hints() if kind == "managers" else engine_entries(kind)
    return tuple(entry.example for entry in served)


# Settings of `VirtualSsd`, and where each stands.
SERVE_KINDS = (DeviceSettings, BuiltInPolicySettings, DriveSettings)
SERVE_PLACES = places_in(SERVE_KINDS, "serve")
