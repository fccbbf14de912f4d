"""Phases of a user's own runs: a TOML file of the loads, and a CSV file of the counters.

The TOML file has `drive`, the name of the drive, and a table `[[phases]]` for each phase in order:
`pattern`, `span_gib`, and, where needed, `details` and `run`. The CSV file has the columns `phase`
(place in the run, from 0), `host_bytes` and `media_bytes`, and `run` if there are several. Its
counters are those that the drive reports, in bytes. The first row of a phase is read before its
first write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from writeamp.devices import toml_text
from writeamp.errors import WriteampError
from writeamp.fields.domains import shown
from writeamp.files import inputs
from writeamp.files.tables import read_csv

if TYPE_CHECKING:
    import polars as pl

MOST_BYTES = 64 << 20
COUNTERS = ("host_bytes", "media_bytes")
_RUN = "run"
_REQUIRED = {"pattern": str, "span_gib": int | float}
_OPTIONAL = {"details": str, "run": str}


def frame_of_csv(path: Path, columns: Iterable[str]) -> pl.DataFrame:
    """Return the rows of a CSV file of phases as texts.

    Raises:
        WriteampError: the file cannot be read, has no rows, or lacks one of the columns.
    """
    import polars as pl  # noqa: PLC0415 (slow)

    try:
        content = inputs.read_bytes(path, MOST_BYTES, "table of phases")
        frame = read_csv(content, infer_schema=False)
    except OSError as error:
        raise WriteampError(f"cannot read phases {path}: {error.strerror or error}") from None
    except pl.exceptions.PolarsError as error:
        why = str(error).splitlines()[0]
        raise WriteampError(f"{path} is not a CSV file of phases: {why}") from None
    names = list(columns)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise WriteampError(
            f"{path} lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}; it must have "
            f"{', '.join(names)}"
        )
    if frame.is_empty():
        raise WriteampError(f"{path} has no rows")
    return frame


def frame_of_runs(path: Path, readings: Path) -> pl.DataFrame:
    """Return the rows of a user's runs as texts, with the columns of a table of phases.

    Raises:
        WriteampError: a file cannot be read, or readings and phases do not match.
    """
    import polars as pl  # noqa: PLC0415 (slow)

    phases = _phases(path)
    rows = frame_of_csv(readings, ("phase", *COUNTERS))
    if _RUN not in rows.columns:
        rows = rows.with_columns(pl.lit(_RUN).alias(_RUN))
    keys = [_RUN, "phase"]
    rows = rows.select(*keys, *COUNTERS).with_columns(pl.col(keys).str.strip_chars())
    joined = rows.join(pl.DataFrame(phases), on=keys, how="left", maintain_order="left")
    for faulty, file, other in (
        (joined.filter(pl.col("pattern").is_null()), readings, path),
        (pl.DataFrame(phases).join(rows, on=keys, how="anti"), path, readings),
    ):
        if not faulty.is_empty():
            name = f"{faulty[_RUN][0]}:{faulty['phase'][0]}"
            raise WriteampError(f"{file} has the phase {shown(name)}, which {other} lacks")
    return joined


def _phases(path: Path) -> list[dict[str, str]]:
    """Return drive, run, place in the run, load and span of each phase, as texts."""
    tables = toml_text.parse(toml_text.read_text(path, "list of phases"), str(path))
    drive, phases = tables.get("drive"), tables.get("phases")
    if not isinstance(drive, str) or not drive or not isinstance(phases, list) or not phases:
        raise WriteampError(
            f'{path} must have drive = "NAME" and a table [[phases]] for each phase, with pattern '
            "and span_gib"
        )
    numbers: dict[str, int] = {}
    rows = []
    for at, phase in enumerate(phases, 1):
        checked = _checked(f"{path}: phase {at} of the file", phase)
        run = checked.get("run", _RUN)
        number = numbers.get(run, 0)
        numbers[run] = number + 1
        rows.append({"details": "", **checked, "run": run, "drive": drive, "phase": str(number)})
    return rows


def _checked(where: str, phase: Any) -> dict[str, str]:
    """Return the texts of a phase's table; reject missing, unknown and wrong keys."""
    kinds: Mapping[str, Any] = _REQUIRED | _OPTIONAL
    if not isinstance(phase, Mapping) or not _REQUIRED.keys() <= phase.keys() <= kinds.keys():
        raise WriteampError(
            f"{where} has the keys {shown(list(phase))}; it must have {', '.join(_REQUIRED)}, and "
            f"may have {', '.join(_OPTIONAL)}"
        )
    for key, value in phase.items():
        if not isinstance(value, kinds[key]) or isinstance(value, bool):
            kind = "a text" if kinds[key] is str else "a number"
            raise WriteampError(f"{where}: {key} is {shown(value)}; it must be {kind}")
    return {key: str(value) for key, value in phase.items()}
