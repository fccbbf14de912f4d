"""The compiled engine (crates/python): bindings only."""

from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

CAUSES: list[str]
TIMED_CAUSES: list[str]
DEFAULT_BATCH_PAGES: int
MOST_EVENTS: int
MOST_TAGS: int
SIMD: str
UNTAGGED: int
__version__: str

class Life(TypedDict):
    end: dict[str, npt.NDArray[np.uint64]]
    first_to_reach: dict[str, npt.NDArray[np.uint64]]
    erase_counts: npt.NDArray[np.uint64]

class Geometry:
    def __init__(
        self,
        *,
        channels: int,
        chips_per_channel: int,
        dies_per_chip: int,
        planes_per_die: int,
        blocks_per_plane: int,
        pages_per_block: int,
        page_bytes: int = ...,
        superblock: bool = ...,
        erase_unit: str | None = None,
        stripe_pages: int = 1,
    ) -> None: ...
    @property
    def blocks(self) -> int: ...
    @property
    def pages_per_block(self) -> int: ...
    @property
    def physical_pages(self) -> int: ...
    @property
    def luns(self) -> int: ...
    def bytes_needed(self, logical_pages: int) -> int: ...

class Drive:
    def __init__(
        self,
        *,
        geometry: Geometry,
        logical_pages: int,
        layout: str,
        manager: str,
        victims: str | None = None,
        wear_leveling: str | None = None,
        observed: bool = False,
        recorded: bool = False,
        table_pages: int = 0,
        own_manager: Any | None = None,
        own_victims: Any | None = None,
        tags: int | None = None,
        own_pages: npt.NDArray[np.bool_] | None = None,
        counts_handles: bool = False,
    ) -> None: ...

class Victim:
    def __init__(self, *, stream: int, opened: int, now: int) -> None: ...
    @property
    def stream(self) -> int: ...
    @property
    def opened(self) -> int: ...
    @property
    def now(self) -> int: ...

class Candidates:
    def __init__(
        self,
        *,
        block: npt.NDArray[np.int64],
        invalid_pages: npt.NDArray[np.int64],
        closed_at: npt.NDArray[np.int64],
        changed_at: npt.NDArray[np.int64],
    ) -> None: ...
    @property
    def block(self) -> npt.NDArray[np.int64]: ...
    @property
    def invalid_pages(self) -> npt.NDArray[np.int64]: ...
    @property
    def closed_at(self) -> npt.NDArray[np.int64]: ...
    @property
    def changed_at(self) -> npt.NDArray[np.int64]: ...
    def __len__(self) -> int: ...

class Load:
    @staticmethod
    def spec(
        text: str, pages: int, page_bytes: int = ..., host_page_bytes: int | None = ...
    ) -> Load: ...
    def is_timed(self) -> bool: ...
    def has_writes(self) -> bool: ...
    def writes_whole_pages(self) -> bool: ...
    def writes_in_all(self) -> int | None: ...
    def application_bytes(self, *, seed: int, ends: list[int]) -> list[int] | None: ...
    def requests(
        self, *, seed: int, pages: int
    ) -> tuple[
        npt.NDArray[np.uint8],
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint32],
    ]: ...
    @staticmethod
    def trace(
        *,
        first_pages: npt.NDArray[np.uint32],
        passes: int,
        ops: npt.NDArray[np.uint8] | None = None,
        counts: npt.NDArray[np.uint32] | npt.NDArray[np.uint8] | None = None,
        at_ns: npt.NDArray[np.uint64] | None = None,
        head_bytes: npt.NDArray[np.uint32] | None = None,
        tail_bytes: npt.NDArray[np.uint32] | None = None,
        fua: npt.NDArray[np.uint8] | None = None,
        page_bytes: int = ...,
        group_ends: list[int] | None = None,
        tags: npt.NDArray[np.uint8] | None = None,
    ) -> Load: ...

