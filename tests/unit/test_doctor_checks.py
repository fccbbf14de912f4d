"""Checks of the doctor on fio's jobs: each finds its mistake, and leaves alone what is none."""

from __future__ import annotations

from pathlib import Path

import pytest

import writeamp as wa
from writeamp.drives.doctor.registry import checks

DRIVE = "filename=/dev/nvme0n1\nioengine=libaio\ndirect=1\niodepth=16\nbs=4k"
STEADY = f"{DRIVE}\nrw=randwrite\nnorandommap\ntime_based\nruntime=1h"

SKEWED = f"{DRIVE}\nrw=randwrite\nio_size=4t"
SPRANDOM = f"{DRIVE}\nrw=randwrite\nnorandommap\nsprandom=1"
# Overwrites of a small file for a minute, through the page cache.
IN_MEMORY = "filename=/mnt/a\nsize=256m\nrw=randwrite\nbs=4k\ntime_based\nruntime=60"


def job(text: str, name: str = "job") -> str:
    return f"[{name}]\n{text}\n"


def findings(tmp_path: Path, text: str, name: str = "job.fio", **how: object) -> list[wa.Finding]:
    path = tmp_path / name
    path.write_text(text)
    return list(wa.doctor(path, simulate=False, **how).findings)  # type: ignore[arg-type]


def ids(found: list[wa.Finding], *, notes: bool = True) -> set[str]:
    return {one.id for one in found if notes or one.severity != "note"}


