"""Write amplification per byte of the host, where pages are written in part."""

from __future__ import annotations

from dataclasses import replace

import pytest

import writeamp as wa
from in_process import document, run
from places import TRACE

LARGE_PAGES = f"--trace {TRACE} --op 0.2 --page-bytes 16384 --no-spread"


def test_bytes_programmed_per_byte_of_the_host_are_those_that_a_drive_would_count() -> None:
    trace = wa.traces.read(TRACE)
    result = wa.simulate(trace=trace, op=0.2, page_bytes=16384, warmup=0, spread=False)
    host_bytes = wa.traces.info(trace)["bytes_written"]
    assert result.host["written_bytes"] == host_bytes
    assert result.wa_bytes == pytest.approx(result.flash_pages * 16384 / host_bytes)
    assert result.partial_page_factor == pytest.approx(result.host_pages * 16384 / host_bytes)
    assert result.partial_page_factor > 1.5
    # It is no cause: those add up to the pages programmed.
    assert sum(result.causes.values()) == result.flash_pages


@pytest.mark.parametrize("manager", ["single", "oracle"])
def test_the_factor_is_that_of_the_measured_part_of_a_run(manager: str) -> None:
    drive = {"op": 0.2, "page_bytes": 16384, "spread": False, "manager": manager}
    whole, late = (
        wa.simulate(trace=TRACE, repeat=2, warmup=warmup, **drive) for warmup in (0, 1_176_734 // 2)
    )
    # Both passes ask for the same bytes, so that the second is half of them.
    assert late.host_pages * 2 == whole.host_pages
    assert late.host["written_bytes"] * 2 == pytest.approx(whole.host["written_bytes"], abs=2e6)


def test_whole_pages_have_a_factor_of_one() -> None:
    result = wa.simulate(blocks=64, pages_per_block=32, writes=5_000)
    assert (result.wa_bytes, result.partial_page_factor) == (result.wa, 1.0)


def test_bytes_that_nobody_knows_are_null() -> None:
    pages = wa.traces.to_pages(wa.traces.read(TRACE), 16384)
    unknown = replace(pages, head_bytes=None, tail_bytes=None)
    found = wa.simulate(trace=unknown, op=0.2, page_bytes=16384, spread=False).to_dict()
    assert found["wa_bytes"] is found["partial_page_factor"] is None


def test_bytes_stand_before_pages_where_they_differ() -> None:
    out = run("simulate", LARGE_PAGES).out
    assert 0 < out.index("WA per host byte") < out.index("WA per page")
    assert "WA per host byte" not in run("simulate", "--blocks 64 --writes 5000").out
    found = document("simulate", LARGE_PAGES)
    assert found["wa_bytes"] == pytest.approx(found["wa"] * found["partial_page_factor"])


def test_the_picture_names_wa_per_byte_first() -> None:
    result = wa.simulate(trace=TRACE, op=0.2, page_bytes=16384, spread=False)
    subtitle = result.figure().subtitle
    assert subtitle.startswith(f"WA per host byte {result.wa_bytes:.3f} = {result.wa:.3f} per page")
    assert "per host byte" not in wa.simulate(blocks=64, writes=5_000).figure().subtitle
