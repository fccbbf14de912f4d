"""Jobs of fio as a workload of the engine: each copy of a job is a stream of requests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.files import inputs
from writeamp.fio import sprandom
from writeamp.fio.command_line import read_commands
from writeamp.fio.job import WITHOUT_DRIVE, FioJob, canonical
from writeamp.fio.job_file import FioJobs, read_job_file
from writeamp.fio.name_hash import name_hash
from writeamp.fio.notes import handle_of, notes_of_job
from writeamp.fio.sizes import filled, parameters_of_sizes, sizes_of
from writeamp.fio.values import (
    in_direction,
    is_set,
    option_names,
    share_of,
    size_of,
    wrong_amounts,
)

# Options that can change the load and are not modelled. All other options of fio that are not
# modelled concern the target, times, data, reports or the machine.
_NOT_MODELLED = frozenset(
    {
        *("read_iolog", "merge_blktrace_file", "replay_align", "replay_scale", "replay_redirect"),
        *("nrfiles", "nr_files", "openfiles", "file_service_type", "filesize", "file_append"),
        *("fill_device", "offset_align", "num_range", "max_open_zones", "job_max_open_zones"),
        *("read_beyond_wp", "zone_reset_threshold", "zone_reset_frequency", "io_size_distribution"),
        *("trim_percentage", "trim_backlog", "verify_backlog", "flow", "profile", "dp_scheme"),
        *("exec_prerun", "barrier", "write_barrier", "sync_file_range", "random_size"),
        *("plid_select", "fdp_pli_select", "numruns", "experimental_verify"),
        *("wait_for", "verify_only", "create_only", "stream_id"),
    }
)
# Options that can change the load of several jobs: their relative rates, and which ones end.
_NOT_MODELLED_OF_SEVERAL = frozenset({"thinktime", "startdelay", "exitall"})
# Engines that write to no drive; null takes the place of a drive in tests of a load.
_REFUSED_ENGINES = WITHOUT_DRIVE - {"null"}
_MODES = {
    "read": ("read", False),
    "write": ("write", False),
    "trim": ("trim", False),
    "randread": ("read", True),
    "randwrite": ("write", True),
    "randtrim": ("trim", True),
    "rw": ("rw", False),
    "readwrite": ("rw", False),
    "randrw": ("rw", True),
    "trimwrite": ("trimwrite", False),
    "randtrimwrite": ("trimwrite", True),
}
_DISTRIBUTIONS = {"zipf": 1.1, "pareto": 0.2, "normal": 0.0}
_HINTS = {"none": 0, "short": 1, "medium": 2, "long": 3, "extreme": 4}
# Job files are small; a larger file is something else.
_MOST_BYTES = 1 << 20
_MOST_COPIES = 500


@dataclass(frozen=True)
class FioLoad:
    """Workload of jobs, its name, and notes on how the jobs were read."""

    text: str
    name: str
    notes: tuple[str, ...]


def fio_load(
    path: str | Path | None, command: str | None, runs: int | None = None
) -> FioLoad | None:
    """Return the workload of a job file or of a command line of fio; None without both.

    Args:
        path: the job file, or None.
        command: the command line, or None. The one job file that it may name is opened.
        runs: number of runs of all jobs; None repeats them without end.

    Raises:
        WriteampError: both are given, or the jobs cannot be read or modelled.
    """
    if path is not None and command is not None:
        raise WriteampError("fio and fio_run exclude each other; give only one")
    if path is None and command is None:
        return None
    return load_of(*_read(path, command), runs)


def notes_of_jobs(path: str | Path | None, command: str | None) -> tuple[str, ...]:
    """Return notes on how jobs were read; none if their file is no longer there."""
    try:
        load = fio_load(path, command)
    except WriteampError:
        return ()
    return () if load is None else load.notes


def jobs_of(path: str | Path | None, command: str | None) -> FioJobs:
    """Return the jobs of a job file, or else of a command line of fio.

    Raises:
        WriteampError: there are no jobs, or they cannot be read.
    """
    jobs, _, _ = _read(path, command)
    return jobs


def _read(path: str | Path | None, command: str | None) -> tuple[FioJobs, str, str]:
    """Return the jobs of a file or else of a command line, their text, and their name."""
    if path is not None:
        text = inputs.read_bytes(path, _MOST_BYTES, "fio job").decode(errors="replace")
        name = "standard input" if path == inputs.STANDARD_INPUT else str(path)
        return read_job_file(text, name), text, Path(name).name
    jobs = read_commands(command or "", "the command")
    if not jobs.jobs and len(jobs.named) == 1:
        return _read(jobs.named[0], None)
    if not jobs.jobs or jobs.named:
        raise WriteampError(
            "--fio-run needs one command of fio with --name and its options, such as 'fio --name=a "
            "--rw=randwrite --bs=4k'; or with one job file"
        )
    return jobs, command or "", "fio"


def load_of(jobs: FioJobs, text: str = "", name: str = "fio", runs: int | None = None) -> FioLoad:
    """Return the workload of jobs.

    Args:
        jobs: the jobs.
        text: text of their file, whose lines are named in an error.
        name: name of the workload in results.
        runs: number of runs of all jobs; None repeats them without end.

    Raises:
        WriteampError: the jobs cannot be modelled.
    """
    _check(jobs, text)
    phases = sorted({job.phase for job in jobs.jobs})
    streams: list[str] = []
    notes: list[str] = []
    # Each copy of a job without filename has a file of its own.
    start = 0
    for job in jobs.jobs:
        phase = phases.index(job.phase)
        notes += notes_of_job(job, is_last=job.phase == phases[-1])
        streams += _streams(job, phase, _weight(job, jobs), start)
        start += 0 if job.files else (job.size("size") or 0) * job.copies
    depth = max(
        sum(job.count("iodepth", 1) * job.copies for job in jobs.jobs if job.phase == phase)
        for phase in phases
    )
    params = [f"streams={'/'.join(streams)}"]
    params += [] if depth <= 1 else [f"depth={min(depth, 65_536)}"]
    params += [] if runs is None else [f"runs={runs}"]
    return FioLoad(f"fio:{','.join(params)}", name, tuple(notes))


def _check(jobs: FioJobs, text: str) -> None:
    """Reject jobs that write to no drive, and options that are not modelled, all at once."""
    copies = sum(job.copies for job in jobs.jobs)
    if copies > _MOST_COPIES:
        raise WriteampError(
            f"{jobs.name}: the jobs have {copies:,} copies; at most {_MOST_COPIES:,} are modelled"
        )
    for job in jobs.jobs:
        if job.engine in _REFUSED_ENGINES:
            raise WriteampError(
                f"{jobs.name}: job {job.name!r} has ioengine={job.engine}, which writes to no "
                "drive; remove this job"
            )
        if job.rw not in _MODES:
            raise WriteampError(
                f"{jobs.name}: job {job.name!r} has rw={job.options['rw']}; valid: "
                f"{', '.join(_MODES)}"
            )
    options = {option: value for job in jobs.jobs for option, value in job.options.items()}
    refused = _NOT_MODELLED | (_NOT_MODELLED_OF_SEVERAL if len(jobs.jobs) > 1 else set())
    faults = [
        f"{option}{_places(option, text)}"
        for option in sorted(options)
        if option in refused and is_set(options[option])
    ]
    faults += [
        f"{option}{_places(option, text)}, which fio does not know"
        for option in sorted(options.keys() - option_names())
        if option not in refused
    ]
    faults += [
        f"{option}={options[option]}{_places(option, text)}, which fio cannot read as a number"
        for job in jobs.jobs
        for option, _ in wrong_amounts(job.stated_options, job.kb_base)
    ]
    faults += [
        f"{option}={value}{_places(option, text)}, whose value is unknown"
        for job in jobs.jobs
        for option, value in job.unknown.items()
        if option not in {"filename", "uri", "directory", "ioengine", "name", "runtime"}
    ]
    faults += [
        f"zonemode={mode}" for mode in {options.get("zonemode", "none")} - {"none", "strided"}
    ]
    faults += [f"several files of job {job.name!r}" for job in jobs.jobs if len(job.files) > 1]
    if faults:
        raise WriteampError(
            f"{jobs.name}: these could change the load and are not modelled: "
            f"{'; '.join(dict.fromkeys(faults))}. Remove them"
        )
    for job in jobs.jobs:
        for fault in sprandom.faults(job, sizes_of(job)):
            raise WriteampError(f"{jobs.name}: job {job.name!r} has sprandom with {fault}")


def _places(option: str, text: str) -> str:
    """Return the lines of a job file that set an option, in brackets; empty for a command."""
    numbers = [
        str(number)
        for number, line in enumerate(text.splitlines(), 1)
        if canonical(line.split("=", 1)[0]) == option
    ]
    return f" (line {', '.join(numbers)})" if numbers else ""


def _weight(job: FioJob, jobs: FioJobs) -> float:
    """Return the relative rate of a copy's requests; without a rate, that of the others."""
    rates = [_requests_s(other) for other in jobs.jobs if other.phase == job.phase]
    stated_rates = [rate for rate in rates if rate]
    usual = sum(stated_rates) / len(stated_rates) if stated_rates else 1.0
    return _requests_s(job) or usual