# Of each check of jobs: texts in which it finds its mistake, and texts in which there is none.
CASES: dict[str, tuple[list[str], list[str]]] = {
    "not-understood": (
        [
            job(f"{DRIVE}\nrw=randwrites"),
            job(f"{STEADY}\nfilenam=/dev/sdb"),
            job(f"{STEADY}\nnorandomap"),
            job(f"{STEADY}\nbs=4q"),
            job(f"{STEADY}\nbs=1.5k"),
            job(f"{STEADY}\nbs=0k"),
            job(f"{STEADY}\nruntime=1x"),
            *(job(f"{STEADY}\n{one}={'9' * 400}") for one in ("runtime", "bs", "size", "numjobs")),
            job(f"{STEADY}\nsize={'9' * 400}%\nbssplit=4k/{'9' * 400}"),
            job(f"{STEADY}\nsize={'9' * 400}.5k"),
            job(f"{STEADY}\nnumjobs=many"),
            job(f"{STEADY}\nioengine=libaoi"),
            job(f"{STEADY}\nbell_and_whistle=1"),
            job(f"{STEADY}\nrandom_distribution=zipf:1"),
            job(f"{STEADY}\nrandom_distribution=zoned:60/10:50/90"),
            "fio --name=a --filename=/dev/sdb --rw=randwrit --norandommap\n",
            "fio --name=a --filename=/dev/sdb --norandomap --rw=randwrite --direct=1\n",
        ],
        [
            job(STEADY),
            job(f"{STEADY}\nbs=4k,8k\nsize=10%\noffset=4z\nio_size=0x1000\nruntime=2h"),
            job(f"{STEADY}\nsize=${{OF_NOBODY}}\nioengine=${{OF_NOBODY}}\nrw=${{OF_NOBODY}}"),
            job(f"{STEADY}\nreadwrite=randrw:8\nblocksize=8k\nss_dur=5m\nfdp=1\nplids=1"),
            job(f"{STEADY}\nioengine=external:/opt/mine.so"),
            job(f"{STEADY}\nsize=1T\nrandom_distribution=zipf:0.9"),
            job(f"{STEADY}\nrandom_distribution=zoned:60/10:40/90"),
            job(f"{STEADY}\nrandom_distribution=zoned_abs:60/10G:40/900G"),
            "fio --name=a --filename=/dev/sdb --rw=randwrite --bs=$((4*1024)) --output-format json"
            " --eta=never --terse-version=5\n",
        ],
    ),
    "looped-permutation": (
        [
            job(f"{DRIVE}\nrw=randwrite\nloops=4"),
            job(f"{DRIVE}\nreadwrite=randrw\nrwmixwrite=30\nloops=2"),
            job(f"{DRIVE}\nrw=randwrite\nsize=10%\nio_size=100%"),
            job(f"{DRIVE}\nrw=randwrite\nsize=1g\nio_limit=20g"),
            job(f"{DRIVE}\nrw=randwrite:8\ntime_based\nruntime=60"),
            job(f"{DRIVE}\nrw=randwrite\nloops=3\nrandrepeat=0"),
            job(f"{DRIVE}\nrw=randwrite\nloops=3\nnorandommap=0"),
            job(f"{DRIVE}\nrw=randwrite\nrandom_generator=lfsr\ntime_based\nruntime=60"),
            "[global]\nloops=8\n" + job(f"{DRIVE}\nrw=randwrite"),
            "fio --name=a --filename=/dev/sdb --rw=randwrite --loops=4 --direct=1\n",
        ],
        [
            job(STEADY),
            job(f"{DRIVE}\nrw=randwrite\nloops=1"),
            job(f"{DRIVE}\nrw=randread\nloops=4"),
            job(f"{DRIVE}\nrw=write\nloops=4"),
            job(f"{DRIVE}\nrw=randwrite\nloops=4\nrandom_distribution=zipf:1.1"),
            job(f"{DRIVE}\nrw=randwrite\nsize=10g\nio_size=5g"),
            job(f"{DRIVE}\nrw=randrw\nrwmixread=100\nloops=4"),
            # What comes below hands nothing to what stands above.
            job(f"{DRIVE}\nrw=randwrite", "a") + "[global]\nloops=8\n" + job(f"{DRIVE}\nrw=write"),
        ],
    ),
    "repeated-seed": (
        [
            "fio --name=a --filename=/dev/sdb --rw=randwrite --norandommap --runtime=60\n"
            "fio --name=b --filename=/dev/sdb --rw=randwrite --norandommap --runtime=60\n",
            job(f"{STEADY}", "a") + job(f"{STEADY}\nstonewall", "b"),
            "fio --name=a --filename=/dev/sdb --rw=randwrite --randseed=1 --randrepeat=0\n"
            "fio --name=a --filename=/dev/sdb --rw=randwrite --randseed=1 --randrepeat=0\n",
            "for i in 1 2 3; do\n  fio --name=a --filename=/dev/sdb --rw=randwrite\ndone\n",
            "fio --name=a --filename=/dev/sdb --rw=randwrite && "
            "fio --name=a --filename=/dev/sdb --rw=randwrite",
        ],
        [
            "fio --name=a --filename=/dev/sdb --rw=randwrite --randseed=1\n"
            "fio --name=a --filename=/dev/sdb --rw=randwrite --randseed=2\n",
            "fio --name=a --filename=/dev/sdb --rw=randwrite --randrepeat=0\n"
            "fio --name=b --filename=/dev/sdb --rw=randwrite --randrepeat=0\n",
            job(STEADY),
            job(f"{STEADY}\nrandrepeat=0", "a") + job(f"{STEADY}\nrandrepeat=0\nstonewall", "b"),
            "for i in 1 2; do fio --name=a --filename=/dev/sdb --rw=randwrite --randseed=$i; done",
            "for i in 1 2; do fio --name=a --filename=/dev/sdb --rw=randwrite --bs=$i; done",
            "for i in 1 2; do\n  echo $i\ndone\nfio --name=a --filename=/dev/sdb --rw=randwrite\n",
            "for d in a b; do fio --name=a --filename=/dev/sd$d --rw=randwrite; done",
            "fio --name=a --filename=/dev/sdb --rw=write\nfio --name=a --filename=/dev/sdb "
            "--rw=randwrite",
        ],
    ),
    "generator-period": (
        [job(f"{STEADY}\nsize=20t"), job(f"{STEADY}\nbs=512\nsize=3t")],
        [job(f"{STEADY}\nsize=20t\nrandom_generator=tausworthe64"), job(f"{STEADY}\nsize=15t")],
    ),
    "random-map-skew": (
        [job(f"{DRIVE}\nfilename=/dev/md0\nrw=randwrite")],
        [job(f"{DRIVE}\nrw=randwrite"), job(f"{STEADY}\nfilename=/dev/md0")],
    ),
    "lfsr-block-sizes": (
        [
            job(f"{STEADY}\nrandom_generator=lfsr\nbsrange=4k-64k"),
            job(f"{STEADY}\nrandom_generator=lfsr\nbssplit=4k/50:8k/50"),
        ],
        [job(f"{STEADY}\nrandom_generator=lfsr"), job(f"{STEADY}\nbsrange=4k-64k")],
    ),
    "too-few-writes": (
        [
            job(f"{DRIVE}\nrw=randwrite"),
            job(f"{DRIVE}\nrw=randwrite\nsize=100g\nio_size=50g\nnorandommap"),
            job(f"{DRIVE}\nrw=randwrite\nsize=100g\nloops=9\nnumber_ios=1000\nnorandommap"),
            job(f"{DRIVE}\nrw=write\nsize=1%", "a") + job(f"{DRIVE}\nrw=randwrite\nsize=10g\n"
            "io_size=1g\nstonewall"),
        ],
        [
            job(STEADY),
            job(f"{DRIVE}\nrw=write"),
            job(f"{DRIVE}\nrw=write", "fill") + job(f"{DRIVE}\nrw=randwrite\nstonewall"),
            job(f"{DRIVE}\nrw=randwrite\nnorandommap\nsize=10g\nio_size=100g"),
        ],
    ),
    "runtime-ends-it": (
        [
            "fio --name=a --filename=/dev/nvme0n1 --size=12T --rw=write --bs=128k --runtime=600 "
            "--time_based",
            job(f"{DRIVE}\nrw=write\nsize=12t\nruntime=10m"),
            job(f"{DRIVE}\nrw=write\nsize=1t\nruntime=600\nrate=500m"),
            job(f"{DRIVE}\nrw=write\nsize=1t\nruntime=600\nrate=2g,500m"),
            job(f"{DRIVE}\nrw=write\nsize=1t\nruntime=600\nrate_iops=10k"),
            job(f"{DRIVE}\nrw=write\nsize=4t\nloops=3\nruntime=10m"),
            job(f"{DRIVE}\nrw=write\nsize=4t\nnumjobs=4\noffset_increment=4t\nruntime=10m"),
            job(f"{DRIVE}\nrw=randwrite\nnorandommap\nsize=12t\nruntime=10m"),
        ],
        [
            job(f"{DRIVE}\nrw=write\nsize=12t"),
            job(f"{DRIVE}\nrw=write\nsize=12t\ntime_based"),
            job(f"{DRIVE}\nrw=write\nsize=12t\nruntime=10h"),
            job(f"{DRIVE}\nrw=write\nsize=20g\nruntime=600\ntime_based"),
            job(f"{DRIVE}\nrw=write\nsize=100g\nruntime=600\nrate=500m"),
            job(f"{DRIVE}\nrw=read\nsize=12t\nruntime=10m"),
            job(f"{DRIVE}\nfilename=/dev/md0\nrw=write\nsize=12t\nruntime=10m"),
            job(f"{STEADY}\nsize=12t"),
        ],
    ),
    "unreached-blocks": (
        [
            job(f"{SKEWED}\nrandom_distribution=zipf:0.8\nsize=1.8T"),
            job(f"{SKEWED}\nrandom_distribution=zipf:0.8\nsize=1800g"),
            job(f"{SKEWED}\nrandom_distribution=zipf:1.2\nsize=1t"),
            job(f"{SKEWED}\nrandom_distribution=pareto:0.2\nsize=100g"),
            job(f"{SKEWED}\nrandom_distribution=zipf\nsize=100g"),
            job(f"{SKEWED}\nrandom_distribution=zipf:0.9:0.5\nsize=100g"),
            job(f"{SKEWED}\nrandom_distribution=zipf:0.9\nsize=768g\nrw=randrw\nbs=64k"),
            "fio --name=a --filename=/dev/sdb --rw=randwrite --random_distribution=zipf:0.8 "
            "--size=100g --direct=1\n",
        ],
        [
            job(f"{SKEWED}\nrandom_distribution=zipf:0.8\nsize=1t"),
            job(f"{SKEWED}\nrandom_distribution=zipf:0.99\nsize=64g"),
            job(f"{SKEWED}\nrandom_distribution=pareto:0.2\nsize=512g\nbs=8k"),
            job(f"{SKEWED}\nrandom_distribution=zipf:1.2\nsize=4g"),
            job(f"{SKEWED}\nrandom_distribution=zipf:0.8"),
            job(f"{SKEWED}\nrandom_distribution=zoned:60/10:40/90\nsize=100g"),
            job(f"{SKEWED}\nrandom_distribution=normal:20\nsize=100g"),
            job(f"{SKEWED}\nrw=randread\nrandom_distribution=zipf:0.8\nsize=100g"),
            job(f"{SKEWED}\nrandom_distribution=zipf:${{OF_NOBODY}}\nsize=100g"),
        ],
    ),
    "sprandom": (
        [
            job(SPRANDOM),
            job(f"{SPRANDOM}\nspr_op=7%"),
            job(f"{SPRANDOM}\nspr_op=15"),
            job(f"{SPRANDOM}\nspr_op=0.07\nspr_cs=1g"),
            job(f"{SPRANDOM}\nspr_op=0.07\nspr_cs=1g\nnumjobs=4"),
            job(f"{SPRANDOM}\nspr_op=0.07\nspr_cs=1g\nsize=50%"),
        ],
        [job(STEADY), job(f"{STEADY}\nsprandom=0")],
    ),
    "short-steady-state": (
        [
            job(f"{STEADY}\nss=iops:5%"),
            job(f"{STEADY}\nss=iops:5%\nss_dur=10"),
            job(f"{DRIVE}\nrw=randwrite\nsteadystate=bw_slope:0.1%\nsteadystate_duration=5m"),
        ],
        [
            job(f"{STEADY}\nss=iops:5%\nss_dur=300"),
            job(f"{STEADY}\nss=bw:5%\nss_dur=5m\nss_ramp=60"),
        ],
    ),
    "fresh-drive": (
        [
            job(f"{STEADY}\nexec_prerun=blkdiscard /dev/nvme0n1"),
            "blkdiscard /dev/nvme0n1\nfio --name=a --filename=/dev/nvme0n1 --rw=randwrite "
            "--time_based --runtime=60 --norandommap\n",
            job(f"{DRIVE}\nrw=trim", "trim") + job(f"{STEADY}\nstonewall"),
            job(f"{DRIVE}\nrw=randread"),
            job(STEADY),
        ],
        [
            job(f"{DRIVE}\nrw=write", "fill") + job(f"{STEADY}\nstonewall"),
            job(f"{DRIVE}\nrw=trim", "trim")
            + job(f"{DRIVE}\nrw=write\nstonewall", "fill")
            + job(f"{STEADY}\nstonewall"),
            job(f"{DRIVE}\nrw=write", "fill") + job(f"{DRIVE}\nrw=randread\nstonewall"),
        ],
    ),
    "small-span": (
        [
            job(f"{STEADY}\nsize=1G"),
            job(f"{STEADY}\nsize=10%"),
            job(f"{STEADY}\nsize=5GiB"),
            job(f"{STEADY}\nsize=900g\nfilesize=5g"),
            job(f"{DRIVE}\nrw=write\nsize=5g", "a") + job(f"{STEADY}\nstonewall\nsize=5g"),
            job(f"{STEADY}\nfilename=/mnt/test\nsize=4g"),
        ],
        [
            job(STEADY),
            job(f"{STEADY}\nsize=100%"),
            job(f"{STEADY}\nsize=900g"),
            job(f"{STEADY}\nfilename=/mnt/test\nsize=400g"),
            job(f"{DRIVE}\nrw=write\nsize=50%", "fill")
            + job(f"{STEADY}\nstonewall\nsize=50%\noffset=50%"),
            job(f"{DRIVE}\nrw=write", "fill") + job(f"{STEADY}\nstonewall\nsize=10%"),
        ],
    ),
    "overlapping-jobs": (
        [
            job(f"{DRIVE}\nrw=write\nnumjobs=4"),
            job(f"{DRIVE}\nrw=write\nsize=10g", "a") + job(f"{DRIVE}\nrw=write\nsize=10g", "b"),
            job(f"{DRIVE}\nrw=write", "fill") + job(STEADY),
        ],
        [
            job(f"{DRIVE}\nrw=write\nnumjobs=4\nsize=10g\noffset_increment=10g"),
            job(f"{STEADY}\nnumjobs=4"),
            job("directory=/mnt\nrw=write\nnumjobs=4\nsize=1g\nend_fsync=1"),
            job(f"{DRIVE}\nrw=write\nsize=10g", "a")
            + job(f"{DRIVE}\nrw=write\nsize=10g\noffset=10g", "b"),
            job(f"{DRIVE}\nrw=write\nsize=10g", "a")
            + job(f"{DRIVE}\nrw=write\nsize=10g\nstonewall", "b"),
        ],
    ),
    "page-cache": (
        [
            job("filename=/dev/sdb\nrw=write"),
            job(f"{STEADY}\ndirect=0"),
            job(f"{STEADY}\nbuffered=1"),
            job("filename=\\\\.\\PhysicalDrive1\nioengine=windowsaio\nrw=write"),
            job("filename=/mnt/a\nsize=1g\nrw=write\nbuffered=1\nsync=0"),
            job(f"{IN_MEMORY}\nend_fsync=1"),
            job(f"{IN_MEMORY}\nfsync_on_close=1"),
            job(f"{IN_MEMORY}\nfsync=10000"),
            job(f"{IN_MEMORY}\nfdatasync=1m\nend_fsync=1"),
            job(f"{IN_MEMORY}\nsync_file_range=write:10000"),
            job(f"{IN_MEMORY}\nfsync=32\nrandom_distribution=zipf:1.2"),
            job("filename=/mnt/a\nsize=1g\nrw=randwrite\nnorandommap\nend_fsync=1"),
            job("filename=/mnt/a\nsize=1g\nrw=randwrite\nloops=2\nend_fsync=1"),
            job("filename=/mnt/a\nsize=1g\nrw=write\nloops=2\nend_fsync=1"),
            job("filename=/mnt/a\nsize=1g\nrw=write\nnumjobs=2\nend_fsync=1"),
        ],
        [
            job(STEADY),
            job("filename=/dev/sdb\nrw=write\nbuffered=0"),
            job("filename=/dev/sdb\nrw=write\ndirect=0\nbuffered=0"),
            job("filename=/mnt/a\nsize=1g\nrw=write\nfsync=1"),
            job("filename=/mnt/a\nsize=1g\nrw=write\nend_fsync=1"),
            job("filename=/mnt/a\nsize=1g\nrw=randwrite\nend_fsync=1"),
            job("filename=/mnt/a\nsize=9g\nrw=randwrite\nnorandommap\nio_size=90m\nend_fsync=1"),
            job(f"{IN_MEMORY}\nfsync=1"),
            job(f"{IN_MEMORY}\nfsync=32"),
            job(f"{IN_MEMORY}\nfdatasync=1\nrandom_distribution=zipf:1.2"),
            job(f"{IN_MEMORY}\nsync=1"),
            job(f"{IN_MEMORY}\nsync=dsync"),
            job(f"{IN_MEMORY}\nsync_file_range=write:8"),
            job(f"{IN_MEMORY}\nend_fsync=1\ndirect=1"),
            job(f"{IN_MEMORY}\nend_fsync=${{OF_NOBODY}}"),
            job("filename=/dev/ng0n1\nrw=write\nioengine=io_uring_cmd\ncmd_type=nvme"),
            job("filename=/dev/sdb\nrw=read"),
        ],
    ),
    "compressible-data": (
        [
            job(f"{STEADY}\nzero_buffers"),
            job(f"{STEADY}\nbuffer_compress_percentage=50"),
            job(f"{STEADY}\ndedupe_percentage=30"),
            job(f"{STEADY}\nbuffer_pattern=0xdeadbeef"),
            job(f"{STEADY}\nscramble_buffers=0"),
        ],
        [
            job(STEADY),
            job(f"{STEADY}\nrefill_buffers\nscramble_buffers=0"),
            job(f"{STEADY}\nzero_buffers=0\ndedupe_percentage=0"),
        ],
    ),
    "ramp-not-counted": (
        [job(f"{STEADY}\nramp_time=60s")],
        [job(STEADY), job(f"{STEADY}\nramp_time=0")],
    ),
    "misaligned": (
        [
            job(f"{STEADY}\nbs=512"),
            job(f"{STEADY}\nbs=4k,1k"),
            job(f"{STEADY}\noffset=512"),
            job(f"{STEADY}\nblockalign=512"),
            job(f"{STEADY}\nkb_base=1000"),
            job(f"{STEADY}\nbssplit=512/10:4k/90"),
            job(f"{STEADY}\nbs=4KiB"),
            job(f"{STEADY}\nbsrange=4k-64k\nbs_unaligned"),
        ],
        [
            job(STEADY),
            job(f"{STEADY}\nbs=1k,4k"),
            job(f"{STEADY}\nbs=,8k"),
            job(f"{STEADY}\noffset=1M"),
            job(f"{STEADY}\nbsrange=4k-64k"),
            job(f"{DRIVE}\nrw=randread\nbs=512"),
        ],
    ),
    "no-trim": (
        [job("directory=/mnt\nrw=write\nsize=1g\nend_fsync=1\nunlink=1")],
        [job("directory=/mnt\nrw=write\nsize=1g\nend_fsync=1\nunlink=0"), job(STEADY)],
    ),
    "stacked-storage": (
        [job(f"{STEADY}\nfilename=/dev/loop0"), job(f"{STEADY}\nfilename=/vm/disk.qcow2"),
         job(f"{STEADY}\nfilename=/mnt/ssd/test.dat"),
         job("directory=/mnt\nrw=write\nsize=1g\nend_fsync=1"),
         job(f"{STEADY}\nfilename=/dev/md0")],
        [job(STEADY), job(f"{STEADY}\nfilename=/dev/sda"),
         job(f"{STEADY}\nfilename=\\\\.\\PhysicalDrive1"),
         job(f"{STEADY}\nioengine=nbd\nuri=nbd://localhost"),
         job(f"{STEADY}\nfilename=${{OF_NOBODY}}")],
    ),
    "fdp-not-used": (
        ["[global]\nfdp=1\nfdp_pli=3\n" + job(f"{STEADY}\nioengine=xnvme", "a")
         + job(f"{STEADY}\nioengine=xnvme", "b"),
         job(f"{STEADY}\nfdp=1"), job(f"{STEADY}\nioengine=io_uring_cmd\nfdp=1")],
        [job(STEADY), job(f"{STEADY}\nioengine=io_uring_cmd\nfdp=1\nfdp_pli=0,1"),
         job(f"{STEADY}\nfdp=0")],
    ),
    "no-flash-behind": (
        [job(f"{STEADY}\nfilename=/dev/vda"), job(f"{STEADY}\nfilename=/dev/ram0"),
         job("directory=/dev/shm\nrw=write\nsize=1g\nend_fsync=1")],
        [job(STEADY), job(f"{STEADY}\nfilename=/dev/sda:/dev/sdb")],
    ),
    "log-without-offsets": (
        [job(f"{STEADY}\nwrite_bw_log=a\nlog_avg_msec=1000\nlog_offset=1")],
        [job(f"{STEADY}\nwrite_bw_log=a\nlog_avg_msec=1000"), job(f"{STEADY}\nlog_offset=1")],
    ),
    "depth-without-effect": (
        [job("filename=/dev/sdb\nrw=randread\niodepth=32"),
         job("filename=/dev/sdb\nrw=randread\niodepth=32\nioengine=libaio"),
         job(f"{STEADY}\nioengine=pvsync2"),
         job(f"{STEADY}\nfsync=1"), job(f"{STEADY}\nfdatasync=1"), job(f"{STEADY}\nfsync=4"),
         job(f"{STEADY}\nfsync=8"), job(f"{STEADY}\nioengine=io_uring\nfsync=1")],
        [job(STEADY), job(f"{STEADY}\nioengine=io_uring"),
         job(f"{STEADY}\nioengine=sync\niodepth=1"),
         job(f"{STEADY}\nioengine=sync\nio_submit_mode=offload"),
         job(f"{STEADY}\nioengine=${{ENGINE_OF_NOBODY}}"),
         job(f"{STEADY}\nsync=1"), job(f"{STEADY}\nfsync=16"), job(f"{STEADY}\nfsync=0"),
         job(f"{STEADY}\nend_fsync=1"), job(f"{STEADY}\nfsync=1\niodepth=1"),
         job(f"{DRIVE}\nrw=randread\nfsync=1"), job(f"{STEADY}\nioengine=sg\nfsync=1")],
    ),
    "uneven-end": (
        [job(f"{STEADY}\nsize=100000000000\nbs=12k"), job(f"{STEADY}\nfill_device=1")],
        [job(STEADY), job(f"{STEADY}\nsize=120g\nbs=4k"), job(f"{STEADY}\nfill_device=0")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_in_a_job_is_found_and_a_job_without_it_is_not(name: str, tmp_path: Path) -> None:
    wrong, right = CASES[name]
    assert [text for text in wrong if name not in ids(findings(tmp_path, text))] == []
    assert [text for text in right if name in ids(findings(tmp_path, text))] == []


def test_every_check_of_jobs_has_its_cases() -> None:
    of_jobs = {one.id for one in checks() if "fio job" in one.of}
    assert of_jobs <= CASES.keys()


def test_every_check_is_in_a_test_of_the_doctor() -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_doctor*.py"))
    assert [one.id for one in checks() if f'"{one.id}"' not in tests] == []


@pytest.mark.parametrize(
    ("text", "severity", "evidence"),
    [
        ("rw=randwrites", "error", "rw=randwrites is not a direction; did you mean randwrite"),
        ("norandomap", "error", "norandomap is not an option of fio; did you mean norandommap"),
        ("bs=4q", "error", "bs=4q is not a size; fio 3.33 reads 4"),
        ("ioengine=libaoi", "error", "ioengine=libaoi is unknown; did you mean libaio"),
        ("bell_and_whistle=1", "note", "bell_and_whistle is unknown to writeamp"),
        ("ioengine=of_tomorrow", "note", "ioengine=of_tomorrow is unknown"),
    ],
)
def test_what_is_not_understood_is_told_with_the_nearest_that_is(
    text: str, severity: str, evidence: str, tmp_path: Path
) -> None:
    found = findings(tmp_path, job(f"{STEADY}\n{text}"))
    told = [(one.severity, one.evidence) for one in found if one.id == "not-understood"]
    assert told == [(severity, evidence)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("rw=randwrite\nsize=100%\nio_size=1T", "looped-permutation"),
        ("rw=randwrite\nio_size=1T", "looped-permutation"),
        ("rw=randwrite\nsize=100%\nio_size=100g\nnorandommap", "too-few-writes"),
        (f"{STEADY}\nsize=120g", "small-span"),
    ],
)
def test_what_the_size_of_the_drive_decides_is_judged_by_it_or_said_not_to_be(
    text: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "job.fio"
    path.write_text(job(f"{DRIVE}\n{text}"))
    unknown = wa.doctor(path, simulate=False)
    assert name not in ids(list(unknown.findings))
    told = {one["id"]: one["reason"] for one in unknown.to_dict()["not_judged"]}
    assert told[name] == "the size of /dev/nvme0n1 is unknown. Pass --capacity"
    small, large = (
        wa.doctor(path, simulate=False, capacity=capacity) for capacity in ("100GB", "200GB")
    )
    assert small.not_judged == large.not_judged == ()
    found = small if name == "looped-permutation" else large
    assert name in ids(list(found.findings))


FILL = f"{DRIVE}\nrw=write\nbs=1M"


@pytest.mark.parametrize(
    ("text", "name", "needed"),
    [
        (job(f"{FILL}\nsize=2t\nruntime=600"), "runtime-ends-it", "3.67 GB/s"),
        (job(f"{FILL}\nsize=2t\nruntime=600\ntime_based"), "runtime-ends-it", "3.67 GB/s"),
        (job(f"{FILL}\nsize=1t\nloops=2\nruntime=600"), "runtime-ends-it", "3.67 GB/s"),
        (job(f"{DRIVE}\nrw=randwrite\nsize=100g\nloops=4\nruntime=60"), "looped-permutation",
         "1.79 GB/s"),
        (job(f"{DRIVE}\nrw=randwrite\nsize=100g\nruntime=60\ntime_based\n"
             "random_generator=lfsr"), "looped-permutation", "1.79 GB/s"),
        (job(f"{STEADY}\nsize=1t"), "too-few-writes", "611 MB/s"),
        (job(f"{DRIVE}\nrw=randwrite\nnorandommap\nsize=100g\nloops=4\nruntime=60"),
         "too-few-writes", "3.58 GB/s"),
        (job(f"{FILL}\nsize=1t\nruntime=600", "f") + job(f"{STEADY}\nstonewall\nsize=1t"),
         "fresh-drive", "1.83 GB/s"),
        (job("filename=/mnt/a\nrw=write\nsize=100g\nend_fsync=1\ntime_based\nruntime=60"),
         "page-cache", "1.79 GB/s"),
    ],
)  # fmt: skip
def test_what_the_speed_of_the_drive_decides_is_not_judged(
    text: str, name: str, needed: str, tmp_path: Path
) -> None:
    path = tmp_path / "job.fio"
    path.write_text(text)
    report = wa.doctor(path, simulate=False)
    assert name not in ids(list(report.findings))
    reasons = [one.reason for one in report.not_judged if one.id == name]
    assert any(f"{needed} would be needed" in one for one in reasons)


@pytest.mark.parametrize(
    ("options", "evidence"),
    [
        ("size=12t\nruntime=600", "at most 0.728 times, as runtime=600 ends it"),
        ("size=100g\nruntime=600\nrate=100m", "0.586 times"),
        ("size=100g\nruntime=600\nrate_iops=50k", "1.17 times"),
        ("size=1t\nruntime=60\nnumjobs=4", "at most 0.873 times, as runtime=60 ends it"),
    ],
)
def test_writes_that_no_speed_makes_enough_are_too_few(
    options: str, evidence: str, tmp_path: Path
) -> None:
    text = job(f"{DRIVE}\nrw=randwrite\nnorandommap\ntime_based\n{options}")
    (one,) = (one for one in findings(tmp_path, text) if one.id == "too-few-writes")
    assert one.evidence == f"the span is written {evidence}"


def test_writes_at_a_known_rate_are_enough(tmp_path: Path) -> None:
    text = job(f"{STEADY}\nsize=100g\nruntime=600\nrate_iops=500k")
    assert "too-few-writes" not in ids(findings(tmp_path, text))


def test_a_fill_that_time_ends_leaves_the_drive_empty_in_part(tmp_path: Path) -> None:
    fill = job(f"{FILL}\nsize=12t\nruntime=600", "fill")
    text = fill + job(f"{STEADY}\nstonewall\nsize=12t")
    evidence = {one.id: one.evidence for one in findings(tmp_path, text, capacity="20TB")}
    assert "fill writes 0.73 of it" in evidence["fresh-drive"]
    assert "small-span" in evidence


@pytest.mark.parametrize(
    ("options", "severity", "words"),
    [
        ("fsync=1", "warning", "a depth of at most 1"),
        ("fdatasync=4", "warning", "a depth of at most 4"),
        ("fsync=8", "note", "a depth of at most 8"),
        ("fsync=1\nioengine=io_uring", "note", "as one request of iodepth"),
    ],
)
def test_what_fsync_does_to_the_depth_follows_from_the_engine(
    options: str, severity: str, words: str, tmp_path: Path
) -> None:
    found = findings(tmp_path, job(f"{STEADY}\n{options}"))
    (one,) = (one for one in found if one.id == "depth-without-effect")
    assert one.severity == severity
    assert words in one.message


RIGHT = f"{SPRANDOM}\nspr_op=0.07\nspr_cs=1g"
MEASURE = job(f"{STEADY}\nstonewall", "measure")


@pytest.mark.parametrize(
    ("text", "severity", "words"),
    [
        (job(SPRANDOM), "warning", "for another over-provisioning"),
        (job(f"{SPRANDOM}\nspr_op=7%\nspr_cs=1g"), "error", "must be a ratio"),
        (job(f"{SPRANDOM}\nspr_op=0.07"), "note", "the drive's write cache"),
        (job(RIGHT), "note", "for this over-provisioning"),
        (job(f"{RIGHT}\nsize=100g\nspr_num_regions=108"), "error", "larger than a region"),
        (job(f"{RIGHT}\nnumjobs=2"), "error", "one job with one file"),
        (job(f"{RIGHT}\nfilename=/dev/sdb:/dev/sdc"), "error", "one job with one file"),
        (job(f"{RIGHT}\nsize=100g"), "warning", "writes the whole drive"),
        (job(f"{RIGHT}\nrw=randrw"), "error", "random writes only"),
        (job(f"{DRIVE}\nrw=write", "fill") + job(f"{RIGHT}\nstonewall"), "warning",
         "needs an empty drive"),
        (job(RIGHT) + job(f"{DRIVE}\nrw=write\nstonewall", "fill") + MEASURE, "warning",
         "destroy the state"),
        (job(RIGHT) + MEASURE.replace("[measure]", "[m]\nexec_prerun=blkdiscard /dev/nvme0n1"),
         None, ""),
    ],
)  # fmt: skip
def test_what_sprandom_needs_is_looked_for(
    text: str, severity: str | None, words: str, tmp_path: Path
) -> None:
    found = [one for one in findings(tmp_path, text) if one.id == "sprandom"]
    if severity is None:
        assert {one.severity for one in found} == {"note"}
    else:
        assert severity in {one.severity for one in found if words in one.message}


def test_sprandom_is_a_fill_that_ages_the_drive(tmp_path: Path) -> None:
    found = findings(tmp_path, job(RIGHT) + MEASURE, capacity="128GiB")
    assert {one.id for one in found} - {"repeated-seed"} == {"sprandom"}
    assert {one.severity for one in found} == {"note"}
    purged = job(RIGHT) + MEASURE.replace("[measure]", "[m]\nexec_prerun=blkdiscard /dev/nvme0n1")
    assert "fresh-drive" in ids(findings(tmp_path, purged), notes=False)


def test_passes_over_a_share_of_the_drive_are_counted(tmp_path: Path) -> None:
    text = job(f"{DRIVE}\nrw=randwrite\nsize=100%\nio_size=1000000000000")
    found = findings(tmp_path, text, capacity="100GB")
    (one,) = (one for one in found if one.id == "looped-permutation")
    assert "10 passes over the span" in one.evidence
    assert "looped-permutation" not in ids(findings(tmp_path, text, capacity="1.5TB"))


def test_a_span_that_is_written_once_is_told_in_words(tmp_path: Path) -> None:
    (found,) = (
        one
        for one in findings(tmp_path, job(f"{DRIVE}\nrw=randwrite"))
        if one.id == "too-few-writes"
    )
    assert found.evidence == "the span is written once"


def test_jobs_of_which_none_writes_are_told(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    for text, expected in (("rw=read", 1), ("rw=write", 0), ("rw=${OF_NOBODY}", 0)):
        path.write_text(job(f"{DRIVE}\n{text}"))
        notes = wa.doctor(path, simulate=False).notes
        assert sum("no job writes" in one for one in notes) == expected


CLEAN = [
    job(STEADY),
    job(f"{DRIVE}\nrw=write\nbs=1M"),
    job(f"{DRIVE}\nrw=write\nbs=128k\nloops=2", "fill")
    + job(f"{DRIVE}\nrw=randwrite\nnorandommap\nloops=2\nstonewall", "age")
    + job(f"{STEADY}\nstonewall\nramp_time=60", "measure"),
    f"[global]\n{STEADY}\nrandom_generator=tausworthe64\nrefill_buffers\n[a]\n[b]\nstonewall\nbs=16k\n",
    job(f"{STEADY}\nnumjobs=4\ngroup_reporting"),
    job(f"{DRIVE}\nrw=randrw\nrwmixread=70\nnorandommap\ntime_based\nruntime=3600s"),
    job(f"{STEADY}\nrandom_distribution=zipf:0.99"),
    job(f"{STEADY}\nrandom_distribution=zoned:60/10:30/20:8/30:2/40"),
    job("filename=/dev/ng0n1\nioengine=io_uring_cmd\ncmd_type=nvme\nrw=randwrite\nbs=4k\n"
        "norandommap\ntime_based\nruntime=1800\nfdp=1\nfdp_pli=0\niodepth=64"),
    job("directory=/mnt/data\nrw=write\nbs=1M\nsize=8g\nnumjobs=4\nend_fsync=1"),
    job("directory=/mnt/db\nrw=write\nbs=16k\nsize=4g\nfdatasync=1"),
    job(f"{DRIVE}\nrw=read\nbs=1m"),
    job(f"{DRIVE}\nrw=randread\ntime_based\nruntime=5m"),
    job(f"{STEADY}\nbssplit=4k/60:8k/20:64k/20"),
    job(f"{DRIVE}\nrw=write\nbs=1M\nnumjobs=8\nsize=12%\noffset_increment=12%"),
    job(f"{STEADY}\nss=iops_slope:0.3%\nss_dur=1800\nss_ramp=300"),
    job(f"{DRIVE}\nrw=randwrite\nnorandommap\nsize=400g\nio_size=4t"),
    "; written by hand\n# and again\n[global]\n  ioengine = io_uring\n  direct = 1\n\n[w]\n"
    "  filename=/dev/nvme0n1 ; the drive\n  rw = randwrite\n  norandommap\n  bs = 4k\n"
    "  time_based\n  runtime = 2h\n",
    "fio --name=fill --filename=/dev/sdb --rw=write --bs=1M --direct=1 --ioengine=libaio "
    "--iodepth=8\nfio --name=age --filename=/dev/sdb --rw=randwrite --bs=4k --direct=1 "
    "--norandommap \\\n  --ioengine=libaio --iodepth=32 --time_based --runtime=4h --randrepeat=0\n",
    job(f"{DRIVE}\nrw=trimwrite\nbs=64k"),
    job(f"{STEADY}\nwrite_bw_log=bw\nwrite_iops_log=iops\nlog_avg_msec=1000\nper_job_logs=0"),
    # As JESD219 has it.
    job(f"{DRIVE}\nrw=randrw\nrwmixread=40\nnorandommap\nrandrepeat=0\nnumjobs=4\nblockalign=4k\n"
        "bssplit=512/4:1024/1:1536/1:2048/1:2560/1:3072/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3\n"
        "random_distribution=zoned:50/5:30/15:20/80"),
    job(f"{STEADY}\noffset=0%\nsize=50%", "a") + job(f"{STEADY}\noffset=50%\nsize=50%", "b"),
    job(f"{STEADY}\nnumjobs=4\nsize=25%\noffset_increment=25%"),
    job("filename=/dev/null\nrw=write\nnumjobs=4\nbs=512"),
    "[global]\nioengine=libaio\ndirect=1\nfilename=/dev/nvme0n1\n[fill]\nrw=write\nbs=1M\n"
    "[steady]\nstonewall\nrw=randwrite\niodepth=32\nnumjobs=4\n",
    job("ioengine=nbd\nuri=nbd://localhost\nrw=randwrite\nbs=4k\niodepth=16\nnorandommap\n"
        "time_based\nruntime=60"),
]  # fmt: skip


@pytest.mark.parametrize("text", CLEAN, ids=range(len(CLEAN)))
def test_a_clean_job_has_nothing_above_a_note(text: str, tmp_path: Path) -> None:
    found = findings(tmp_path, text)
    assert [one for one in found if one.severity != "note"] == []


@pytest.mark.parametrize(
    ("text", "now", "mended"),
    [
        (job(f"{STEADY}\nsize=50%"), 1.15, 3.77),
        (job(f"{STEADY}\nbs=512"), 30.1, 3.77),
        (job(f"{DRIVE}\nrw=randwrite\nrandrepeat=0\nloops=4"), 3.59, 3.77),
        (job(f"{DRIVE}\nrw=write", "a") + job(f"{DRIVE}\nrw=randwrite\nsize=90%\n"
         "io_size=45%\nnorandommap\nstonewall"), 2.72, 3.48),
    ],
)  # fmt: skip
def test_what_a_mistake_does_is_simulated(
    text: str, now: float, mended: float, tmp_path: Path
) -> None:
    path = tmp_path / "job.fio"
    path.write_text(text)
    (found,) = (one for one in wa.doctor(path).findings if one.severity != "note")
    assert found.wa_now.wa == pytest.approx(now, rel=0.02)
    assert found.wa_fixed.wa == pytest.approx(mended, rel=0.02)


def test_requests_below_the_mapping_unit_cost_a_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text(job(STEADY))
    (found,) = (each for each in wa.doctor(path, mapping_unit="16KiB").findings
                if each.id == "misaligned")  # fmt: skip
    assert "mapping units of 16 KiB" in found.message
    assert found.wa_now is not None
    assert found.wa_fixed is not None
    # As in the simulation of a drive of such units, whose requests of 4 KiB write four times more.
    drive = {"logical_blocks": 256, "pages_per_block": 256, "mapping_unit": "16KiB", "op": 0.15}
    run = wa.simulate(workload="uniform", **drive, writes=90 * 16384, warmup=30 * 16384, replicas=1)
    assert found.wa_now.wa == pytest.approx(run.wa_bytes, rel=0.01)
    assert found.wa_fixed.wa == pytest.approx(run.wa, rel=0.01)
    for text in (f"{STEADY}\nbs=64k", STEADY.replace("randwrite", "write")):
        assert "misaligned" not in ids(findings(tmp_path, job(text), mapping_unit="16KiB"))
    with pytest.raises(wa.WriteampError, match="qlc has its own unit"):
        wa.doctor(path, mapping_unit="16KiB", device="qlc")
