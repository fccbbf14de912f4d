"""Settings of a virtual drive besides its device, and its supported policies."""

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
# Suffixes of a kept drive's files besides its data: its flash, journals (with this prefix), and
# checksums (crates/vssd/src/kept/store.rs).
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
    """Settings of a virtual drive: address, storage, and recordings."""

    title: ClassVar[str] = "drive"

    socket: str | None = setting(
        None,
        None,
        "Unix socket at which NBD clients connect; default: one in a private folder. "
        "SOCKET.control serves the counters",
        number="path",
        metavar="SOCKET",
        **_DRIVE,
    )
    backing: str | None = setting(
        None,
        None,
        "keep the drive's data in this sparse file, and the state of its flash in FILE.flash and "
        "FILE.journal-N: after a stop or kill, a start with the same options continues; default: "
        "all is in memory",
        **_PATH,
        **_DRIVE,
    )
    mount: str | None = setting(
        None,
        None,
        "mount the drive with a new file system at this folder; needs root. The file "
        "system of a kept drive is preserved",
        number="path",
        metavar="DIR",
        **_DRIVE,
    )
    fs: str | None = setting(
        None,
        OneOf(FILE_SYSTEMS),
        f"file system for --mount: {', '.join(FILE_SYSTEMS)}. On a preconditioned drive it is "
        "created without discard, which would undo the preconditioning (default ext4)",
        choices=FILE_SYSTEMS,
        **_DRIVE,
    )
    precondition: str = setting(
        "none",
        PreconditionText(),
        "initial state of a new drive, whose writes are in --counters but not in the result: none "
        "(as sold), full (each page written once, in order), random (full, then aged by random "
        "writes until WA is steady), random:N (full, then N drive writes of random writes) or "
        "aged:TRACE (full, then one pass over that trace)",
        choices=tuple(layer for layer in CHOICES if layer != "workload"),
        metavar="STATE",
        **_DRIVE,
    )
    seed: int = setting(
        1,
        Whole(0),
        "seed of all random numbers of the drive, its policies and its preconditioning",
        number="count",
        **_DRIVE,
    )
    count_from: str = setting(
        _FROM_COMMAND,
        OneOf((_FROM_START, _FROM_COMMAND)),
        "when counting begins; start: when the server starts; command: when the command of --run "
        "starts, after mkfs and mount",
        choices=(_FROM_START, _FROM_COMMAND),
        metavar="start|command",
        **_COUNTED,
    )
    record: str | None = setting(
        None,
        None,
        "write every request, from the start of the server, to this Parquet trace, "
        "which simulate replays exactly; with --mount also its process and file, for blame",
        **_PATH,
        **_COUNTED,
    )
    counters: str | None = setting(
        None,
        None,
        "write the drive's logs to this folder, refreshed once a second: smart.json, ocp.json "
        "and fdp.json in nvme-cli's format",
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
        "answer requests at the drive's speed instead of full speed",
        number="flag",
        **_TIMED,
    )
    time_scale: float | None = setting(
        None,
        _SCALE,
        "host seconds per second of the drive: 10 is ten times slower, which lets slow computers "
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
        for field in fields(self):
            value = getattr(self, field.name)
            if words_of(field).number == "path" and value is not None:
                if not isinstance(value, str | Path):
                    raise WriteampError(f"{field.name} is {shown(value)}; it must be a path")
                object.__setattr__(self, field.name, str(value))
        super().__post_init__()
        if self.fs is not None and self.mount is None:
            raise WriteampError("fs sets the file system of a mount. Set mount (--mount), too")

    @property
    def file_system(self) -> str:
        """File system for `mount`."""
        return self.fs or FILE_SYSTEMS[0]

    @property
    def is_timed(self) -> bool:
        """Whether the drive answers at the speed of its model."""
        return self.timed or self.time_scale is not None or self.rb_capture is not None

    @property
    def counts_from_start(self) -> bool:
        """Whether counting begins with the drive, including requests before the command."""
        return self.count_from == _FROM_START

    def output_files(self) -> list[str]:
        """Return the files that are written at the end of the run."""
        return [path for path in (self.record, self.rb_capture) if path is not None]

    def check_outputs(self, others: Iterable[output.AnyPath] = ()) -> None:
        """Reject output files that are equal, belong to the kept drive, or have a wrong suffix.

        Args:
            others: output files besides `output_files`.

        Raises:
            WriteampError: two outputs are the same file, one would replace the drive, or the name
                of the recording does not end in .parquet.
        """
        outputs = [*others, *self.output_files()]
        output.check_distinct(outputs)
        for path in outputs:
            if self._is_of_the_drive(path):
                raise WriteampError(
                    f"{os.fspath(path)} would replace a file of the drive in "
                    f"{self.backing}. Choose another name"
                )
        if self.record is not None and Path(self.record).suffix.lower() != _RECORDED:
            raise WriteampError(
                f"{self.record}: recordings are Parquet files. Use a name with the suffix "
                f"{_RECORDED}"
            )

    def _is_of_the_drive(self, path: output.AnyPath) -> bool:
        if self.backing is None:
            return False
        folder, name = os.path.split(os.path.abspath(self.backing))
        absolute_path = os.path.join(os.path.realpath(folder), name)
        real = os.path.realpath(path)
        others = (absolute_path + FLASH_SUFFIX, absolute_path + _JOURNALS, absolute_path + _SUMS)
        return real == os.path.realpath(self.backing) or real.startswith(others)


@dataclass(frozen=True)
class ServeSettings(Settings):
    """Command, or two commands, of `writeamp serve`, and the limit for its exit status."""

    title: ClassVar[str] = "serve"
    names_options: ClassVar[bool] = True

    run: str | None = setting(
        None,
        None,
        "run this shell command, with $uri, $unixsocket, $mountpoint and $metrics, and end after "
        "it; default: serve until Ctrl-C or SIGTERM",
        metavar="CMD",
        panel="run",
    )
    compare: tuple[str, str] | None = setting(
        None,
        None,
        "run two shell commands, each on new drives of its own, and print how their flash writes "
        "and WA differ; they get the variables of --run",
        number="pair",
        metavar="A B",
        panel="run",
    )
    replicas: int = setting(
        3,
        Whole(1),
        "runs of each command of --compare; both runs of a replica use the same seed",
        number="count",
        panel="run",
    )
    max_wa: float | None = setting(
        None,
        _MOST_WA,
        "exit with status 3 if write amplification (flash pages per host page) is above X, is not "
        "steady after the run's warm-up, or nothing was collected. Without --precondition, a new "
        "drive is then in the state random, as with --compare",
        number="number",
        metavar="X",
        panel="run",
    )


_FIELDS: dict[EngineKind, str] = {"managers": "manager", "victims": "victims"}


@dataclass(frozen=True)
class BuiltInPolicySettings(PolicySettings):
    """Policy of a virtual drive; its server does not run Python."""

    title: ClassVar[str] = "policy"

    def __post_init__(self) -> None:
        """Reject Python policies before they are imported, and check every field."""
        for kind, name in _FIELDS.items():
            value = getattr(self, name)
            if value is None or not (isinstance(value, type) or custom.is_users(kind, str(value))):
                continue
            words = value.__name__ if isinstance(value, type) else value
            raise WriteampError(
                f"{words} is written in Python, which the server of a virtual drive does not run. "
                f"Use one of {', '.join(entry.name for entry in engine_entries(kind))}"
            )
        super().__post_init__()


def served_examples(kind: EngineKind) -> tuple[str, ...]:
    """Return an example of each policy of a kind that a virtual drive supports."""
    served: Iterable[Entry] = without_hints() if kind == "managers" else engine_entries(kind)
    return tuple(entry.example for entry in served)


# Settings of `VirtualSsd`, in the order of their sections.
SERVE_KINDS = (DeviceSettings, BuiltInPolicySettings, DriveSettings)
SERVE_PLACES = places_in(SERVE_KINDS, "serve")
