"""Command lines that end with a result, from which those that are tried are made.

A word `@ROLE` stands for a file of that role. What lasts long stands among the rare ones.
"""

from __future__ import annotations

_DRIVE = "--blocks 64 --pages-per-block 8 --op 0.3"
_RUN = f"{_DRIVE} --writes 600 --replicas 1"
_OF_TRACE = "--blocks 16 --pages-per-block 2 --op 0.6 --repeat 3 --replicas 1"
_OF_JOB = "--blocks 16 --pages-per-block 2 --op 0.6 --replicas 1"
_PINS = "--dies 2 --page-bytes 4KiB --read-us 50 --program-us 300 --erase-us 2000"
_SMALL_PLAN = "--target generic --blocks 64 --pages-per-block 8"

LINES: dict[str, tuple[str, ...]] = {
    "simulate": (
        _RUN,
        _RUN,
        f"{_RUN} --timed",
        "--device @device --size 16MiB --writes 600 --replicas 1",
        "--device qlc --size 16MiB --writes 600 --replicas 1 --timed --time-scale 0.5",
        "@run:simulate --replicas 1",
        "@run",
        f"--trace @trace {_OF_TRACE} --no-spread",
        f"--fio @job {_OF_JOB} --writes 600",
        f"--fio-run '' {_OF_JOB} --writes 600",
        f"--trace @trace {_OF_TRACE} --timed",
        f"--trace @trace {_OF_TRACE} --no-spread --manager nvme-fdp:handles=2 --hints-by range:2",
        "--logical-pages 300 --pages-per-block 8 --sweep op=0.3:0.5:2 --writes 600 --replicas 1",
    ),
    "compare": (
        f"{_RUN} --managers single,sepgc",
        f"{_RUN} --managers single --victims greedy,fifo --threads 1",
        "@run:compare --replicas 1 --threads 1",
        "--trace @trace --blocks 16 --pages-per-block 2 --op 0.6 --repeat 3 --replicas 1 "
        "--managers single --threads 1",
        f"{_RUN} --managers single,sepgc --out @kept --threads 1",
        f"--fio @job {_OF_JOB} --writes 600 --managers single --threads 1",
        f"--trace @trace {_OF_TRACE} --managers single,nvme-fdp:handles=2 --hints-by range:2 "
        "--threads 1",
    ),
    "endurance": (
        "--blocks 48 --pages-per-block 8 --op 0.3 --w-max 2 --replicas 1 --threads 1",
        "@run:endurance --threads 1 --replicas 1",
        "--device @device:small --w-max 2 --replicas 1 --threads 1",
        f"--fio @job {_OF_JOB} --w-max 2 --threads 1",
    ),
    "lifetime": (
        "@snap:of @snap:of",
        "@snap",
        "@snaps",
        "@snap --daily-writes 100GB",
        "@snap:of @snap:of --rated-tbw 600",
        "--db @history",
        "@snap @snap",
        "--device @device:small --daily-writes 1TB --cycles 2 --fio @job",
    ),
    "meanfield": (
        "--mode hcwf --d 4 --pages-per-block 8 --op 0.2 --hot-fraction 0.2 "
        "--hot-write-fraction 0.8",
        "--mode hcwf-swap --d 4 --d-swap 3 --pages-per-block 8 --fill 0.8 --hot-fraction 0.1 "
        "--hot-write-fraction 0.9",
    ),
    "predict": (
        "--op 0.2",
        "--op 0.2 --pages-per-block 16 --model d-choices --d 5",
        "--target-wa 2",
        "--utilization 0.5 --op 0.1",
        "--sweep op=0.1:0.3:3",
        "--spare-factor 0.1 --logical-blocks 1000",
    ),
    "allocate": (
        "--sizes 0.5,0.5 --frequencies 0.9,0.1 --op 0.2",
        "--sizes 0.2/0.3/0.5 --frequencies 0.6/0.3/0.1 --fill 0.8 --coldest-op 0.05",
        "--explore 3 --op 0.2",
    ),
    "diff": (
        "@result:simulate @result:simulate",
        "@page @page",
        "@result:simulate @page",
        "@result @result",
    ),
    "doctor": (
        "@job",
        "@job --no-simulate",
        "@snap",
        "@trace --no-simulate",
        "@result --no-simulate",
    ),
    "report": ("@page",),
    "list": ("managers", "models", "formats", "workloads", "", "victims", "devices", "checks"),
    "sweep show": ("@swept", "@swept --kind heatmap --x op --y manager", "@swept --pareto wa,op"),
    "sweep run": ("@sweep --out out --workers 1", "@sweep --out @swept --workers 1"),
    "trace info": ("@trace", "@trace", "@trace:msr --format msr", "@trace:blkparse --action Q"),
    # Downloaded by hand, so that no line needs the network.
    "trace fetch": ("alibaba-2020", "alibaba-2020 --to out", "fiu-srcmap --force"),
    "trace list": ("",),
    "trace convert": ("@trace out.parquet", "@trace out.csv --to msr", "@trace out --to blkparse"),
    "trace record": ("/dev/null --out out.parquet --for 1ms", "@trace --out out.parquet -- true",
                     "/dev/nvme9 --out out.parquet --files out --max-size 1MiB --anonymize"),
    "volumes make": ("--volumes 2 --requests 60 --size 64KiB --out out.csv",),
    "volumes split": ("@trace --out out --threads 1", "@trace @trace --out out --by-file"),
    "volumes info": ("@fleet", "@fleet --where requests>0", "@fleet --sample 2"),
    "volumes run": (
        "@fleet --managers single,sepgc --op 0.5 --pages-per-block 4 --workers 1",
        "@fleet --managers single --op 0.5 --pages-per-block 4 --workers 1 --together",
    ),
    "volumes need": ("@fleet --target-wa 1.5 --pages-per-block 4 --workers 1",),
    "measure rb": (
        f"@capture {_PINS} --host-bytes 100KiB",
        "@capture --device generic --dies 2 --host-bytes 100KiB --method fixed",
        f"@capture {_PINS} --host-bytes 1MiB --pin rb0",
    ),
    "measure counters": ("@snap", "@snaps", "@snap @snap", "@snap --families @families",
                         "@snap --rated-tbw 600"),
    "measure diff": (
        "@snap:of @snap:of",
        "@snap @snap",
        "@snaps @snaps",
        "@snap @snap --families @families",
    ),
    "measure save": ("/dev/null --out out", "/dev/nvme9 --out out/", "@snap --out out"),
    "measure run": ("@snap:seagate --settle 0.1s --wait 0.1s -- true",),
    "measure calibrate": ("@snap:of @snap:of --written 1TB", "@snaps @snaps --written 64GiB"),
    "measure fleet": ("@snaps --workers 1", "@snap @snap --workers 1", "@history @snaps",
                      "@snap --rated-tbw 2"),
    "measure all": ("",),
    "live": ("/dev/null --once --for 1ms", "@trace --once", "@snap --json"),
    "measure watch": ("@snap --db out.db --once", "@snap @snaps --db @history --once --json"),
    "measure history": ("--db @history", "--db @history --prometheus out.prom"),
    "blackbox train": ("@measured:a --targets wa --out out.model --model quantile-tree",),
    "blackbox evaluate": ("@model @measured:other", "@model @measured:a --cv 2"),
    "blackbox predict": (
        "@model --workload random:bs=8k,write=0.5,qd=8",
        "@model --trace @trace --window 1s --service 100us",
        "@model --fio @job",
        "@model --fio-run fio",
    ),
    "blackbox explain": ("@model", "@model --workload random:bs=8k,write=0.5,qd=8 --target wa",
                         "@model --fio @job"),
    "blackbox choose": ("@model @model --workload random:bs=8k,write=0.5,qd=8 --max-wa 3",
                        "@model --fio @job --max-wa 3"),
    "blackbox collect": (
        "--target generic --size 16MiB --points 1 --time 20ms --workers 1 --out out.parquet",
        "--target generic --size 16MiB --points 1 --time 20ms --workers 1 --out @measured:c",
    ),
    "twin plan": ("--capacity 512MiB --out out.toml", "--target generic --phases 2 --out out.toml"),
    "twin measure": (
        f"{_SMALL_PLAN} --phases 1 --out out.pq",
        f"{_SMALL_PLAN} --plan @plan --out out.pq",
        "--windows @windows:b --plan @plan --out out.pq",
    ),
    "twin check": ("@device:twin @phases:a --workers 1",
                   "@device:twin @phases:b --readings @readings --workers 1"),
    "twin fit": ("--wa 2.5 --trace @trace --out out.toml --workers 1", "--trace @trace "
                 "--counters @snap --counters @snap --out out.toml --workers 1"),
    "answer": (f"{_RUN} --quick", f"--trace @trace {_OF_TRACE} --quick",
               f"{_RUN} --quick --counters @snap",
               f"--fio @job {_OF_JOB} --writes 600 --quick"),
    "blame": (f"@trace --by range:3 {_OF_TRACE}", "@trace --by file --op 0.5 --pages-per-block 2"),
    "examples": ("out", "@snap", "@snaps"),
    "explore": ("--managers single --writes 60 --blocks 8 --pages-per-block 4 --op 0.5 "
                "--out out.html",),
    "serve": (f"{_DRIVE} --run true",),
    "top": ("nothing --once", "@snap --once", "no\0such --once", " --once"),
    "reproduce": ("park2018", "", "park"),
}  # fmt: skip
# One in so many is one of these, which take seconds; `reproduce` of most papers and `twin fit`
# without a trace take minutes, and are left out.
RARITY = 10_000
RARE: dict[str, tuple[str, ...]] = {
    "lifetime": ("--device fdp-datacenter --workload uniform --daily-writes 100GB",),
    "reproduce": ("park2017",),
    "doctor": ("@job --device generic --size 64MiB",),
}
# Of 10 000 calls; all others are 150. Those that draw, serve or fit last longer.
SHARES = {
    "simulate": 1100, "compare": 250, "endurance": 250, "predict": 700, "measure counters": 800,
    "measure diff": 400, "trace info": 500, "trace convert": 200, "doctor": 300, "diff": 250,
    "lifetime": 300, "report": 250, "list": 150, "meanfield": 250, "explore": 2, "serve": 6,
    "answer": 6, "blame": 40, "twin fit": 4,
    "twin measure": 30, "blackbox train": 12, "volumes make": 12,
    "volumes run": 20, "volumes need": 8, "volumes split": 30, "blackbox collect": 30,
    "blackbox evaluate": 30, "reproduce": 20, "sweep run": 40, "blackbox explain": 60,
    "twin check": 30, "measure rb": 150, "top": 30, "measure save": 30, "measure run": 5,
    "measure all": 5, "live": 20,
}  # fmt: skip
USUAL_SHARE = 100
# Nothing is put in at a venture, or left out: they would run it, or never end.
FIXED = (
    "measure run", "serve", "measure watch", "measure calibrate", "explore", "answer", "top",
    "twin fit",
)  # fmt: skip
