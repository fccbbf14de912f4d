"""Check of options and values that are unknown to fio, or that fio reads differently."""

from __future__ import annotations

import re

from writeamp.drives.doctor.finding import DoctorCheck, Judgements, Mistake
from writeamp.fio.job import FioJob
from writeamp.fio.job_file import FioJobs
from writeamp.fio.output import FioOutput
from writeamp.fio.values import (
    SIZES,
    directions,
    engine_names,
    nearest,
    option_names,
    seconds_of,
    wrong_amounts,
)

_TIMES = ("runtime", "ramp_time", "steadystate_duration", "steadystate_ramp_time")
# Values of random_distribution that fio rejects: zipf with theta = 1.
_THETA_1 = re.compile(r"zipf:0*1(\.0*)?(:.*)?")
_DISTRIBUTIONS = frozenset({"random", "zipf", "pareto", "normal", "zoned", "zoned_abs", ""})
# External engines are named by their file, so they are not in the list of engines.
_OUTSIDE = re.compile(r"external|.*[/.]")


def _of_jobs(fio: FioJobs) -> Judgements:
    for job in fio.jobs:
        # fio has accepted the options of a finished run, so only values that it reads differently
        # are reported.
        if not isinstance(fio, FioOutput):
            yield from _of_names(job)
        yield from _of_words(job)
        yield from _of_amounts(job)
        yield from _of_distribution(job)


def _of_names(job: FioJob) -> Judgements:
    for name in sorted(job.options.keys() - option_names()):
        likely = nearest(name, option_names())
        if likely is not None:
            yield Mistake(f"{name} is not an option of fio; did you mean {likely}", (job.name,))
        else:
            yield Mistake(
                f"{name} is unknown to writeamp",
                (job.name,),
                message="An option is unknown to writeamp: its effect is not judged",
                advice="check it in fio: fio --cmdhelp=NAME, or --enghelp=ENGINE,NAME",
                severity="note",
            )


def _of_words(job: FioJob) -> Judgements:
    direction = job.options.get("rw", "read").split(":", 1)[0].strip()
    if "rw" in job.options and "rw" not in job.unknown and direction not in directions():
        yield Mistake(
            f"rw={direction} is not a direction; {_likely(direction, directions())}",
            (job.name,),
        )
    engine = job.options.get("ioengine", "psync").split(":", 1)[0].strip()
    is_known = engine in engine_names() or "ioengine" in job.unknown or _OUTSIDE.match(engine)
    if not is_known:
        likely = nearest(engine, engine_names())
        yield Mistake(
            f"ioengine={engine} is unknown" + (f"; did you mean {likely}" if likely else ""),
            (job.name,),
            severity="error" if likely else "note",
        )


def _likely(name: str, valid: frozenset[str]) -> str:
    likely = nearest(name, valid)
    return f"did you mean {likely}" if likely else f"valid are {', '.join(sorted(valid))}"


def _of_amounts(job: FioJob) -> Judgements:
    """Yield sizes, times and counts that are invalid, or whose unit fio ignores."""
    stated = job.stated_options
    wrong = dict(wrong_amounts(stated, job.kb_base))
    times = sorted(stated.keys() & {*_TIMES})
    wrong |= {name: stated[name] for name in times if seconds_of(stated[name]) is None}
    for name, value in wrong.items():
        digits = re.match("[1-9][0-9]*", value)
        read = f"; fio 3.33 reads {digits[0]}" if digits and name in SIZES else ""
        kind = "size" if name in SIZES else "time" if name in _TIMES else "number"
        yield Mistake(
            f"{name}={stated[name]} is not a {kind}{read}",
            (job.name,),
            advice="use a number with one of fio's units: k, m, g, t for sizes; ms, s, m, h, "
            "d for times",
        )


def _of_distribution(job: FioJob) -> Judgements:
    """Yield a distribution that fio rejects."""
    text = job.options.get("random_distribution", "").strip()
    if _THETA_1.fullmatch(text):
        yield Mistake(
            f"random_distribution={text}: fio's zipf does not support theta = 1",
            (job.name,),
            advice="use another theta, such as 0.99 or 1.01",
        )
    name = text.partition(":")[0]
    if "random_distribution" in job.stated_options and name not in _DISTRIBUTIONS:
        yield Mistake(
            f"random_distribution={text} is unknown; {_likely(name, _DISTRIBUTIONS)}",
            (job.name,),
        )
    shares = re.findall(r"[:,](\d{1,20})/", text.split(",")[0]) if text.startswith("zoned") else []
    if sum(map(int, shares)) > 100:
        yield Mistake(
            f"random_distribution={text}: the shares add up to {sum(map(int, shares))}%",
            (job.name,),
            advice="use shares that add up to 100%",
        )


CHECK = DoctorCheck(
    "not-understood",
    "error",
    "An option or its value is unknown to fio, or fio reads it differently",
    "check the option with fio --cmdhelp=NAME",
    "fio --cmdhelp=all",
    {"fio job": _of_jobs},
)
