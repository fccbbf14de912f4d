"""Captures with known operations, written in every format without the readers' own code."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Kind:
    """Operations of one kind: their class, how many, and their bell of durations."""

    of_class: str
    count: int
    mean_us: float
    sd_us: float


def durations_ns(kind: Kind, random: np.random.Generator) -> Times:
    """Draw durations as the engine does: mean + sd × the sum of four uniforms, made standard."""
    bell = (random.random((kind.count, 4)).sum(axis=1) - 2) * np.sqrt(3)
    return np.round(1000 * (kind.mean_us + kind.sd_us * bell)).astype(np.int64)


def pins(
    kinds: Sequence[Kind], names: Sequence[str], seed: int, ready_us: float = 40.0
) -> dict[str, tuple[Times, Times]]:
    """Share operations out to pins in random order: falls and rises of each, in ns from 0."""
    random = np.random.default_rng(seed)
    drawn = np.concatenate([durations_ns(kind, random) for kind in kinds])
    of_pin = random.integers(0, len(names), drawn.size)
    found = {}
    for number, name in enumerate(names):
        busy = random.permutation(drawn[of_pin == number])
        ready = np.round(1000 * (1.5 + random.exponential(ready_us, busy.size))).astype(np.int64)
        rises = np.cumsum(ready + busy)
        found[name] = (rises - busy, rises)
    return found


def _changes(
    found: dict[str, tuple[Times, Times]], step_ns: int
) -> tuple[Times, Times, npt.NDArray[np.bool_]]:
    """All changes in order: sample, pin, level; what is shorter than a step is lost."""
    samples, numbers, levels = [], [], []
    for number, (falls, rises) in enumerate(found.values()):
        fall, rise = -(-falls // step_ns), -(-rises // step_ns)
        seen = rise > fall
        samples += [fall[seen], rise[seen]]
        numbers += [np.full(2 * int(seen.sum()), number)]
        levels += [np.zeros(int(seen.sum()), bool), np.ones(int(seen.sum()), bool)]
    sample, level = np.concatenate(samples), np.concatenate(levels)
    order = np.argsort(sample, kind="stable")
    return sample[order], np.concatenate(numbers)[order], level[order]


def write_vcd(path: Path, found: dict[str, tuple[Times, Times]], step_ns: int = 100) -> None:
    """Write a VCD file as libsigrok does: all changes of a moment on one line after its time."""
    sample, number, level = _changes(found, step_ns)
    with path.open("w", encoding="ascii") as file:
        timescale = f"{step_ns} ns" if step_ns < 1000 else f"{step_ns // 1000} us"
        file.write(f"$timescale {timescale} $end\n$scope module rb $end\n")
        for index, name in enumerate(found):
            file.write(f"$var wire 1 {chr(33 + index)} {name} $end\n")
        file.write("$upscope $end\n$enddefinitions $end\n#0")
        file.write("".join(f" 1{chr(33 + index)}" for index in range(len(found))))
        last = 0
        parts = []
        for at, which, high in zip(sample.tolist(), number.tolist(), level.tolist(), strict=True):
            parts.append(
                f" {high:d}{chr(33 + which)}"
                if at == last
                else f"\n#{at} {high:d}{chr(33 + which)}"
            )
            last = at
        file.write("".join(parts))
        file.write(f"\n#{last + 10}\n")


def sampled(found: dict[str, tuple[Times, Times]], step_ns: int) -> npt.NDArray[np.uint8]:
    """Levels at every step: bit k is pin k."""
    sample, number, level = _changes(found, step_ns)
    bits = np.zeros((int(sample.max()) + 10, 8), np.uint8)
    bits[:, : len(found)] = 1
    for pin in range(len(found)):
        mine = number == pin
        marks = np.zeros(len(bits), np.int64)
        np.add.at(marks, sample[mine], np.where(level[mine], 1, -1))
        bits[:, pin] = 1 + np.cumsum(marks)
    return np.packbits(bits, axis=1, bitorder="little")[:, 0]


def write_sr(
    path: Path, found: dict[str, tuple[Times, Times]], step_ns: int = 100, chunks: int = 11
) -> None:
    """A sigrok session; with more than nine chunks, their order as text is not that of time."""
    names = "".join(f"probe{number + 1}={name}\n" for number, name in enumerate(found))
    metadata = (
        "[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\n"
        f"total probes={len(found)}\nsamplerate={1000 / step_ns:g} MHz\n{names}unitsize=1\n"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("version", "2")
        archive.writestr("metadata", metadata)
        for number, part in enumerate(np.array_split(sampled(found, step_ns), chunks)):
            archive.writestr(f"logic-1-{number + 1}", part.tobytes())


def write_sigrok_csv(path: Path, found: dict[str, tuple[Times, Times]], step_ns: int = 100) -> None:
    """A line for each sample, as sigrok-cli -O csv writes it."""
    out = io.StringIO()
    out.write("; CSV generated by libsigrok 0.5.2\n; Channels (")
    out.write(f"{len(found)}/{len(found)}): {', '.join(found)}\n")
    out.write(f"; Samplerate: {1000 / step_ns:g} MHz\n")
    out.write(",".join("logic" for _ in found) + "\n")
    for sample in sampled(found, step_ns).tolist():
        out.write(",".join(str(sample >> pin & 1) for pin in range(len(found))) + "\n")
    path.write_text(out.getvalue(), "ascii")


def write_saleae_csv(path: Path, found: dict[str, tuple[Times, Times]], step_ns: int = 100) -> None:
    """A row for each moment at which something changed, from a trigger on."""
    sample, number, level = _changes(found, step_ns)
    state = [1] * len(found)
    rows = [f"Time [s],{','.join(found)}", f"-0.000001000,{','.join('1' * len(found))}"]
    for at, which, high in zip(sample.tolist(), number.tolist(), level.tolist(), strict=True):
        state[which] = int(high)
        rows.append(f"{at * step_ns * 1e-9 - 1e-6:.9f},{','.join(map(str, state))}")
    path.write_text("\n".join(rows) + "\n", "ascii")


def write_saleae_binary(
    path: Path, found: dict[str, tuple[Times, Times]], step_ns: int = 100
) -> None:
    """A folder with a file for each pin."""
    path.mkdir()
    sample, number, _ = _changes(found, step_ns)
    end_s = (int(sample.max()) + 10) * step_ns * 1e-9
    for pin in range(len(found)):
        times = sample[number == pin] * (step_ns * 1e-9)
        head = struct.pack("<8siiIddQ", b"<SALEAE>", 0, 0, 1, 0.0, end_s, times.size)
        (path / f"digital_{pin}.bin").write_bytes(head + times.astype("<f8").tobytes())
