"""Preconditions: the writes before a run (`full`, `random:4`, `aged:TRACE`, …)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from writeamp.errors import WriteampError
from writeamp.fields.domains import Number, shown

FILLS = ("full", "workload", "none")
CHOICES = (*FILLS, "random", "random:DRIVE_WRITES", "aged:TRACE")

_DRIVE_WRITES = Number("be above 0 and at most 1000", lambda value: 0 < value <= 1000)


@dataclass(frozen=True)
class Precondition:
    """Precondition: a fill, and the ageing of the drive after it.

    `fill` is "full", "workload" or "none". If `is_random`, uniform random writes then age the
    drive: `drive_writes` times its logical capacity, or until WA is steady if that is None. If
    `trace` is given, one pass over that trace file ages it.
    """

    fill: str
    is_random: bool = False
    drive_writes: float | None = None
    trace: str | None = None

    @property
    def ages(self) -> bool:
        """True if the drive is aged after the fill."""
        return self.is_random or self.trace is not None

    @property
    def text(self) -> str:
        """Canonical spelling of the precondition."""
        if self.trace is not None:
            return f"aged:{self.trace}"
        if self.is_random:
            return "random" if self.drive_writes is None else f"random:{self.drive_writes:.15g}"
        return self.fill

    @property
    def name(self) -> str:
        """Short name of the precondition for figures: only the file name of a trace is shown."""
        return self.text if self.trace is None else f"aged:{Path(self.trace).name}"

    @staticmethod
    def of(text: str) -> Precondition:
        """Return the precondition that a text describes.

        Raises:
            WriteampError: the text is not one of `CHOICES`, or the number is invalid.
        """
        kind, colon, rest = text.partition(":")
        if kind == "random" and not colon:
            return Precondition("full", is_random=True)
        if kind == "random":
            return Precondition("full", is_random=True, drive_writes=_drive_writes(text, rest))
        if kind == "aged" and rest:
            return Precondition("full", trace=rest)
        if text not in FILLS:
            raise WriteampError(f"unknown precondition {text!r}; valid: {', '.join(CHOICES)}")
        return Precondition(text)


class PreconditionText:
    """Domain of the precondition setting, which is stored in its canonical spelling."""

    def check(self, name: str, value: Any) -> str:
        """Return the text of the precondition in canonical spelling."""
        if not isinstance(value, str):
            raise WriteampError(f"{name} is {shown(value)}; it must be one of {', '.join(CHOICES)}")
        return Precondition.of(value).text


def _drive_writes(text: str, number: str) -> float:
    try:
        value = float(number)
    except ValueError:
        raise WriteampError(
            f"precondition is {text!r}; the number of drive writes must follow, as in random:4"
        ) from None
    return _DRIVE_WRITES.check("the number of drive writes of precondition random", value)