def _requests_s(job: FioJob) -> float:
    """Return the requests per second that `rate_iops` or `rate` sets; 0 without them."""
    directions = {"read": (0,), "write": (1,), "trim": (2,), "rw": (0, 1), "trimwrite": (1, 2)}
    total = 0.0
    for direction in directions[_MODES[job.rw][0]]:
        requests = size_of(in_direction(job.options.get("rate_iops", ""), direction), job.kb_base)
        bytes_s = size_of(in_direction(job.options.get("rate", ""), direction), job.kb_base)
        least, most = sizes_of(job)[direction]
        total += requests or (bytes_s or 0) * 2 / (least + most)
    return total


def _streams(job: FioJob, phase: int, weight: float, start: int) -> Iterator[str]:
    """Yield the stream of each copy of a job; `start` is the place of its first own file."""
    params = {"phase": phase, "weight": weight, **_order(job), **_extents(job), **_randomness(job)}
    params |= sprandom.parameters(job) | parameters_of_sizes(job)
    for copy in range(job.copies):
        own = {"number": job.number + copy, **_offsets(job, copy, start)}
        own["name_hash"] = name_hash(job.files[0] if job.files else f"{job.name}.{copy}.0")
        texts = [
            f"{name}={_text(value)}" for name, value in (params | own).items() if value is not None
        ]
        yield f"stream({','.join(texts)})"


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _order(job: FioJob) -> dict[str, object]:
    mode, is_random = _MODES[job.rw]
    run = job.options.get("rw", "").partition(":")[2].strip()
    order: dict[str, object] = {"mode": mode, "random": is_random}
    if run and is_random:
        order["run"] = max(1, size_of(run, job.kb_base) or 1)
    elif run:
        sign = -1 if run.startswith("-") else 1
        order["skip"] = sign * (size_of(run.lstrip("-"), job.kb_base) or 0)
    if job.options.get("rw_sequencer", "").strip() == "identical":
        order["identical"] = True
    if mode == "rw":
        order["read_percent"] = round(100 * (1 - job.write_share))
    syncs = [job.count(name, 0) for name in ("fsync", "fdatasync")]
    order["fsync"] = min((count for count in syncs if count), default=None)
    hint = job.options.get("write_hint", "none").strip().lower()
    order["handle"] = handle_of(job) or _HINTS.get(hint) or None
    return order


