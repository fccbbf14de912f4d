"""Two commands on equal virtual drives, in turn, with replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from writeamp.errors import WriteampError
from writeamp.runs.seeds import replica_seed
from writeamp.settings.device import DeviceSettings
from writeamp.vssd.drive import Drive
from writeamp.vssd.result import ServeResult
from writeamp.vssd.session import serve
from writeamp.vssd.settings import BuiltInPolicySettings, DriveSettings
from writeamp.vssd.specification import Specification, specify

SIDES = ("A", "B")
# Outputs and states of one drive, which a second drive would overwrite or continue.
_OF_ONE_DRIVE = ("backing", "record", "rb_capture", "counters")


@dataclass(frozen=True)
class PairRun:
    """Run of one of two commands: its side "A" or "B", the index of its replica, its drive."""

    side: str
    replica: int
    command: str
    specification: Specification


def runs_of_pairs(
    device: DeviceSettings,
    policy: BuiltInPolicySettings,
    drive: DriveSettings,
    commands: tuple[str, str],
    replicas: int,
) -> list[PairRun]:
    """Return the runs of two commands in their order.

    Both runs of a replica use the same seed, and so the same preconditioned drive. The replicas
    begin with A and B in turn, so that a change of the machine affects both.

    Raises:
        WriteampError: a command is empty, or a setting is for one drive only.
    """
    for side, command in zip(SIDES, commands, strict=True):
        if not command.strip():
            raise WriteampError(f"command {side} is empty; give two shell commands")
    for name in _OF_ONE_DRIVE:
        if getattr(drive, name) is not None:
            raise WriteampError(
                f"{name} is for one drive, but two commands are compared on a new drive each; "
                "leave it out"
            )
    runs = []
    for replica in range(replicas):
        seed = replica_seed(drive.seed, replica)
        specification = specify(device, policy, replace(drive, seed=seed))
        pair = [
            PairRun(side, replica, command, specification)
            for side, command in zip(SIDES, commands, strict=True)
        ]
        runs += pair if replica % 2 == 0 else pair[::-1]
    return runs


def run_pairs(
    runs: list[PairRun],
    *,
    stdout: int,
    started: Callable[[PairRun, Drive], None] = lambda _run, _drive: None,
    tick: Callable[[PairRun], Callable[[], None]] = lambda _: lambda: None,
) -> Iterator[tuple[PairRun, ServeResult]]:
    """Run commands one after another, each on a new drive, and yield their results.

    Args:
        runs: the runs, in order.
        stdout: file descriptor for the commands' output.
        started: called when the drive of a run serves.
        tick: returns a function that is called periodically while the drive of a run is aged.

    Raises:
        WriteampError: a drive could not be built, or lost data; the message names the command.
        KeyboardInterrupt: a signal was received before a drive served.
    """
    for run in runs:
        result = serve(
            run.specification,
            run=run.command,
            stdout=stdout,
            started=lambda drive, run=run: started(run, drive),  # type: ignore[misc]
            tick=tick(run),
        )
        if result.failures:
            raise WriteampError(f"command {run.side}: {result.failures[0]}")
        yield run, result
