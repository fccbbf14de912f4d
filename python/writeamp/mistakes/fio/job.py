"""Job of fio: its options with their defaults, and what follows from them for the writes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from writeamp.mistakes.fio.values import (
    block_sizes,
    is_set,
    seconds_of,
    share_of,
    size_of,
    split_sizes,
)

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
_NO_DRIVES = {"/dev/null", "/dev/zero", "/dev/full"}
_WRITING = {"write", "randwrite", "rw", "readwrite", "randrw", "trimwrite", "randtrimwrite"}
_READING = {"read", "randread", "rw", "readwrite", "randrw"}
_VARIABLE = re.compile(r"\$\{[^}]*\}|\$[A-Za-z_]\w*")

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


@dataclass(frozen=True, eq=False)
class Job:
    """A job, and its copies.

    Attributes:
        name: of its section.
        options: by canonical names, those of [global] among them; "" of an option without a value.
        phase: number of stonewalls before it: jobs of one phase run at the same time.
        hides_flags: options without a value are not among them, as in fio's own output.
        is_repeated: a loop of a script runs it again and again.
        drive_bytes: bytes of the drive that it runs on; None if nobody says.
        number: of its first copy among those of one call of fio, from 1, which its seed follows.
    """

    name: str
    options: Mapping[str, str]
    phase: int = 0
    hides_flags: bool = False
    number: int = 1
    is_repeated: bool = False
    drive_bytes: int | None = None

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
        return tuple(one for one in self.files if one.startswith("/dev/") and "/shm/" not in one)

    @property
    def span_bytes(self) -> int | None:
        """Bytes of what it writes to, if they are given."""
        return self.size("size") or self.size("filesize")

    @property
    def span_share(self) -> float | None:
        """Share of the device or file that it writes to, if it is given as one."""
        return share_of(self.options.get("size", ""))

    @property
    def whole_span_bytes(self) -> int | None:
        """Bytes of what it writes to: as given, or a share of the drive; None if nobody knows."""
        if self.span_bytes is not None or self.drive_bytes is None or not self.devices:
            return self.span_bytes
        return round(self.drive_bytes * (self.span_share or 1.0))

    @property
    def spans_moved(self) -> float | None:
        """Times that it comes through its span; None if nobody knows, or time ends it."""
        share = share_of(self.options.get("io_size", ""))
        loops = max(1, self.count("loops", 1))
        if self.is_timed:
            return None
        if share is not None:
            return share / (self.span_share or 1.0) * loops
        if "io_size" not in self.options:
            return float(loops)
        moved, span = self.size("io_size"), self.whole_span_bytes
        return moved / span * loops if moved and span else None

    @property
    def is_timed(self) -> bool:
        """True if time ends it, and not its size; without a runtime fio ignores time_based."""
        runtime = self.options.get("runtime", "")
        is_known = not _VARIABLE.search(runtime)
        return self.has("time_based") and not (is_known and not seconds_of(runtime))

    @cached_property
    def copies(self) -> int:
        """Copies that run at the same time."""
        return max(1, self.count("numjobs", 1))

    @property
    def is_buffered(self) -> bool:
        """True if its writes go through the page cache."""
        if self.engine in PAST_THE_CACHE | WITHOUT_DRIVE:
            return False
        if "direct" in self.options or "atomic" in self.options:
            return not (self.has("direct") or self.has("atomic"))
        return self.has("buffered") if "buffered" in self.options else True

    @property
    def syncs(self) -> bool:
        """True if it makes its writes durable as it goes, or at its end."""
        asks = ("fsync", "fdatasync", "end_fsync", "fsync_on_close", "sync_file_range")
        sync = self.options.get("sync", "0").strip().lower()
        return any(self.has(one) for one in asks) or sync not in {"0", "none"}

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
        return self.is_random and self.draws_evenly and not self.has("norandommap")

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
        moved = self.spans_moved
        if not self.has_map or (moved is not None and moved <= 1):
            return "once"
        is_lfsr = self.options.get("random_generator", "").strip() == "lfsr"
        if self.is_timed:
            return "same order" if is_lfsr else "other order"
        if moved is None:
            return "once"
        return "same order" if self.is_repeatable else "other order"
