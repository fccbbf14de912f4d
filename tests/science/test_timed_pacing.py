"""Rules of dies that keep tails short: copies that yield, and collection that is paced."""

from __future__ import annotations

import writeamp as wa

# Pages that avoid the dies that collect hardly wait for them.
IN_TURN = ('scheduling.dispatch="in-turn"',)
WHOLE = ("scheduling.copies_yield=false",)
YIELD = ("scheduling.copies_yield=true",)
PACED = (*YIELD, "collection.paced=true")


def tails(rate: int, pages_per_block: int, rules: tuple[str, ...]) -> dict[str, dict[str, float]]:
    found = wa.simulate(
        device="tlc-datacenter",
        size="3GiB",
        pages_per_block=pages_per_block,
        manager="sepgc",
        workload=f"random:bs=4k,write=0.3,rate={rate}",
        precondition="random:1",
        time=15.0,
        set=[*IN_TURN, "write_cache.bytes=1048576", "collection.soft_blocks=3", *rules],
    )
    assert isinstance(found, wa.TimedResult)
    return found.latency_us


def test_host_reads_interrupt_a_collection_between_two_pages() -> None:
    whole, yielding = tails(5000, 576, WHOLE), tails(5000, 576, YIELD)
    assert yielding["read"]["p99_9"] < 0.5 * whole["read"]["p99_9"]


def test_a_paced_collection_shortens_the_tail_of_writes_that_no_cache_takes() -> None:
    whole, paced = tails(12000, 288, YIELD), tails(12000, 288, PACED)
    assert paced["write"]["p99"] < 0.1 * whole["write"]["p99"]
    assert paced["read"]["p99"] < 0.2 * whole["read"]["p99"]
