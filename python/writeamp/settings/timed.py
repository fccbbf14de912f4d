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
# A capture does not affect the result of the run, so it is not part of the hash.
_CAPTURE = _TIMED | {"is_speed": True}


@dataclass(frozen=True)
class TimedSettings(Settings):
    """Settings of virtual time: whether a run is timed, its end, and the capture of its pins."""

    time: float | None = setting(
        None,
        DURATION,
        "end the run after this virtual time, such as 10s; the run is then timed",
        metavar="TIME",
        **_TIMED,
    )
    timed: bool = setting(
        False,
        Flag(),
        "simulate the time of every operation, and measure latencies; traces on a device that has "
        "times are timed without this option",
        number="flag",
        **_TIMED,
    )
    host_bytes: int | None = setting(
        None,
        SIZE,
        "end when the host has written this many bytes after the fill; WA is then measured from "
        "the fill to the end, without a warm-up",
        metavar="SIZE",
        excludes="writes",
        **_TIMED,
    )
    time_scale: float = setting(
        1.0,
        Number("be above 0 and at most 1e9", lambda value: 0 < value <= 1e9, is_ratio=True),
        "multiply the arrival times of requests; 0.5 is twice as fast",
        number="ratio",
        **_TIMED,
    )
    rb_capture: str | None = setting(
        None,
        None,
        "write the Ready/Busy pins of all dies after the fill to this .vcd file",
        number="path",
        metavar="FILE",
        **_CAPTURE,
    )
    rb_rate: float | None = setting(
        None,
        RATE,
        "sample the pins at this rate, such as 10MHz, as a logic analyser does (default: exact to "
        "the nanosecond)",
        metavar="RATE",
        **_CAPTURE,
    )
    rb_jitter: float | None = setting(
        None,
        JITTER,
        "standard deviation of the times at which the analyser sees an edge, such as 20ns "
        "(default 0)",
        metavar="TIME",
        **_CAPTURE,
    )
    rb_missed: float | None = setting(
        None,
        Number("be at least 0 and below 1", lambda value: 0 <= value < 1, is_ratio=True),
        "share of the pulses that the analyser misses (default 0)",
        number="ratio",
        **_CAPTURE,
    )

    def __post_init__(self) -> None:
        """Check every field; reject sampling settings if there is no capture."""
        if isinstance(self.rb_capture, Path):
            object.__setattr__(self, "rb_capture", str(self.rb_capture))
        super().__post_init__()
        if self.rb_capture is None and self.samples_pins:
            raise WriteampError(
                "rb_rate, rb_jitter and rb_missed need rb_capture, the file of the Ready/Busy "
                "pins; "
                "give it too"
            )
        if self.rb_rate is None and (self.rb_jitter is not None or self.rb_missed is not None):
            raise WriteampError(
                "rb_jitter and rb_missed need rb_rate, the sampling rate of the analyser; give it "
                "too"
            )

    @property
    def samples_pins(self) -> bool:
        """True if the capture samples the pins at a finite rate."""
        return (self.rb_rate, self.rb_jitter, self.rb_missed) != (None, None, None)

    @property
    def asks_for_time(self) -> bool:
        """True if these settings alone make a run timed."""
        return self.timed or self.time is not None or self.rb_capture is not None
