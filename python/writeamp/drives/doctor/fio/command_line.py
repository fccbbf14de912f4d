"""Jobs of command lines that run fio, in a script or by themselves; nothing is run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from writeamp.drives.doctor.fio.job import FioJob, canonical, set_option
from writeamp.drives.doctor.fio.job_file import (
    FioJobs,
    in_phases,
    is_job_file,
    read_job_file,
    unknown_values,
)
from writeamp.drives.doctor.fio.other_programs import unwrapped, written_by_others
from writeamp.drives.doctor.fio.shell import (
    OPEN_WORD,
    ShellCommand,
    commands_of,
    documents_of,
)

_SHEBANG = re.compile(r"#!\s*\S*(?:sh|/env\s+\S*sh)\b")
# What names fio as a program; a trace of many megabytes names it as a process, if at all.
_NAMES_FIO = re.compile(
    r"(?:^|[\s;&|({/\\\"'`])fio(?:\.exe)?[\s\"']|\$\{?fio(?:_?(?:bin|path|exe|prog\w*))?\b",
    re.MULTILINE | re.IGNORECASE,
)
_FIO = re.compile(r"(?:.*[/\\])?fio(?:\.exe)?")
# A variable that names the program, by its name.
_VARIABLE_FIO = re.compile(
    r"\$\{?fio(?:_?(?:bin\w*|path|exe|prog\w*))?(?::-[^}]*)?\}?", re.IGNORECASE
)
_REDIRECTION = re.compile(r"(?:\d*|&)[<>]")
_ARGUMENTS_OF_PARALLEL = ":::"
_CONTAINERS = {"docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "crictl", "docker-compose"}
_MOST_CHARACTERS = 1 << 20
# Commands that name programs and do not run them.
_SPEAKING = {
    "[",
    "[[",
    "test",
    "echo",
    "printf",
    "which",
    "type",
    "command",
    "man",
    "alias",
    "apt",
    "apt-get",
    "yum",
}
_STANDARD_INPUT = {"-", "/dev/stdin", "/dev/fd/0"}
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
    return _is_short(text) and bool(
        _NAMES_FIO.search(text + "\n") and any(_words_of_fio(one) for one in commands_of(text))
    )


def is_script(text: str) -> bool:
    """Return whether a text is a script that runs fio, which may hold job files."""
    if _SHEBANG.match(text):
        return is_command(text)
    documents = documents_of(text) if "<<" in text and _is_short(text) else []
    holds_jobs = any(is_job_file(one) for one in documents)
    return holds_jobs or (bool(documents) and is_command(text))


def _is_short(text: str) -> bool:
    return len(text) <= _MOST_CHARACTERS


def read_commands(text: str, name: str) -> FioJobs:
    """Return the jobs of all calls of fio in a text, one call after the other.

    Job files that a call names are not opened, but for those that the script itself writes.

    Raises:
        WriteampError: a job file in the script is none that fio would take.
    """
    return _Script(name).read(text)


class _Script:
    """Reader of a script: what fio and other programs do, in order."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: list[FioJob] = []
        self._others: list[FioJob] = []
        self._named: list[str] = []
        self._notes: list[str] = []
        self._documents: dict[str, str] = {}
        self._read: set[str] = set()
        self._phase = 0

    def read(self, text: str) -> FioJobs:
        """Return what a script does."""
        for command in commands_of(text):
            words = _words_of_fio(command)
            self._phase += command.words[:1] == ("wait",)
            if words:
                self._call(words, command)
            else:
                self._keep_document(command)
                self._of_others(command)
        for file, written in self._documents.items():
            if file not in self._read and is_job_file(written):
                self._notes.append(f"{self._name}: {file} is written, and no call of fio names it")
                self._take(self._of_document(written, file, {}, {}, []), is_repeated=False)
        jobs = tuple(self._jobs)
        return FioJobs(
            self._name,
            jobs,
            (*self._notes, *unknown_values(self._name, jobs)),
            commands=text,
            named=tuple(dict.fromkeys(self._named)),
            others=tuple(self._others),
        )

    def _call(self, words: Sequence[str], command: ShellCommand) -> None:
        """Take the jobs of a call of fio."""
        shared, sections, files = _sections(words)
        texts = [
            command.document if one in _STANDARD_INPUT else self._written(one) for one in files
        ]
        open_words = [
            one
            for one, text in zip(files, texts, strict=True)
            if text is None and OPEN_WORD.match(one)
        ]
        if open_words:
            self._notes.append(
                f"{self._name}: {', '.join(open_words)} is not known here; the call of fio that it "
                "stands in is not judged"
            )
            return
        found = list(in_phases(sections))
        for one, text in zip(files, texts, strict=True):
            if text is None:
                self._named += [one] if one not in _STANDARD_INPUT else []
            else:
                found += self._of_document(text, one, shared, command.exported, found)
        self._take(
            found, is_repeated=command.is_repeated, is_in_background=command.is_in_background
        )

    def _written(self, file: str) -> str | None:
        """Return what the script writes to a file, which a container may see in another folder."""
        by_name = [one for one in self._documents if _base(one) == _base(file)]
        found = file if file in self._documents else by_name[0] if len(by_name) == 1 else None
        self._read |= {found} if found else set()
        return self._documents.get(found or "")

    def _take(
        self, jobs: list[FioJob], *, is_repeated: bool, is_in_background: bool = False
    ) -> None:
        """Take the jobs of a call, which runs when all before it that are waited for are done."""
        if jobs:
            start = self._phase
            self._phase += 0 if is_in_background else int(jobs[-1].phase) + 1
            self._jobs += [
                replace(one, phase=one.phase + start, is_repeated=is_repeated) for one in jobs
            ]

    def _of_document(
        self,
        text: str,
        file: str,
        shared: dict[str, str],
        exported: dict[str, str],
        before: list[FioJob],
    ) -> list[FioJob]:
        """Return the jobs of a job file that the script writes, behind others of the same call."""
        self._read.add(file)
        read = read_job_file(text, f"{self._name}, {file}", shared=shared, environment=exported)
        unknown = {*unknown_values(read.name, read.jobs)}
        self._notes += [one for one in read.notes if one not in unknown]
        start = before[-1].phase + 1 if before else 0
        return [replace(one, phase=one.phase + start) for one in read.jobs]

    def _keep_document(self, command: ShellCommand) -> None:
        """Keep a text that the script writes to a file."""
        text = command.document or _spoken(command.words)
        if text is None:
            return
        for file, adds in _targets(command.words):
            earlier = self._documents.get(file, "") if adds else ""
            self._documents[file] = earlier + text

    def _of_others(self, command: ShellCommand) -> None:
        """Take what another program does to a drive."""
        found = written_by_others(command.words, self._phase)
        if found is not None:
            name = found.name if command.is_sure else f"{found.name} (if it is run)"
            self._others.append(replace(found, name=name, is_sure=command.is_sure))
            self._phase += 1


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _words_of_fio(command: ShellCommand) -> Sequence[str]:
    """Return the words behind "fio" of a command that runs it; none if it does not."""
    words = command.words
    places = [
        place
        for place, one in enumerate(words)
        if _FIO.fullmatch(one) and (place == 0 or words[place - 1] not in {"--name", "-name"})
    ]
    own = unwrapped(words)
    if own and _VARIABLE_FIO.fullmatch(own[0]):
        return own[1:]
    if not places or words[0] in _SPEAKING:
        return ()
    # An image may have the name of the program.
    is_contained = bool(own) and own[0] in _CONTAINERS
    return words[places[-1 if is_contained else 0] + 1 :]


