"""Job of fio: its options with their defaults, and the resulting writes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from writeamp.fio.values import (
    FASTEST_BYTES_S,
    MEMORY_BYTES,
    MEMORY_BYTES_S,
    SLOWEST_BYTES_S,
    UNKNOWN,
    Limits,
    block_sizes,
    in_direction,
    is_set,
    seconds_of,
    share_of,
    size_of,
    split_sizes,
)
from writeamp.units.ratios import physical_of

# Canonical names of options by their other names.
ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "bs_range": "bsrange",
    "ba": "blockalign",
    "fileoffset": "offset",
    "io_limit": "io_size",
    "timeout": "runtime",
    "fill_fs": "fill_device",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
    "wait_for_previous": "stonewall",
    "plids": "fdp_pli",
}
# I/O engines that complete a request before they accept the next.
SYNCHRONOUS = {
    *("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "falloc", "e4defrag", "splice"),
    *("dev-dax", "libpmem", "pmemblk"),
}
# I/O engines that bypass the page cache, and I/O engines that access no drive.
PAST_THE_CACHE = {
    *("io_uring_cmd", "xnvme", "sg", "nbd", "rbd", "libblkio", "libiscsi", "http", "spdk"),
    *("spdk_bdev", "gfapi", "gfapi_async", "dfs", "libpmem", "dev-dax"),
}
WITHOUT_DRIVE = {
    *("null", "cpuio", "net", "netsplice", "rdma", "filecreate", "filestat", "filedelete"),
    "exit_io",
}
# Name of a device. In Windows names, a shell may have removed some of the backslashes.
_DEVICE = re.compile(r"/dev/(?!shm/)|[\\.]*PhysicalDrive\d", re.IGNORECASE)
_NO_DRIVES = {"/dev/null", "/dev/zero", "/dev/full"}
_WRITING = {"write", "randwrite", "rw", "readwrite", "randrw", "trimwrite", "randtrimwrite"}
_READING = {"read", "randread", "rw", "readwrite", "randrw"}
# Variables of shells and templates, and shell substitutions: $1, $@, $(command), `command`. Their
# values are unknown.
_VARIABLE = re.compile(r"\$\{[^}]{0,255}\}|\$[A-Za-z_]\w*|\$[0-9@*#?$!-]|\$\(|`|\{\{|\{\}")
# Devices composed of several drives, which may be as fast as all drives together.
_COMPOSED = re.compile(r"/dev/(mapper/|dm-|md|bcache|drbd|zvol/)")
# Default over-provisioning of sprandom.
SPR_OP = 0.15
# Options that make writes durable: during a job, and at its end.
SYNCING = ("fsync", "fdatasync", "sync_file_range", "sync")
SYNCING_AT_THE_END = ("end_fsync", "fsync_on_close")

# Order of the blocks in the second pass of a job over its span. After each pass, fio resets the map
# of written blocks. "once" means that there is no second pass.
Passes: TypeAlias = Literal["same order", "other order", "once"]


def canonical(name: str) -> str:
    """Return the canonical name of an option.

    >>> canonical("readwrite"), canonical("ss_dur"), canonical("time-based")
    ('rw', 'steadystate_duration', 'time_based')
    """
    name = name.strip().lower().replace("-", "_")
    return ALIASES.get(name, name)


def set_option(options: dict[str, str], name: str, value: str) -> None:
    """Set an option of a job; `buffered` is the opposite of `direct`, and the last one is used."""
    if name == "buffered":
        name, value = "direct", value if _VARIABLE.search(value) else str(int(not is_set(value)))
    options[name] = value


@dataclass(frozen=True, eq=False)
class FioJob:
    """Job of fio with all of its copies (numjobs).

    Attributes:
        name: name of its section.
        options: values by canonical option names, including [global]; "" for an option without a
            value.
        phase: place of the job in the order of execution; jobs of one phase run at the same time.
        hides_flags: whether options without a value are missing, as in fio's own output.
        is_repeated: whether a script runs it in a loop.
        is_sure: whether it runs independently of conditions in its script.
        drive_bytes: bytes of its drive; None if unknown.
        moved_bytes: mean bytes that a copy has read, written and trimmed; None if no result of the
            job is known.
        number: number of its first copy in its call of fio, from 1, on which the random seed
            depends.
    """

    name: str
    options: Mapping[str, str]
    phase: float = 0
    hides_flags: bool = False
    number: int = 1
    is_repeated: bool = False
    is_sure: bool = True
    drive_bytes: int | None = None
    moved_bytes: float | None = None

    def has(self, name: str) -> bool:
        """Return whether a flag is set."""
        return is_set(self.options.get(name))

    def size(self, name: str) -> int | None:
        """Return an option in bytes; None if it is missing or invalid."""
        return size_of(self.options.get(name, ""), self.kb_base)

    def seconds(self, name: str) -> float:
        """Return an option in seconds; 0 if it is missing or invalid."""
        return seconds_of(self.options.get(name, "")) or 0.0

    def count(self, name: str, default: int) -> int:
        """Return an option as a whole number, or `default` if it is missing or invalid."""
        number = size_of(self.options.get(name, ""), self.kb_base)
        return default if number is None else number

    @property
    def kb_base(self) -> int:
        """Bytes of fio's unit "k": 1024 or 1000."""
        return 1000 if self.options.get("kb_base", "").strip() == "1000" else 1024

    @property
    def unknown(self) -> dict[str, str]:
        """Options whose value contains a variable with an unknown value."""
        return {name: value for name, value in self.options.items() if _VARIABLE.search(value)}

    @property
    def stated_options(self) -> dict[str, str]:
        """Options whose value contains no variable with an unknown value."""
        return {name: value for name, value in self.options.items() if name not in self.unknown}

    @property
    def rw(self) -> str:
        """Value of the option rw (direction and order), without the number after a colon."""
        return self.options.get("rw", "read").split(":", 1)[0].strip().lower()

    @property
    def engine(self) -> str:
        """I/O engine of the job, by default psync."""
        return self.options.get("ioengine", "psync").split(":", 1)[0].strip().lower()

    @cached_property
    def writes(self) -> bool:
        """Whether writes of the job may reach a drive, through a device or a file.

        Files such as /dev/null and I/O engines that use no drive do not count.
        """
        reaches = self.engine not in WITHOUT_DRIVE and not set(self.files) & _NO_DRIVES
        is_mixed = self.rw in {"rw", "readwrite", "randrw"}
        return reaches and self.rw in _WRITING and not (is_mixed and self.write_share == 0)

    @property
    def empties(self) -> bool:
        """Whether the job trims its files completely."""
        is_part = self.options.get("size", "100%").strip() != "100%" or "offset" in self.options
        return self.rw in {"trim", "randtrim"} and not is_part

    @property
    def reads(self) -> bool:
        """Whether the job reads."""
        return self.rw in _READING

    @cached_property
    def is_random(self) -> bool:
        """Whether the job's addresses are random."""
        return self.rw.startswith("rand")

    @property
    def write_share(self) -> float:
        """Share of writes among the job's reads and writes."""
        if self.rw not in {"rw", "readwrite", "randrw"}:
            return 1.0 if self.rw in _WRITING else 0.0
        if "rwmixwrite" in self.options:
            return self.count("rwmixwrite", 50) / 100
        return 1 - self.count("rwmixread", 50) / 100

    @cached_property
    def write_blocks(self) -> tuple[int, int]:
        """Smallest and largest size of a write, in bytes."""
        sizes = self.write_block_shares
        if sizes:
            return min(sizes), max(sizes)
        text = self.options.get("bsrange") or self.options.get("bs", "4k")
        return block_sizes(text, self.kb_base)[1]

    @property
    def write_block_shares(self) -> dict[int, float]:
        """Share of the writes by their size in bytes; empty if `bssplit` is not set."""
        return split_sizes(self.options.get("bssplit", ""), self.kb_base)[1]

    @cached_property
    def files(self) -> tuple[str, ...]:
        """Files that the job names; empty if each copy creates its own file."""
        named = re.split(r"(?<!\\):", self.options.get("filename", ""))
        return tuple(name.replace("\\:", ":") for name in named if name)

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """Named files that are devices."""
        return tuple(file for file in self.files if _DEVICE.match(file))

    @property
    def span_bytes(self) -> int | None:
        """Bytes of the job's span (the addresses that it accesses); None if not set in bytes."""
        files = max(1, len(self.files), self.count("nrfiles", 1))
        sizes = self.size("size"), (self.size("filesize") or 0) * files
        return min(filter(None, sizes), default=None)

    @property
    def span_share(self) -> float | None:
        """Share of the device or file that is the job's span; None if not set as a percentage."""
        return share_of(self.options.get("size", ""))

    @property
    def whole_span_bytes(self) -> int | None:
        """Bytes of the job's span, as set or computed from the drive's size; None if unknown."""
        is_on_drive = self.devices or "filename" in self.unknown
        if self.span_bytes is not None or self.drive_bytes is None or not is_on_drive:
            return self.span_bytes
        return round(self.drive_bytes * (self.span_share or 1.0))

    @property
    def planned_spans(self) -> float | None:
        """Planned number of passes over the span, without the time limit; None if unknown."""
        share = share_of(self.options.get("io_size", ""))
        loops = max(1, self.count("loops", 1))
        if self.count("number_ios", 0) and self.whole_span_bytes:
            requested = self.count("number_ios", 0) * sum(self.write_blocks) / 2
            return min(1.0, requested / self.whole_span_bytes) * loops
        if self.is_sprandom:
            return physical_of(1.0, self.spr_op or SPR_OP)
        if self.is_timed or {"loops", "io_size"} & self.unknown.keys():
            return None
        if share is not None:
            return share / (self.span_share or 1.0) * loops
        if "io_size" not in self.options:
            return float(loops)
        moved, span = self.size("io_size"), self.whole_span_bytes
        return moved / span * loops if moved and span else None

    @cached_property
    def spans_moved(self) -> Limits:
        """Bounds of the number of passes that each copy makes over its span."""
        span = self.whole_span_bytes
        if self.moved_bytes is not None and span:
            return Limits(self.moved_bytes / span, self.moved_bytes / span)
        planned = float("inf") if self.is_timed else self.planned_spans
        plan = UNKNOWN if planned is None else Limits(planned, planned)
        if not self.has_runtime:
            return plan
        within = self._bytes_in_time().times(1 / span) if span else UNKNOWN
        return Limits(min(plan.low, within.low), min(plan.high, within.high))

    def _bytes_in_time(self) -> Limits:
        """Return bounds of the bytes that each copy moves in its runtime and ramp time."""
        seconds = self.seconds("runtime") + self.seconds("ramp_time")
        if "runtime" in self.unknown:
            return UNKNOWN
        if self.rate_bytes_s is not None:
            speed = min(self.rate_bytes_s, FASTEST_BYTES_S * self._drives)
            return Limits(speed, speed).times(seconds)
        return Limits(SLOWEST_BYTES_S * seconds, self._most_in(seconds)).times(1 / self.copies)

    def _most_in(self, seconds: float) -> float:
        """Return the most bytes that all copies together can read and write in this time."""
        # The write speed limits only the writes, so mixed reads add to the bytes.
        on_drives = FASTEST_BYTES_S * self._drives * seconds / (self.write_share or 1.0)
        if not self.is_buffered:
            return on_drives
        # If a pass does not fit into memory, the drive limits its speed; otherwise memory does.
        spans = (self.whole_span_bytes or 0) * (self.copies if self.has_own_places else 1)
        held = on_drives + MEMORY_BYTES
        return held if held < spans else MEMORY_BYTES_S * seconds

    @property
    def has_own_places(self) -> bool:
        """Whether the copies write to separate files or address ranges."""
        return not self.files or self.has("offset_increment")

    @property
    def _drives(self) -> float:
        """Number of drives that the job may write to; infinite for a device composed of drives."""
        is_composed = any(_COMPOSED.match(file) for file in self.files)
        return float("inf") if is_composed else max(1, len(self.files))

    @property
    def has_runtime(self) -> bool:
        """Whether a runtime may end the job."""
        runtime = self.options.get("runtime", "")
        return bool(_VARIABLE.search(runtime) or seconds_of(runtime))

    @property
    def rate_bytes_s(self) -> float | None:
        """Bytes per second of each copy, if `rate` or `rate_iops` sets it."""
        rate = size_of(in_direction(self.options.get("rate", ""), 1), self.kb_base)
        requests = size_of(in_direction(self.options.get("rate_iops", ""), 1), self.kb_base)
        if not rate and requests:
            rate = round(requests * sum(self.write_blocks) / 2)
        return rate / self.write_share if rate and self.write_share else None

    @property
    def is_timed(self) -> bool:
        """Whether time ends the job, not its size; fio ignores time_based without a runtime."""
        return self.has("time_based") and self.has_runtime and not self.is_sprandom

    @cached_property
    def copies(self) -> int:
        """Number of copies that run at the same time."""
        return max(1, self.count("numjobs", 1))

    @property
    def is_buffered(self) -> bool:
        """Whether the job's writes go through the page cache."""
        if self.engine in PAST_THE_CACHE | WITHOUT_DRIVE:
            return False
        return not (self.has("direct") or self.has("atomic"))

    @property
    def fsync_interval(self) -> float:
        """Number of writes between two calls of fsync or fdatasync; infinite without such calls."""
        counts = [size_of(self.options.get(option, "")) for option in ("fsync", "fdatasync")]
        return min((float(count) for count in counts if count), default=float("inf"))

    @property
    def sync_interval(self) -> float:
        """Number of writes between two flushes of the page cache; infinite without flushes."""
        if self.options.get("sync", "0").strip().lower() not in {"0", "none"}:
            return 1
        ranged = size_of(self.options.get("sync_file_range", "").rpartition(":")[2])
        return min(self.fsync_interval, ranged or float("inf"))

    @property
    def syncs_at_the_end(self) -> bool:
        """Whether the job syncs its writes at its end."""
        return any(self.has(option) for option in SYNCING_AT_THE_END)

    @property
    def is_sprandom(self) -> bool:
        """Whether the job is sprandom, which preconditions to the steady state of random writes."""
        return self.is_random and self.has("sprandom")

    @property
    def spr_op(self) -> float | None:
        """Over-provisioning set for sprandom; None if it is invalid."""
        try:
            return float(self.options.get("spr_op", ""))
        except ValueError:
            return None

    @property
    def draws_evenly(self) -> bool:
        """Whether the job's random addresses are uniform."""
        named = self.options.get("random_distribution", "random").split(":", 1)[0].strip()
        return named in {"random", ""}

    @property
    def has_map(self) -> bool:
        """Whether no block is rewritten before all blocks were written once.

        Only uniform addresses have a map of written blocks (fio, `init_random_map`).
        """
        is_mapped = not self.has("norandommap") and not self.is_sprandom
        return self.is_random and self.draws_evenly and is_mapped

    @cached_property
    def is_repeatable(self) -> bool:
        """Whether fio reseeds its random generator for each pass, which randseed disables."""
        return is_set(self.options.get("randrepeat", "1")) and "randseed" not in self.options

    @property
    def passes(self) -> Passes:
        """Order of the writes in a second pass, as observed with fio 3.33.

        It is "once" if no second pass is known, or if blocks may be rewritten within the first.
        A loop, or io_size beyond the size, reseeds the generator. A time limit alone only resets
        the map and, for an LFSR, the order.
        """
        if not self.has_map or self.spans_moved.high <= 1:
            return "once"
        is_lfsr = self.options.get("random_generator", "").strip() == "lfsr"
        if self.is_timed:
            return "same order" if is_lfsr else "other order"
        if self.planned_spans is None and self.moved_bytes is None:
            return "once"
        return "same order" if self.is_repeatable else "other order"
