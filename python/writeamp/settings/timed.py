"""Settings of runs in virtual time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from writeamp.devices.device import SIZE
from writeamp.errors import WriteampError
from writeamp.fields.domains import Flag, Number
from writeamp.fields.setting import Settings, setting
from writeamp.units.durations import DURATION, JITTER, RATE

_TIMED = {"panel": "timed", "is_new": True}
# What is captured changes nothing of what is found.
_CAPTURE = _TIMED | {"is_speed": True}


@dataclass(frozen=True)
class TimedSettings(Settings):
    """Settings of time: whether a run is timed, when it ends, and what is captured of it."""

    time: float | None = setting(
        None, DURATION, "end after so much virtual time", metavar="TIME", **_TIMED
    )
    timed: bool = setting(
        False, Flag(), "give every operation a time, and measure latencies", number="flag", **_TIMED
    )
    host_bytes: int | None = setting(
        None,
        SIZE,
        "end when the host has written so many bytes after the fill; WA then counts from the fill "
        "to the end, without a warm-up",
        metavar="SIZE",
        excludes="writes",
        **_TIMED,
    )
    time_scale: float = setting(
        1.0,
        Number("be above 0 and at most 1e9", lambda value: 0 < value <= 1e9, is_ratio=True),
        "multiply the times of requests that have times of their own: 0.5 is twice as fast",
        number="ratio",
        **_TIMED,
    )
    rb_capture: str | None = setting(
        None,
        None,
        "write the Ready/Busy pins of all dies to this .vcd file, from the fill on",
        number="path",
        metavar="FILE",
        **_CAPTURE,
    )
    rb_rate: float | None = setting(
        None,
        RATE,
        "sample the pins at this rate, as a logic analyser does (default: exact to the nanosecond)",
        metavar="RATE",
        **_CAPTURE,
    )
    rb_jitter: float | None = setting(
        None,
        JITTER,
        "standard deviation of the moment at which the analyser sees an edge",
        metavar="TIME",
        **_CAPTURE,
    )
    rb_missed: float | None = setting(
        None,
        Number("be at least 0 and below 1", lambda value: 0 <= value < 1, is_ratio=True),
        "share of the pulses that the analyser misses",
        number="ratio",
        **_CAPTURE,
    )

    def __post_init__(self) -> None:
        """Check every field, and refuse sampling settings of a capture that is not asked for."""
        if isinstance(self.rb_capture, Path):
            object.__setattr__(self, "rb_capture", str(self.rb_capture))
        super().__post_init__()
        if self.rb_capture is None and self.samples_pins:
            raise WriteampError(
                "rb_rate, rb_jitter and rb_missed say how the Ready/Busy pins are sampled; give "
                "rb_capture too"
            )
        if self.rb_rate is None and (self.rb_jitter is not None or self.rb_missed is not None):
            raise WriteampError(
                "rb_jitter and rb_missed belong to an analyser that samples; give its rb_rate too"
            )

    @property
    def samples_pins(self) -> bool:
        """True if the pins are seen through an analyser of a finite rate."""
        return (self.rb_rate, self.rb_jitter, self.rb_missed) != (None, None, None)

    @property
    def asks_for_time(self) -> bool:
        """True if the run is timed whatever the workload and the device are."""
        return self.timed or self.time is not None or self.rb_capture is not None
