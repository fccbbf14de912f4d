"""WA of simulated fio jobs, compared with the jobs that fio runs on the virtual drive."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

import writeamp as wa
from patience import PATIENCE_S
from served import needs

pytestmark = needs("fio", "nbdkit")

DRIVE: dict[str, Any] = {
    "device": "generic",
    "size": "32MiB",
    "op": 0.2,
    "pages_per_block": 32,
    "precondition": "full",
}
# In each run of the first, fio has other random numbers: WA is equal in distribution only. The
# others repeat their numbers, and with one request at a time also their order: WA is equal.
JOBS = {
    "uniform": "--iodepth=4 --name=a --rw=randwrite --norandommap --randrepeat=0 --io_size=640m",
    "zipf": "--iodepth=1 --name=a --rw=randwrite --random_distribution=zipf:0.9 --io_size=160m",
    "zones and sizes": "--iodepth=1 --name=a --rw=randwrite --bssplit=4k/60:16k/40 --norandommap "
    "--io_size=160m --random_distribution=zoned:80/20:20/80",
    "two jobs in turn": "--iodepth=1 --name=a --rw=randrw --rwmixwrite=70 --norandommap --size=50% "
    "--io_size=100m --name=b --stonewall --rw=randwrite --bs=8k --norandommap --offset=50% "
    "--io_size=80m",
    "trims": "--iodepth=1 --name=a --rw=randtrimwrite --norandommap --io_size=160m",
}


@pytest.mark.parametrize("name", JOBS)
def test_wa_of_a_simulated_job_is_that_of_fio_on_the_virtual_drive(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "t").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "t"))
    with wa.VirtualSsd(**DRIVE) as drive:
        job = f"fio --ioengine=nbd --uri={drive.uri} --bs=4k --size=100% {JOBS[name]}"
        subprocess.run(shlex.split(job), check=True, capture_output=True, timeout=PATIENCE_S)
        served = drive.result()
    simulated = wa.simulate(fio_run=job, repeat=1, warmup=0, **DRIVE)
    assert simulated.wa == pytest.approx(served.wa, rel=0.01 if name == "uniform" else 1e-6)
    assert simulated.host_pages == pytest.approx(served.host_pages, rel=0.001)
    trimmed_pages = [result.to_dict()["host"]["trimmed_pages"] for result in (simulated, served)]
    assert trimmed_pages[0] == trimmed_pages[1]
