"""Log 0xC0 of boot SSDs in text or JSON, as plugins of WDC, Micron and SK hynix print it."""

from __future__ import annotations

from writeamp.drives.counters.amounts import Part
from writeamp.drives.counters.printed_log import PrintedLog, Worn, Written, source_of


def _written(kind: Part) -> Written:
    # Tools call them bytes; the erases of a drive of 512 GB say units of 512,000 bytes.
    keys = (
        f"physical_media_units_written_{kind}",
        f"physical_media_units_written_{kind}_bytes",
        f"physical_media_units_bytes_{kind}",
    )
    return Written("flash", keys, "512,000 B", kind)


def _worn(part: Part, kind: str) -> Worn:
    def keys(word: str, short: str) -> tuple[str, ...]:
        return (
            f"user_data_erase_counts_{word}_{kind}",
            f"user_data_erase_counts_{word}_{kind}_int",
            f"{short}_{kind}_user_data_erase_count",
            f"{word}_user_data_erase_count_{kind}",
            f"{short}_user_data_erase_counts_{kind}",
            f"{short}_user_data_erase_count_{kind}",
            f"user_data_erase_counts_{kind}_{short}",
            f"{kind}_user_data_erase_counts_{short}",
        )

    return Worn(
        keys("minimum", "min"),
        keys("maximum", "max"),
        (*keys("average", "avg"), *keys("mean", "average")),
        part,
    )


SOURCE = source_of(
    PrintedLog(
        "nvme skhms vs-nand-stats",
        "boot SSD log 0xC0",
        (_written("tlc"), _written("slc")),
        # Nearly all blocks hold three bits a cell, so that theirs stand for the drive's.
        (_worn("tlc", "tlc"), _worn("slc", "slc"), _worn("all", "tlc")),
        vetoes=("nand_writes_bytes_written",),
    )
)
