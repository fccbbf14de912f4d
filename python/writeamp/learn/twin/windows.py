"""Windows of a chain of workloads, in which WA is measured from counters, and their file."""

from __future__ import annotations

import hashlib
import io
import json
import math
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from writeamp.errors import WriteampError
from writeamp.files import inputs, output
from writeamp.files.tables import read_csv, read_parquet
from writeamp.learn.twin.chain import Chain
from writeamp.learn.twin.families import FAMILIES
from writeamp.learn.twin.serving import LEAST_SEQUENTIAL, MOST_SEQUENTIAL, check_not_compressed

if TYPE_CHECKING:
    import polars as pl

_FILL = -1
# Largest size of a file of windows, in bytes; a window takes some tens of bytes.
MOST_BYTES = 64 << 20
# Allowed relative difference of a window's host bytes from the plan, since fio and counters round.
_TOLERANCE = 0.05
# A window with less than this share of its host bytes lacks a part; parts have at least a quarter.
_WHOLE_FROM = 0.85
# Least number of parts that a window must have in one run for an estimate of its noise.
_FEWEST_PARTS = 3

# Relative error of predictions for a drive whose family is missing from the table, if its windows
# fit. Measured with families removed from the table (benches/results/2026-11-26-twin.md).
_MODEL_ERROR = 0.04


