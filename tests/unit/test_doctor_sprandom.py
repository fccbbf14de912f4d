"""Findings of the doctor on the state that sprandom leaves, with and without a write cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import writeamp as wa
from writeamp.drives.doctor.after_sprandom import absorbed

JOB = "[a]\nfilename=/dev/nvme0n1\ndirect=1\nrw=randwrite\nbs=4k\nnorandommap\nsprandom=1\n"


def findings(folder: Path, options: str, **how: Any) -> list[wa.Finding]:
    path = folder / "job.fio"
    path.write_text(JOB + options)
    return [one for one in wa.doctor(path, **how).findings if one.id == "sprandom"]


def numbers(one: wa.Finding) -> tuple[float, float]:
    assert one.wa_now is not None
    assert one.wa_fixed is not None
    return one.wa_now.wa, one.wa_fixed.wa


def of_cache(found: list[wa.Finding]) -> wa.Finding:
    (one,) = (one for one in found if "no spr_cs" in one.evidence)
    return one


@pytest.mark.parametrize("op", [0.07, 0.15, 0.28])
def test_a_cache_takes_the_drive_away_from_the_steady_state(op: float, tmp_path: Path) -> None:
    found = findings(tmp_path, f"spr_op={op}\n", capacity="1.92TB")
    cached = of_cache(found)
    (plain,) = (one for one in found if one is not cached)
    drive = wa.device(op=op, logical_blocks=256, pages_per_block=64)
    steady = wa.simulate(drive, "uniform", writes=400_000, replicas=1)
    for one in found:
        now, fixed = numbers(one)
        assert fixed == pytest.approx(steady.wa, rel=0.02)
        assert f"WA {now:.3f} over one drive write, instead of {fixed:.3f}" in one.message
    assert f"op {op} without a write cache" in plain.message
    assert f"op {op} with a write cache of 1% of the drive (19.2 GB, assumed)" in cached.message
    now, fixed = numbers(plain)
    assert now == pytest.approx(fixed, rel=0.025)
    now, fixed = numbers(cached)
    assert now < 0.96 * fixed


def test_larger_regions_or_spr_cs_keep_overwrites_out_of_the_cache(tmp_path: Path) -> None:
    now, fixed = numbers(of_cache(findings(tmp_path, "spr_op=0.15\nspr_num_regions=20\n")))
    assert now == pytest.approx(fixed, rel=0.025)
    (only,) = findings(tmp_path, "spr_op=0.15\nspr_cs=1g\n", capacity="1.92TB")
    assert "without a write cache" in only.message


def test_without_simulation_the_sentence_has_no_numbers(tmp_path: Path) -> None:
    for one in findings(tmp_path, "spr_op=0.15\n", simulate=False):
        assert one.wa_now is None
        assert "steady state (" not in one.message
    # A ratio that fio refuses has nothing to simulate.
    (refused, *_) = findings(tmp_path, "spr_op=7%\nspr_cs=1g\n")
    assert (refused.severity, refused.wa_now) == ("error", None)


@pytest.mark.parametrize(
    ("written", "cache_pages", "expected"),
    [
        ([1, 1, 1], 0, [0, 0, 0]),
        ([1, 1, 1], 1, [0, 1, 1]),
        ([1, 2, 1], 1, [0, 0, 0]),
        ([1, 2, 1], 2, [0, 0, 1]),
        # A write that is absorbed does not keep its page longer in the cache.
        ([1, 2, 1, 3, 1], 2, [0, 0, 1, 0, 0]),
    ],
)
def test_a_cache_absorbs_writes_of_its_last_pages(
    written: list[int], cache_pages: int, expected: list[int]
) -> None:
    pages = np.array(written, np.int64)
    assert absorbed(pages, 4, cache_pages).astype(int).tolist() == expected
