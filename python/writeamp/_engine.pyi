"""The compiled engine (crates/python): bindings only."""

from typing import Any

import numpy as np
import numpy.typing as npt

CAUSES: list[str]
DEFAULT_BATCH_PAGES: int
__version__: str

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
        superblock: bool,
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

class Simulation:
    def __init__(
        self,
        *,
        geometry: Geometry,
        logical_pages: int,
        layout: str,
        manager: str,
        victims: str | None = None,
        wear_leveling: str | None = None,
        workload: str,
        workload_pages: int,
        seed: int,
        batch_pages: int,
    ) -> None: ...
    @staticmethod
    def of_trace(
        *,
        geometry: Geometry,
        logical_pages: int,
        layout: str,
        manager: str,
        victims: str | None = None,
        wear_leveling: str | None = None,
        ops: npt.NDArray[np.uint8],
        first_pages: npt.NDArray[np.uint32],
        counts: npt.NDArray[np.uint32],
        passes: int,
        seed: int,
        batch_pages: int,
    ) -> Simulation: ...
    def fill(self, first: int, end: int) -> None: ...
    def start_series(self, interval_pages: int) -> None: ...
    def run(self, pages: int) -> int: ...
    def counters(self) -> dict[str, int]: ...
    def series(self) -> dict[str, npt.NDArray[np.uint64]]: ...
    def erase_counts(self) -> npt.NDArray[np.uint32]: ...
    def scheme_bytes(self) -> int: ...
    def valid_page_histogram(self) -> npt.NDArray[np.uint64]: ...

def default_victims(manager: str) -> str: ...
def entries(kind: str) -> list[dict[str, Any]]: ...
