"""Job of fio: its options with their defaults, and what follows from them for the writes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from writeamp.drives.doctor.fio.values import (
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

# Names that fio takes for the same option.
ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "bs_range": "bsrange",
    "ba": "blockalign",
    "io_limit": "io_size",
    "timeout": "runtime",
    "fill_fs": "fill_device",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
    "wait_for_previous": "stonewall",
    "plids": "fdp_pli",
}
# Engines that answer before they take the next request.
SYNCHRONOUS = {
    *("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "falloc", "e4defrag", "splice"),
    *("dev-dax", "libpmem", "pmemblk"),
}
# Engines that reach no page cache, and those that reach no drive.
PAST_THE_CACHE = {
    *("io_uring_cmd", "xnvme", "sg", "nbd", "rbd", "libblkio", "libiscsi", "http", "spdk"),
    *("spdk_bdev", "gfapi", "gfapi_async", "dfs", "libpmem", "dev-dax"),
}
WITHOUT_DRIVE = {
    *("null", "cpuio", "net", "netsplice", "rdma", "filecreate", "filestat", "filedelete"),
    "exit_io",
}
# Backslashes are fewer where a shell has taken them for its own.
_DEVICE = re.compile(r"/dev/(?!shm/)|[\\.]*PhysicalDrive\d", re.IGNORECASE)
_NO_DRIVES = {"/dev/null", "/dev/zero", "/dev/full"}
_WRITING = {"write", "randwrite", "rw", "readwrite", "randrw", "trimwrite", "randtrimwrite"}
_READING = {"read", "randread", "rw", "readwrite", "randrw"}
# Variables, also of templates, and what a shell puts in place of $1, $@, $(command) and `command`.
_VARIABLE = re.compile(r"\$\{[^}]{0,255}\}|\$[A-Za-z_]\w*|\$[0-9@*#?$!-]|\$\(|`|\{\{|\{\}")
# Devices made of others, whose speed is that of all.
_COMPOSED = re.compile(r"/dev/(mapper/|dm-|md|bcache|drbd|zvol/)")
# Over-provisioning that sprandom takes if nobody says otherwise.
_SPR_OP = 0.15
# Options that make writes durable, as a job goes and at its end.
SYNCING = ("fsync", "fdatasync", "sync_file_range", "sync")
SYNCING_AT_THE_END = ("end_fsync", "fsync_on_close")

# A map of written blocks is started anew when all are; what comes then is the same order again,
# another one, or, of a pass that comes once, nothing.
Passes: TypeAlias = Literal["same order", "other order", "once"]


def canonical(name: str) -> str:
    """Return the one name of an option.

    >>> canonical("readwrite"), canonical("ss_dur"), canonical("time-based")
    ('rw', 'steadystate_duration', 'time_based')
    """
    name = name.strip().lower().replace("-", "_")
    return ALIASES.get(name, name)


def set_option(options: dict[str, str], name: str, value: str) -> None:
    """Set an option of a job; `buffered` is the opposite of `direct`, and the last one counts."""
    if name == "buffered":
        name, value = "direct", value if _VARIABLE.search(value) else str(int(not is_set(value)))
    options[name] = value


@dataclass(frozen=True, eq=False)
class FioJob:
    """A job, and its copies.

    Attributes:
        name: of its section.
        options: by canonical names, those of [global] among them; "" of an option without a value.
        phase: number of stonewalls before it: jobs of one phase run at the same time.
        hides_flags: options without a value are not among them, as in fio's own output.
        is_repeated: a loop of a script runs it again and again.
        is_sure: it runs whatever the script that it stands in finds.
        drive_bytes: bytes of the drive that it runs on; None if nobody says.
        moved_bytes: bytes that each copy moved, on average; None if it is not known to have run.
        number: of its first copy among those of one call of fio, from 1, which its seed follows.
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
        """Return an option in bytes; None if it is not given, or no size."""
        return size_of(self.options.get(name, ""), self.kb_base)

    def seconds(self, name: str) -> float:
        """Return an option in seconds; 0 if it is not given, or no time."""
        return seconds_of(self.options.get(name, "")) or 0.0

    def count(self, name: str, default: int) -> int:
        """Return an option as a whole number."""
        found = size_of(self.options.get(name, ""), self.kb_base)
        return default if found is None else found

    @property
    def kb_base(self) -> int:
        """Bytes of a kilobyte."""
        return 1000 if self.options.get("kb_base", "").strip() == "1000" else 1024

    @property
    def unknown(self) -> dict[str, str]:
        """Options whose value holds a variable that is not known here."""
        return {name: one for name, one in self.options.items() if _VARIABLE.search(one)}

    @property
    def rw(self) -> str:
        """Direction and order, without the number of a sequencer behind it."""
        return self.options.get("rw", "read").split(":", 1)[0].strip().lower()

    @property
    def engine(self) -> str:
        """Its I/O engine."""
        return self.options.get("ioengine", "psync").split(":", 1)[0].strip().lower()

    @cached_property
    def writes(self) -> bool:
        """True if it writes to something that may be a drive."""
        reaches = self.engine not in WITHOUT_DRIVE and not set(self.files) & _NO_DRIVES
        is_mixed = self.rw in {"rw", "readwrite", "randrw"}
        return reaches and self.rw in _WRITING and not (is_mixed and self.write_share == 0)

    @property
    def empties(self) -> bool:
        """True if it trims all of its files."""
        is_part = self.options.get("size", "100%").strip() != "100%" or "offset" in self.options
        return self.rw in {"trim", "randtrim"} and not is_part

    @property
    def reads(self) -> bool:
        """True if it reads."""
        return self.rw in _READING

    @cached_property
    def is_random(self) -> bool:
        """True if its addresses are drawn."""
        return self.rw.startswith("rand")

    @property
    def write_share(self) -> float:
        """Share of its requests that write, of mixed reads and writes; 1 of writes alone."""
        if self.rw not in {"rw", "readwrite", "randrw"}:
            return 1.0 if self.rw in _WRITING else 0.0
        if "rwmixwrite" in self.options:
            return self.count("rwmixwrite", 50) / 100
        return 1 - self.count("rwmixread", 50) / 100

    @cached_property
    def write_blocks(self) -> tuple[int, int]:
        """The least and the most bytes of a request that writes."""
        sizes = self.write_block_shares
        if sizes:
            return min(sizes), max(sizes)
        text = self.options.get("bsrange") or self.options.get("bs", "4k")
        return block_sizes(text, self.kb_base)[1]

    @property
    def write_block_shares(self) -> dict[int, float]:
        """Shares of the sizes of requests that write, if they are given as such."""
        return split_sizes(self.options.get("bssplit", ""), self.kb_base)[1]

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The files that it is given by name; none if each copy makes its own."""
        named = re.split(r"(?<!\\):", self.options.get("filename", ""))
        return tuple(one.replace("\\:", ":") for one in named if one)

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """Those of its files that are devices."""
        return tuple(one for one in self.files if _DEVICE.match(one))

    @property
    def span_bytes(self) -> int | None:
        """Bytes of what it writes to, if they are given."""
        files = max(1, len(self.files), self.count("nrfiles", 1))
        sizes = self.size("size"), (self.size("filesize") or 0) * files
        return min(filter(None, sizes), default=None)

    @property
    def span_share(self) -> float | None:
        """Share of the device or file that it writes to, if it is given as one."""
        return share_of(self.options.get("size", ""))

    @property
    def whole_span_bytes(self) -> int | None:
        """Bytes of what it writes to: as given, or a share of the drive; None if nobody knows."""
        is_on_drive = self.devices or "filename" in self.unknown
        if self.span_bytes is not None or self.drive_bytes is None or not is_on_drive:
            return self.span_bytes
        return round(self.drive_bytes * (self.span_share or 1.0))

    @property
    def planned_spans(self) -> float | None:
        """Times that it would come through its span if no time ended it; None if nobody knows."""
        share = share_of(self.options.get("io_size", ""))
        loops = max(1, self.count("loops", 1))
        if self.count("number_ios", 0) and self.whole_span_bytes:
            requested = self.count("number_ios", 0) * sum(self.write_blocks) / 2
            return min(1.0, requested / self.whole_span_bytes) * loops
        if self.is_sprandom:
            return physical_of(1.0, self.spr_op or _SPR_OP)
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
        """The fewest and the most times that each copy comes through its span."""
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
        """Return what each copy moves until its runtime ends, a ramp before it included."""
        seconds = self.seconds("runtime") + self.seconds("ramp_time")
        if "runtime" in self.unknown:
            return UNKNOWN
        if self.rate_bytes_s is not None:
            speed = min(self.rate_bytes_s, FASTEST_BYTES_S * self._drives)
            return Limits(speed, speed).times(seconds)
        return Limits(SLOWEST_BYTES_S * seconds, self._most_in(seconds)).times(1 / self.copies)

    def _most_in(self, seconds: float) -> float:
        """Return what all copies move at most in a time."""
        # Reads beside the writes are not held to the speed of writes.
        on_drives = FASTEST_BYTES_S * self._drives * seconds / (self.write_share or 1.0)
        if not self.is_buffered:
            return on_drives
        # A pass that memory cannot hold ends no sooner than the drive lets it.
        spans = (self.whole_span_bytes or 0) * (self.copies if self.has_own_places else 1)
        held = on_drives + MEMORY_BYTES
        return held if held < spans else MEMORY_BYTES_S * seconds

    @property
    def has_own_places(self) -> bool:
        """True if its copies write to places of their own."""
        return not self.files or self.has("offset_increment")

    @property
    def _drives(self) -> float:
        """Drives that it may write to: infinitely many behind a device that is made of others."""
        is_composed = any(_COMPOSED.match(one) for one in self.files)
        return float("inf") if is_composed else max(1, len(self.files))

    @property
    def has_runtime(self) -> bool:
        """True if time may end it."""
        runtime = self.options.get("runtime", "")
        return bool(_VARIABLE.search(runtime) or seconds_of(runtime))

    @property
    def rate_bytes_s(self) -> float | None:
        """Bytes that each copy moves a second, if `rate` or `rate_iops` says it."""
        rate = size_of(in_direction(self.options.get("rate", ""), 1), self.kb_base)
        requests = size_of(in_direction(self.options.get("rate_iops", ""), 1), self.kb_base)
        if not rate and requests:
            rate = round(requests * sum(self.write_blocks) / 2)
        return rate / self.write_share if rate and self.write_share else None

    @property
    def is_timed(self) -> bool:
        """True if time ends it, and not its size; without a runtime fio ignores time_based."""
        return self.has("time_based") and self.has_runtime and not self.is_sprandom

    @cached_property
    def copies(self) -> int:
        """Copies that run at the same time."""
        return max(1, self.count("numjobs", 1))

    @property
    def is_buffered(self) -> bool:
        """True if its writes go through the page cache."""
        if self.engine in PAST_THE_CACHE | WITHOUT_DRIVE:
            return False
        return not (self.has("direct") or self.has("atomic"))

    @property
    def fsync_interval(self) -> float:
        """Writes from one fsync or fdatasync to the next; infinite if there is none."""
        counts = [size_of(self.options.get(one, "")) for one in ("fsync", "fdatasync")]
        return min((float(one) for one in counts if one), default=float("inf"))

    @property
    def sync_interval(self) -> float:
        """Writes from one to the next of what makes them leave memory; infinite if nothing does."""
        if self.options.get("sync", "0").strip().lower() not in {"0", "none"}:
            return 1
        ranged = size_of(self.options.get("sync_file_range", "").rpartition(":")[2])
        return min(self.fsync_interval, ranged or float("inf"))

    @property
    def syncs_at_the_end(self) -> bool:
        """True if it makes its writes durable at its end."""
        return any(self.has(one) for one in SYNCING_AT_THE_END)

    @property
    def is_sprandom(self) -> bool:
        """True if it preconditions to the steady state of random writes, in an order of its own."""
        return self.is_random and self.has("sprandom")

    @property
    def spr_op(self) -> float | None:
        """Over-provisioning stated for sprandom; None if it is no number."""
        try:
            return float(self.options.get("spr_op", ""))
        except ValueError:
            return None

    @property
    def draws_evenly(self) -> bool:
        """True if its random addresses are uniform."""
        named = self.options.get("random_distribution", "random").split(":", 1)[0].strip()
        return named in {"random", ""}

    @property
    def has_map(self) -> bool:
        """True if no block is written a second time before all were.

        Only uniform addresses have a map of the blocks that are written (fio, `init_random_map`).
        """
        is_mapped = not self.has("norandommap") and not self.is_sprandom
        return self.is_random and self.draws_evenly and is_mapped

    @cached_property
    def is_repeatable(self) -> bool:
        """True if fio seeds the generator anew for each pass, which randseed turns off."""
        return is_set(self.options.get("randrepeat", "1")) and "randseed" not in self.options

    @property
    def passes(self) -> Passes:
        """Order of the writes of a second pass, as fio 3.33 was seen to write them.

        A loop, or what is moved beyond the size, seeds the generator anew; time alone starts only
        the map anew, and of an LFSR the order too.
        """
        if not self.has_map or self.spans_moved.high <= 1:
            return "once"
        is_lfsr = self.options.get("random_generator", "").strip() == "lfsr"
        if self.is_timed:
            return "same order" if is_lfsr else "other order"
        if self.planned_spans is None and self.moved_bytes is None:
            return "once"
        return "same order" if self.is_repeatable else "other order"
