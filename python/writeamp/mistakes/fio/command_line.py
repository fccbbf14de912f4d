"""Jobs of command lines that run fio, in a script or by themselves; nothing is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace

from writeamp.mistakes.fio.job import Job, canonical
from writeamp.mistakes.fio.job_file import FioJobs, in_phases, unknown_values

# Lines that run fio, or begin or end a loop.
_TELLING = re.compile(r"(?:^|[\s;&|(/])fio\s|\b(?:do|done)\b")
_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?(\w+)=(\"[^\"]*\"|'[^']*'|[^\s;&|\"'$]*)\s*")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_CONNECTORS = {";", "&&", "||", "|", "&", "(", ")", "do", "done", "then", "fi"}
# Options of fio itself, whose value may stand as a word of its own.
_OF_FIO = {
    *("output", "output_format", "section", "eta", "status_interval", "client", "parse_only"),
    *("readonly", "minimal", "append_terse", "alloc_size", "max_jobs", "debug", "warnings_fatal"),
    *("server", "daemonize", "remote_config", "trigger", "aux_path", "bandwidth_log", "showcmd"),
    *("version", "help", "cmdhelp", "enghelp", "eta_interval", "eta_newline", "terse_version"),
    *("merge_blktrace_only", "cpuclock_test", "crctest", "idle_prof", "inflate_log"),
    *("trigger_file", "trigger_timeout", "trigger_remote", "latency_log"),
}
_WITHOUT_VALUE = {
    *("time_based", "norandommap", "stonewall", "group_reporting", "thread", "new_group"),
    *("minimal", "parse_only", "readonly", "zero_buffers", "refill_buffers", "fill_device"),
    *("softrandommap", "exitall", "overwrite", "unlink", "gtod_reduce", "ignore_zone_limits"),
}


def is_command(text: str) -> bool:
    """Return whether a text runs fio with a job or a job file."""
    return any(True for _ in _calls(text))


def read_commands(text: str, name: str) -> FioJobs:
    """Return the jobs of all calls of fio in a text, one call after the other.

    Job files that a call names are not opened.
    """
    jobs: list[Job] = []
    named: list[str] = []
    notes: list[str] = []
    for words, is_repeated in _calls(text):
        sections, files = _sections(words)
        open_words = [one for one in files if one.startswith("$")]
        if open_words:
            notes.append(
                f"{name}: {', '.join(open_words)} is not known here; the call of fio that it "
                "stands in is not judged"
            )
            continue
        named += files
        done = jobs[-1].phase + 1 if jobs else 0
        jobs += [
            replace(one, phase=one.phase + done, is_repeated=is_repeated)
            for one in in_phases(sections)
        ]
    return FioJobs(
        name,
        tuple(jobs),
        (*notes, *unknown_values(name, tuple(jobs))),
        commands=text,
        named=tuple(dict.fromkeys(named)),
    )


def _calls(text: str) -> Iterator[tuple[list[str], bool]]:
    """Yield the words behind "fio" of each call in a script, and whether a loop repeats it."""
    call: list[str] | None = None
    loops = 0
    for word in _words(text):
        if word in _CONNECTORS or set(word) <= set(";&|()"):
            if call:
                yield call, loops > 0
            call = None
            loops += (word == "do") - (word == "done")
        elif call is not None:
            call.append(word)
        elif word.rpartition("/")[2] == "fio":
            call = []


def _words(text: str) -> Iterator[str]:
    """Yield the words of a script, its own variables replaced, with a ";" at the end of a line."""
    values: dict[str, str] = {}
    for said in text.replace("\\\n", " ").splitlines():
        line = _VARIABLE.sub(lambda found: values.get(found[1] or found[2], found[0]), said)
        assigned = _ASSIGNMENT.fullmatch(line)
        if assigned is not None:
            values[assigned[1]] = assigned[2].strip("\"'")
        if line.lstrip().startswith("#") or not _TELLING.search(line + " "):
            continue
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|()")
        lexer.whitespace_split = True
        try:
            yield from list(lexer)
        except ValueError:  # a quote that is not closed on this line
            yield from line.split()
        yield ";"


def _sections(words: list[str]) -> tuple[list[tuple[str, dict[str, str]]], list[str]]:
    """Return the jobs of a call as sections, and the job files that it names.

    What stands before the first --name is for all jobs.
    """
    shared: dict[str, str] = {}
    sections: list[tuple[str, dict[str, str]]] = []
    files: list[str] = []
    now = shared
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if word.startswith((">", "<", "2>")):
            break
        if not word.startswith("--"):
            files.append(word)
            continue
        option, equals, value = word[2:].partition("=")
        option = canonical(option)
        if not equals and option not in _WITHOUT_VALUE:
            # An option that is not known may be a flag.
            value = rest.pop() if rest and not rest[-1].startswith("--") else ""
        if option == "name":
            is_shared = value.startswith("global")
            now = shared if is_shared else dict(shared)
            if not is_shared:
                sections.append((value, now))
        elif option not in _OF_FIO:
            now[option] = value
    return sections, files