def _extents(job: FioJob) -> dict[str, object]:
    size = job.options.get("size", "")
    extents: dict[str, object] = {"size": job.size("size"), "size_share": share_of(size)}
    loops = job.count("loops", 1)
    extents["loops"] = loops if loops > 1 else None
    extents["io_size"], extents["io_share"] = (
        job.size("io_size") or None,
        share_of(job.options.get("io_size", "")),
    )
    extents["requests"] = job.count("number_ios", 0) or None
    extents["endless"] = job.is_timed or None
    if job.options.get("zonemode", "none").strip() == "strided" or (
        "zonemode" not in job.options and job.size("zonesize") and job.size("zoneskip")
    ):
        zone = job.size("zonesize") or 0
        extents["stride_size"] = zone
        extents["stride_range"] = job.size("zonerange") or zone
        extents["stride_skip"] = job.size("zoneskip") or None
    return extents


def _offsets(job: FioJob, copy: int, start: int) -> dict[str, object]:
    offset = job.size("offset") or 0
    offset += 0 if job.files else start + copy * (job.size("size") or 0)
    step = job.size("offset_increment") or 0
    shares = [share_of(job.options.get(name, "")) or 0.0 for name in ("offset", "offset_increment")]
    if shares[1] and not shares[0] + copy:
        # With an increment in per cent, fio aligns also the first start.
        unit = min(least for least, _ in sizes_of(job))
        offset = -(-offset // unit) * unit
    return {
        "offset": offset + copy * step or None,
        "offset_share": shares[0] + copy * shares[1] or None,
    }


def _randomness(job: FioJob) -> dict[str, object]:
    random: dict[str, object] = {"map": False if job.has("norandommap") else None}
    percents = [
        size_of(in_direction(job.options.get("percentage_random", "100"), direction))
        for direction in range(3)
    ]
    if percents != [100, 100, 100]:
        random["random_percent"] = "/".join(
            str(100 if percent is None else percent) for percent in percents
        )
    generator = job.options.get("random_generator", "tausworthe").strip()
    random["generator"] = None if generator == "tausworthe" else generator
    random |= _distribution(job)
    seed = size_of(job.options.get("randseed", ""))
    if is_set(job.options.get("randrepeat", "1")):
        seeding = None if seed is None else "continued"
    else:
        seeding = "fresh" if seed is None else "fixed"
    return random | {"seeding": seeding, "seed": seed}


def _distribution(job: FioJob) -> dict[str, object]:
    words = job.options.get("random_distribution", "random").strip().split(":")
    name, values = words[0], words[1:]
    try:
        if name in _DISTRIBUTIONS:
            parameter = float(values[0]) if values and values[0] else _DISTRIBUTIONS[name]
            center = float(values[1]) if len(values) > 1 and values[1] else None
            if (name == "zipf" and parameter == 1) or (name == "pareto" and not 0 < parameter < 1):
                raise ValueError
            return {"distribution": name, "parameter": parameter, "center": center}
        if name in {"zoned", "zoned_abs"}:
            pairs = _zones(":".join(values).split(",")[0], name, job.kb_base)
            return {"distribution": name.replace("_", "-"), "zones": "/".join(map(str, pairs))}
        if name in {"random", ""}:
            return {}
    except ValueError:
        pass
    raise WriteampError(
        f"job {job.name!r} has random_distribution={':'.join(words)}; valid: random, zipf:θ (not "
        "1), pareto:h (0 to 1), normal:deviation, zoned:access/size:…, zoned_abs:access/bytes:…"
    )


def _zones(text: str, name: str, kb_base: int) -> Iterator[int]:
    """Yield the per cent of the accesses and the size of each zone; missing ones share the rest."""
    pairs = [pair.partition("/")[::2] for pair in text.split(":")]
    accesses = filled([int(access) if access else None for access, _ in pairs])
    sizes = [
        size_of(size.rstrip("%"), kb_base if name == "zoned_abs" else 1024) for _, size in pairs
    ]
    for access, size in zip(accesses, filled(sizes) if name == "zoned" else sizes, strict=True):
        if size is None:
            raise ValueError(text)
        yield from (access, size)