@dataclass(frozen=True)
class Windows:
    """Host and flash bytes of each part of each window, one repeat of the chain after another.

    All arrays have the shape (parts,). `window` is -1 for the sequential fill, and otherwise counts
    from 0. The windows contain no information about the drive except the chain and these bytes.
    """

    chain: Chain
    repeat: npt.NDArray[np.int64]
    window: npt.NDArray[np.int64]
    host_bytes: npt.NDArray[np.float64]
    flash_bytes: npt.NDArray[np.float64]

    model_error = _MODEL_ERROR
    families = FAMILIES
    notes = ()

    @property
    def served(self) -> Chain:
        """The chain."""
        return self.chain

    @property
    def logical_pages(self) -> int:
        """Number of pages that the host sees."""
        return self.chain.logical_pages

    def erase_unit(
        self, fitted: tuple[float, float, float], op: float
    ) -> tuple[float, float, float] | str:
        """Return the fitted erase unit; see `Measured`."""
        del op
        return fitted

    def records(self) -> list[dict[str, Any]]:
        """Return phase, workload, end and WA of each measured window."""
        return [
            {
                "window": window.window + 1,
                "phase": window.phase + 1,
                "workload": self.chain.phases[window.phase].workload,
                "drive_writes": window.end_pages / 10**6,
                "wa": float(wa),
            }
            for window in self.chain.parts(10**6, fine=False)
            if not math.isnan(wa := self.wa[window.window])
        ]

    def facts(self) -> dict[str, Any]:
        """Return no further tables."""
        return {}

    @property
    def wa(self) -> npt.NDArray[np.float64]:
        """WA of each window, all repeats together; NaN if not measured.

        It is divided by the WA of the sequential fill, if that is above 1.
        """
        flash, host = self._of_windows(self.flash_bytes), self._of_windows(self.host_bytes)
        with np.errstate(invalid="ignore"):
            return flash / host / max(1.0, self.sequential_factor)

    @property
    def sequential_factor(self) -> float:
        """WA of the sequential fill, from parity and metadata; 1 if not measured."""
        is_fill = self.window == _FILL
        host = self.host_bytes[is_fill].sum()
        return float(self.flash_bytes[is_fill].sum() / host) if host else 1.0

    @property
    def is_repeated(self) -> bool:
        """True if the chain was run more than once."""
        return np.unique(self.repeat).size > 1

    @property
    def noise(self) -> float | None:
        """Relative standard deviation of a window's WA, from its repeats or its parts; or None.

        With repeats, it is that of the mean over the repeats. It is None without repeats if no
        window has three parts.
        """
        repeats, parts = self._scatter_of_repeats(), self._scatter_of_parts()
        if repeats:
            return math.sqrt(float(np.mean(np.square(repeats))))
        # Without repeats, the median over windows is used, because the WA of some drives oscillates
        # within some windows.
        return float(np.median(parts)) if parts else None

    def check(self) -> None:
        """Reject windows that no candidate can produce.

        Raises:
            WriteampError: the flash wrote less than the host, or far more than the host during the
                fill.
        """
        if not LEAST_SEQUENTIAL <= self.sequential_factor <= MOST_SEQUENTIAL:
            raise WriteampError(
                f"the sequential fill has a write amplification of {self.sequential_factor:.3f}; "
                f"parity and metadata give 1 to {MOST_SEQUENTIAL}. A higher value comes from "
                "emptying an SLC cache, a lower one from a wrong counter; a twin cannot be fitted"
            )
        check_not_compressed(self.wa, lambda window: f"window {window + 1}")

    def frame(self) -> pl.DataFrame:
        """Return the windows as a table, a row for each part."""
        import polars as pl  # noqa: PLC0415 (slow)

        return pl.DataFrame(
            {
                "repeat": self.repeat,
                "window": self.window,
                "host_bytes": self.host_bytes,
                "flash_bytes": self.flash_bytes,
                "chain": [json.dumps(self.chain.tables())] * len(self.window),
            }
        )

    def write(self, path: str | Path, more: Mapping[str, pl.Expr] | None = None) -> None:
        """Write a Parquet file; `more` adds columns, as Polars expressions by name."""
        content = io.BytesIO()
        self.frame().with_columns(**(more or {})).write_parquet(content)
        with output.replacing(path, "windows") as file:
            file.write(content.getvalue())

    def _of_windows(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        is_chain = self.window != _FILL
        counts = self.chain.windows
        return np.bincount(self.window[is_chain], values[is_chain], counts).astype(float)

    def _scatter_of_parts(self) -> list[float]:
        """Return each window's noise from second differences of its parts, which ignore trends."""
        noises = []
        log_wa = np.log(self.flash_bytes / self.host_bytes)
        for repeat in np.unique(self.repeat):
            for window in range(self.chain.windows):
                own = log_wa[(self.repeat == repeat) & (self.window == window)]
                if own.size >= _FEWEST_PARTS:
                    of_part = np.sqrt(np.mean(np.diff(own, 2) ** 2) / 6)
                    noises.append(float(of_part / math.sqrt(own.size)))
        return noises

    def _scatter_of_repeats(self) -> list[float]:
        repeats = np.unique(self.repeat)
        if repeats.size < 2:
            return []
        log_wa = []
        for repeat in repeats:
            own = (self.repeat == repeat) & (self.window != _FILL)
            sums = [
                np.bincount(self.window[own], of[own], minlength=self.chain.windows)
                for of in (self.flash_bytes, self.host_bytes)
            ]
            log_wa.append(np.log(sums[0] / sums[1]))
        # The fit uses the mean of the repeats, so the noise is that of the mean.
        return list(np.std(log_wa, axis=0, ddof=1) / math.sqrt(repeats.size))


def windows_of(chain: Chain, rows: Sequence[tuple[int, int, float, float]]) -> Windows:
    """Return windows from rows: repeat, window (-1 for the fill), host bytes and flash bytes."""
    columns = np.array(rows, dtype=float).reshape(-1, 4).T
    return Windows(chain, columns[0].astype(int), columns[1].astype(int), columns[2], columns[3])


def read_windows(path: str | Path) -> Windows:
    """Return the windows in a file of `twin measure`.

    Returns:
        `Windows`: `wa` of each window, `noise`, `chain`.

    Raises:
        WriteampError: the file cannot be read, or does not hold the windows of a whole chain.
    """
    import polars as pl  # noqa: PLC0415 (slow)

    refused = f"{path} is not a file of windows; make one with `writeamp twin measure --out`"
    try:
        frame = read_parquet(inputs.read_bytes(path, MOST_BYTES, "file of windows"))
        chain = Chain.from_tables(json.loads(frame["chain"][0]), str(path))
        columns = [frame[name].to_numpy() for name in ("repeat", "window")]
        amounts = [
            frame[name].cast(pl.Float64).to_numpy() for name in ("host_bytes", "flash_bytes")
        ]
    except OSError as error:
        raise WriteampError(f"cannot read windows {path}: {error.strerror or error}") from None
    except (pl.exceptions.PolarsError, KeyError, IndexError, TypeError, ValueError) as error:
        if isinstance(error, WriteampError):
            raise
        raise WriteampError(refused) from None
    windows = Windows(chain, columns[0].astype(int), columns[1].astype(int), *amounts)
    _check_whole(windows, str(path))
    return windows


def windows_of_csv(path: str | Path, chain: Chain | None, make: Any) -> Windows:
    """Return the windows of a CSV file with the columns host_bytes and flash_bytes.

    Args:
        path: the file, with a line for each window in order. A line for the sequential fill may
            come first. The lines of further repeats of the chain may follow.
        chain: the chain of the plan; None for the usual chain, whose capacity is then the first
            line's host bytes.
        make: function from the capacity in bytes to the usual chain.

    Raises:
        WriteampError: the file has other columns, or other windows than the plan.
    """
    import polars as pl  # noqa: PLC0415 (slow)

    try:
        frame = read_csv(inputs.read_bytes(path, MOST_BYTES, "file of windows"))
        host, flash = (
            frame[name].cast(pl.Float64).to_numpy() for name in ("host_bytes", "flash_bytes")
        )
    except OSError as error:
        raise WriteampError(f"cannot read windows {path}: {error.strerror or error}") from None
    except pl.exceptions.PolarsError:
        raise WriteampError(
            f"{path} must have the columns host_bytes and flash_bytes, with numbers in a line for "
            "each window"
        ) from None
    if not host.size or not np.all(np.isfinite(host) & np.isfinite(flash) & (host > 0)):
        raise WriteampError(
            f"{path}: host_bytes and flash_bytes must be numbers in every line, and host_bytes "
            "above 0"
        )
    chain = chain or make(int(host[0]))
    spans = _spans(chain)
    for begins in (0, 1):
        expected = np.array(spans[begins:])
        repeats, rest = divmod(host.size, expected.size)
        if not rest and np.all(np.abs(host.reshape(-1, expected.size) / expected - 1) < _TOLERANCE):
            numbers = np.tile(np.arange(begins, len(spans)) - 1, repeats)
            repeat = np.repeat(np.arange(repeats), expected.size)
            windows = Windows(chain, repeat, numbers, host, flash)
            _check_whole(windows, str(path))
            return windows
    hint = "; give the increase in each window, not the counters" if _rises(host) else ""
    raise WriteampError(
        f"{path} has {host.size} lines with {host[0]:.4g}, … {host[-1]:.4g} host bytes; the plan "
        f"needs {len(spans)} lines (the fill, then each window) with about "
        f"{', '.join(f'{span:.4g}' for span in spans)} host bytes{hint}"
    )


def _spans(chain: Chain) -> list[float]:
    """Return host bytes of the fill and of each window."""
    pages = chain.logical_pages
    ends = [0, *(window.end_pages for window in chain.parts(pages, fine=False))]
    return [pages * chain.page_bytes, *(np.diff(ends) * chain.page_bytes).astype(float)]


def _rises(host: npt.NDArray[np.float64]) -> bool:
    return host.size > 2 and bool(np.all(np.diff(host) > 0))


def _check_whole(windows: Windows, where: str) -> None:
    expected = np.array(_spans(windows.chain)[1:])
    for repeat in np.unique(windows.repeat):
        own = (windows.repeat == repeat) & (windows.window != _FILL)
        host = np.bincount(windows.window[own], windows.host_bytes[own], expected.size)
        # Each window may have several parts, of which the last may be missing.
        missing = (np.flatnonzero(host < _WHOLE_FROM * expected) + 1).tolist()
        if missing:
            raise WriteampError(
                f"{where} lacks windows {missing} of {expected.size}, or a part of each; run the "
                "same `twin measure` to continue"
            )
    if not np.all(windows.host_bytes > 0) or not np.all(windows.flash_bytes > 0):
        raise WriteampError(
            f"{where} has a window with 0 host bytes or 0 flash bytes; both must be above 0"
        )


# Repeat, window (-1 for the fill), host bytes and flash bytes of a part.
WindowRow: TypeAlias = tuple[int, int, float, float]

_PARQUET = b"PAR1"
_COLUMNS = ("repeat", "window", "host_bytes", "flash_bytes")


@dataclass
class SavedWindows:
    """Parts measured so far, for one chain on one target, saved in the file of the windows.

    The file identifies the requested measurement by a salted digest, which does not reveal the
    drive.
    """

    path: Path
    chain: Chain
    request: str
    rows: list[WindowRow] = field(default_factory=list)

    @staticmethod
    def at(path: Path, chain: Chain, request: Any) -> SavedWindows:
        """Return the parts saved in a file; none if it holds another, complete measurement.

        `add` then replaces the other measurement in the file.

        Args:
            path: the file of the windows, which need not exist.
            chain: the chain.
            request: all settings that decide the measurement, as JSON types.

        Raises:
            WriteampError: the file holds another, incomplete measurement.
        """
        saved = _read(path)
        if saved is None:
            return SavedWindows(path, chain, _digest(request, secrets.token_hex(8)))
        digest, saved_chain, rows = saved
        if saved_chain == chain.tables() and digest == _digest(request, digest.partition(":")[0]):
            return SavedWindows(path, chain, digest, rows)
        if len(rows) % _rows_of(chain.from_tables(saved_chain, str(path))):
            raise WriteampError(
                f"{path} holds an unfinished measurement of another drive or with other settings; "
                "repeat its command to finish it, remove the file, or give another --out"
            )
        return SavedWindows(path, chain, _digest(request, secrets.token_hex(8)))

    @property
    def windows(self) -> Windows:
        """The windows so far."""
        return windows_of(self.chain, self.rows)

    def add(self, rows: Iterable[WindowRow]) -> None:
        """Add rows and rewrite the file, completely or not at all."""
        import polars as pl  # noqa: PLC0415 (slow)

        self.rows += rows
        self.windows.write(self.path, {"asked": pl.lit(self.request)})


def _rows_of(chain: Chain) -> int:
    """Return the number of rows of one repeat, including the fill."""
    return 1 + len(list(chain.parts(chain.logical_pages)))


def _digest(request: Any, salt: str) -> str:
    text = json.dumps(request, sort_keys=True, default=str)
    return f"{salt}:{hashlib.sha256(f'{salt}{text}'.encode()).hexdigest()}"


def _read(path: Path) -> tuple[str, dict[str, Any], list[WindowRow]] | None:
    """Return the request's digest, the chain and the rows of a saved file; None for other files.

    Raises:
        WriteampError: the file cannot be read or is damaged; it is kept, as it may hold hours of
            measurements.
    """
    import polars as pl  # noqa: PLC0415 (slow)

    if not path.is_file():
        return None
    try:
        content = inputs.read_bytes(path, MOST_BYTES, "file of windows")
        frame = read_parquet(content) if content.startswith(_PARQUET) else pl.DataFrame()
    except (OSError, pl.exceptions.PolarsError) as error:
        why = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise WriteampError(
            f"{path} cannot be read as windows: {why}; remove it to measure again, or give "
            "another --out"
        ) from None
    try:
        return (
            str(frame["asked"][0]),
            json.loads(frame["chain"][0]),
            frame.select(_COLUMNS).rows(),
        )
    except (ValueError, IndexError, pl.exceptions.PolarsError):
        return None