def kept(array: npt.NDArray[Any]) -> npt.NDArray[Any]: ...

class PageSet:
    def __init__(self) -> None: ...
    def insert(self, firsts: npt.NDArray[np.uint64], counts: npt.NDArray[np.uint32]) -> None: ...
    def rank_all(self) -> int: ...
    def ranks(self, pages: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]: ...

class EarlierHost:
    def __init__(self, load: Load, *, seed: int) -> None: ...

class Events(TypedDict):
    host_pages: npt.NDArray[np.uint64]
    kind: list[str]
    group: npt.NDArray[np.uint64]
    groups: npt.NDArray[np.uint64]
    moved_blocks: npt.NDArray[np.uint64]

class Simulation:
    def __init__(self, drive: Drive, load: Load, *, seed: int, batch_pages: int) -> None: ...
    def fill(self, first: int, end: int) -> None: ...
    def precondition(self, host: EarlierHost, pages: int) -> int: ...
    def rest(self, times: str) -> None: ...
    def start_series(self, interval_pages: int) -> None: ...
    def run(self, pages: int) -> int: ...
    def run_to_write(self) -> None: ...
    def assert_invariants(self) -> None: ...
    def save(self) -> bytes: ...
    def drive_state(self) -> bytes: ...
    def restore(self, state: bytes) -> None: ...
    def counters(self) -> dict[str, int]: ...
    def series(self) -> dict[str, npt.NDArray[np.uint64]]: ...
    def mapped_pages(self) -> int: ...
    def recording(
        self,
    ) -> tuple[list[tuple[str, list[int]]], list[tuple[str, list[tuple[int, float]]]]] | None: ...
    def map(self) -> npt.NDArray[np.uint32]: ...
    def erase_counts(self) -> npt.NDArray[np.uint32]: ...
    def schedule(self) -> tuple[float, float]: ...
    def hints(self) -> str | None: ...
    def scheme_bytes(self) -> int: ...
    def predicted_wa(self) -> float | None: ...
    def lives(self) -> dict[str, npt.NDArray[np.float64]]: ...
    def events(self) -> Events: ...
    def valid_page_histogram(self) -> npt.NDArray[np.uint64]: ...

class Endurance:
    def __init__(
        self,
        drive: Drive,
        load: Load,
        *,
        batch_pages: int,
        w_max: int,
        spare_blocks_per_pool: int,
        fill: list[tuple[int, int]],
    ) -> None: ...
    def live(self, seed: int, progress: Callable[[int], object] | None = None) -> Life: ...

class BinnedDurations(TypedDict):
    low_ps: npt.NDArray[np.float64]
    high_ps: npt.NDArray[np.float64]
    count: npt.NDArray[np.uint64]

class CapturedPin(BinnedDurations):
    pulses: int
    busy_ps: int
    gaps: BinnedDurations
    repairs: dict[str, int]

class FoldedCapture(TypedDict):
    format: str
    channels: list[str]
    resolution_ps: int | None
    start_ps: int
    end_ps: int
    cut_tail: bool
    rounded_times: int
    pins: list[CapturedPin]
    timeline_counts: npt.NDArray[np.uint64]
    timeline_busy_ps: npt.NDArray[np.uint64]
    timeline_origin_ps: int
    timeline_width_ps: int
    timeline_edges_ps: npt.NDArray[np.float64]

def read_capture(
    path: str, *, inverted: bool, progress: Callable[[int], object] | None = None
) -> FoldedCapture: ...
def candidates() -> list[tuple[list[str], list[str], bool]]: ...
def default_victims(manager: str) -> str: ...
def declared(
    manager: str, *, victims: str | None = None, layout: str | None = None
) -> dict[str, Any]: ...
def kind_of(name: str) -> str: ...