def _spoken(words: Sequence[str]) -> str | None:
    """Return what `echo` or `printf` writes; None of other commands."""
    if not words or words[0] not in {"echo", "printf"}:
        return None
    end = next((n for n, one in enumerate(words) if _REDIRECTION.match(one)), len(words))
    told = [one for one in words[1:end] if not re.fullmatch(r"-[neE]+", one)]
    if words[0] == "printf":
        told = told[1:] if told and re.fullmatch(r"(%s|\\n)+", told[0]) else told
    return " ".join(told).replace("\\n", "\n") + "\n"


def _targets(words: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield the files that a command writes its input to, and whether it adds to them."""
    adds_by_tee = "tee" in words and any(one in {"-a", "--append"} for one in words)
    if "tee" in words:
        behind = words[list(words).index("tee") + 1 :]
        end = next((n for n, one in enumerate(behind) if _REDIRECTION.match(one)), len(behind))
        yield from ((one, adds_by_tee) for one in behind[:end] if not one.startswith("-"))
        return
    for one, following in zip(words, [*words[1:], ""], strict=False):
        if one.startswith(">") and not one.startswith(">&"):
            yield one.lstrip(">|") or following, one.startswith(">>")


def _sections(
    words: Sequence[str],
) -> tuple[dict[str, str], list[tuple[str, dict[str, str]]], list[str]]:
    """Return the options for all jobs of a call, its jobs, and the job files that it names.

    What stands before the first --name is for all jobs.
    """
    shared: dict[str, str] = {}
    sections: list[tuple[str, dict[str, str]]] = []
    files: list[str] = []
    now = shared
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if _REDIRECTION.match(word) or word == _ARGUMENTS_OF_PARALLEL:
            break
        if not word.startswith("-") or word == "-":
            files.append(word)
            continue
        # fio takes its options with one dash too (getopt_long_only).
        option, equals, value = word.lstrip("-").partition("=")
        option = canonical(option)
        if not equals and option not in _WITHOUT_VALUE:
            # An option that is not known may be a flag.
            is_flag = not rest or rest[-1].startswith("-") or _REDIRECTION.match(rest[-1])
            value = "" if is_flag else rest.pop()
        if option == "name":
            is_shared = value.startswith("global")
            now = shared if is_shared else dict(shared)
            if not is_shared:
                sections.append((value, now))
        elif option not in _OF_FIO:
            set_option(now, option, value)
    return shared, sections, files
