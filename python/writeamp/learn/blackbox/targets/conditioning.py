"""Preconditioning of a real target, as SNIA's PTS has it."""

from __future__ import annotations

from writeamp.drives.devices.writing import TargetPlace, seeded
from writeamp.learn.blackbox.targets import fio_job
from writeamp.runs.preconditioning import MOST_ROUNDS, is_steady

NONE, FILL, STEADY = "none", "fill", "steady"
PRECONDITIONS = (NONE, FILL, STEADY)

_FILL_BYTES = 128 << 10
_ROUND_BYTES = 4 << 10
_DEPTH = 32
# Workload-independent preconditioning writes everything twice in order.
_STEADY_FILLS = 2
# The slowest disk that a fill is waited for.
_LEAST_BYTES_S = 1e6


def precondition(place: TargetPlace, how: str, *, round_s: float, seed: int) -> list[str]:
    """Fill a target, or fill it twice and write at random until its throughput is steady.

    Steady is what SNIA's Solid State Storage Performance Test Specification 2.0.2 says: over five
    rounds all lie within 20% of their mean, and their best line moves by at most 10% of it.

    Args:
        place: the target.
        how: one of `PRECONDITIONS`.
        round_s: length of a round of random writes.
        seed: decides their draws.

    Returns:
        Why the target is not as it should be, if so: it is not steady after 25 rounds.

    Raises:
        WriteampError: fio fails.
    """
    for _ in range({NONE: 0, FILL: 1, STEADY: _STEADY_FILLS}[how]):
        _fill(place)
    return _write_until_steady(place, round_s, seed) if how == STEADY else []


def _fill(place: TargetPlace) -> None:
    options = ["--rw=write", f"--bs={_FILL_BYTES}", f"--iodepth={_DEPTH}"]
    options.append(f"--size={place.size_bytes}")
    place.run_fio(options, timeout_s=place.size_bytes / _LEAST_BYTES_S)


def _write_until_steady(place: TargetPlace, round_s: float, seed: int) -> list[str]:
    rounds: list[float] = []
    while not is_steady(rounds):
        if len(rounds) == MOST_ROUNDS:
            last = ", ".join(f"{one:.0f}" for one in rounds[-5:])
            return [
                f"{place.name} was not steady after {MOST_ROUNDS} rounds of {round_s:g} s, with "
                f"{last} IOPS in the last five; --round makes them longer"
            ]
        options = [
            "--rw=randwrite",
            f"--bs={_ROUND_BYTES}",
            f"--iodepth={_DEPTH}",
            f"--size={place.size_bytes}",
            *seeded(seed + len(rounds)),
            "--norandommap",
            "--time_based",
            f"--runtime={round(round_s * 1e3)}ms",
        ]
        report = place.run_fio(options, timeout_s=round_s)
        rounds.append(fio_job.measured(report).throughput_iops)
    return []