class MeanField:
    def __init__(
        self,
        *,
        pages_per_block: int,
        spare_factor: float,
        d: int,
        d_swap: int | None,
        hot_fraction: float,
        hot_write_fraction: float,
    ) -> None: ...
    def fixed_point(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
    def filled_once(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
    def check(
        self, m_hot: npt.NDArray[np.float64], m_cold: npt.NDArray[np.float64]
    ) -> dict[str, Any]: ...
    def transient(
        self,
        *,
        m_hot: npt.NDArray[np.float64],
        m_cold: npt.NDArray[np.float64],
        drive_writes: npt.NDArray[np.float64],
        tolerance: float,
    ) -> dict[str, npt.NDArray[np.float64]]: ...

class ParsedSpec(TypedDict):
    name: str
    params: dict[str, str]
    given: list[str]
    text: str
    stated: str

def entries(kind_name: str) -> list[dict[str, Any]]: ...
def parse(kind_name: str, text: str) -> ParsedSpec: ...
def scaled_workload(text: str, factor: float, unit_factor: float = 1.0) -> str: ...
def scaled_policy(
    kind_name: str, text: str, factor: float, unit_factor: float = 1.0
) -> tuple[str, list[str]]: ...
def split_parameters(name: str, params: str) -> dict[str, str]: ...
def split_specs(kind_name: str, text: str) -> list[str]: ...
def divide(
    method: str,
    *,
    sizes: npt.NDArray[np.float64],
    frequencies: npt.NDArray[np.float64],
    op: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]: ...

class TimedDevice:
    @staticmethod
    def flash(
        simulation: Simulation,
        *,
        times: str,
        host_pages: int,
        seed: int,
        ready_busy: bool = False,
    ) -> TimedDevice: ...
    @staticmethod
    def disk(times: str) -> TimedDevice: ...
    @staticmethod
    def raid0(members: list[tuple[TimedDevice, int]], stripe_bytes: int) -> TimedDevice: ...
    def capacity_bytes(self) -> int: ...

class TimedRun:
    def __init__(
        self,
        device: TimedDevice,
        load: Load,
        *,
        seed: int,
        page_bytes: int,
        time_scale: float = 1.0,
        time_ns: int | None = None,
        written_bytes: int | None = None,
        requests: int | None = None,
        warmup_permille: int = 0,
        window: tuple[int, int, int] | None = None,
    ) -> None: ...
    def advance(self, events: int) -> bool: ...
    def go_on(
        self,
        load: Load,
        *,
        seed: int,
        idle_ns: int = 0,
        time_ns: int | None = None,
        written_bytes: int | None = None,
        requests: int | None = None,
        warmup_permille: int = 0,
    ) -> None: ...
    @property
    def now_ns(self) -> int: ...
    @property
    def written_bytes(self) -> int: ...
    @property
    def issued_requests(self) -> int: ...
    def counters(self) -> dict[str, int] | None: ...
    def operations(self) -> dict[str, int]: ...
    def slc_wear(self) -> tuple[int, int] | None: ...
    def read_errors(self) -> dict[str, dict[str, int]] | None: ...
    def interval_ns(self) -> tuple[int, int]: ...
    def served(self, direction: str) -> dict[str, Any]: ...
    def others(self) -> int: ...
    def rows(self) -> dict[str, Any]: ...
    def samples(self) -> dict[str, npt.NDArray[np.uint64]]: ...
    def busy(self) -> list[tuple[str, int, int]]: ...

class CaptureWriter:
    def __init__(
        self,
        path: str,
        *,
        channels: list[str],
        comments: list[str],
        period_ps: int | None = None,
        jitter_ns: float = 0.0,
        missed: float = 0.0,
        seed: int = 0,
    ) -> None: ...
    def drain(self, run: TimedRun) -> int: ...
    def finish(self, end_ns: int) -> int: ...

def check_times(times: str, geometry: Geometry | None) -> None: ...
def pages_apart(times: str, host_pages: int, page_bytes: int) -> int: ...
def pages_with_table(times: str, host_pages: int, page_bytes: int) -> int: ...
