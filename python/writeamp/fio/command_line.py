"""Jobs of command lines that run fio, in a script or alone; no command is run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from writeamp.fio.job import FioJob, canonical, set_option
from writeamp.fio.job_file import (
    FioJobs,
    in_phases,
    is_job_file,
    read_job_file,
    unknown_values,
)
from writeamp.fio.other_programs import unwrapped, written_by_others
from writeamp.fio.shell import (
    OPEN_WORD,
    ShellCommand,
    commands_of,
    documents_of,
)

_SHEBANG = re.compile(r"#!\s*\S*(?:sh|/env\s+\S*sh)\b")
# fio named as a program. This fast search excludes most texts before their commands are parsed.
_NAMES_FIO = re.compile(
    r"(?:^|[\s;&|({/\\\"'`])fio(?:\.exe)?[\s\"']|\$\{?fio(?:_?(?:bin|path|exe|prog\w*))?\b",
    re.MULTILINE | re.IGNORECASE,
)
_FIO = re.compile(r"(?:.*[/\\])?fio(?:\.exe)?")
# Shell variable that holds fio's path, such as $FIO_BIN.
_VARIABLE_FIO = re.compile(
    r"\$\{?fio(?:_?(?:bin\w*|path|exe|prog\w*))?(?::-[^}]*)?\}?", re.IGNORECASE
)
_REDIRECTION = re.compile(r"(?:\d*|&)[<>]")
_ARGUMENTS_OF_PARALLEL = ":::"
_CONTAINERS = {"docker", "podman", "nerdctl", "kubectl", "oc", "lxc", "crictl", "docker-compose"}
_MOST_CHARACTERS = 1 << 20
# Commands that have the name of a program as an argument, but do not run the program.
_MENTIONING = {
    "[",
    "[[",
    "test",
    "echo",
    "printf",
    "which",
    "type",
    "man",
    "alias",
    "apt",
    "apt-get",
    "yum",
}
_STANDARD_INPUT = {"-", "/dev/stdin", "/dev/fd/0"}
# Options of fio itself, which are not options of a job.
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
        _NAMES_FIO.search(text + "\n")
        and any(_words_of_fio(command) for command in commands_of(text))
    )


def is_script(text: str) -> bool:
    """Return whether a text is a script that runs fio; it may contain job files."""
    if _SHEBANG.match(text):
        return is_command(text)
    documents = documents_of(text) if "<<" in text and _is_short(text) else []
    holds_jobs = any(is_job_file(document) for document in documents)
    return holds_jobs or (bool(documents) and is_command(text))


def _is_short(text: str) -> bool:
    return len(text) <= _MOST_CHARACTERS


def read_commands(text: str, name: str) -> FioJobs:
    """Return the jobs of all calls of fio in a text, in order.

    Job files that a call names are not opened, except those that the script itself writes.

    Raises:
        WriteampError: a job file in the script is invalid.
    """
    return _Script(name).read(text)


class _Script:
    """Reader of a script: actions of fio and other programs, in order."""

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
        """Return the actions of a script."""
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
                self._notes.append(
                    f"{self._name}: the script writes the job file {file}, but no call of fio "
                    "uses it. Its jobs are examined, too"
                )
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
        """Add the jobs of a call of fio."""
        shared, sections, files = _sections(words)
        texts = [
            command.document if file in _STANDARD_INPUT else self._written(file) for file in files
        ]
        open_words = [
            file
            for file, text in zip(files, texts, strict=True)
            if text is None and OPEN_WORD.match(file)
        ]
        if open_words:
            self._notes.append(
                f"{self._name}: {', '.join(open_words)} is unknown; the call of fio with "
                "it is not judged"
            )
            return
        jobs = list(in_phases(sections))
        for file, text in zip(files, texts, strict=True):
            if text is None:
                self._named += [file] if file not in _STANDARD_INPUT else []
            else:
                jobs += self._of_document(text, file, shared, command.exported, jobs)
        self._take(jobs, is_repeated=command.is_repeated, is_in_background=command.is_in_background)

    def _written(self, file: str) -> str | None:
        """Return the text that the script writes to a file, which fio may read at another path."""
        by_name = [document for document in self._documents if _base(document) == _base(file)]
        document = file if file in self._documents else by_name[0] if len(by_name) == 1 else None
        self._read |= {document} if document else set()
        return self._documents.get(document or "")

    def _take(
        self, jobs: list[FioJob], *, is_repeated: bool, is_in_background: bool = False
    ) -> None:
        """Add the jobs of a call, which begins after all earlier calls in the foreground."""
        if jobs:
            start = self._phase
            self._phase += 0 if is_in_background else int(jobs[-1].phase) + 1
            self._jobs += [
                replace(job, phase=job.phase + start, is_repeated=is_repeated) for job in jobs
            ]

    def _of_document(
        self,
        text: str,
        file: str,
        shared: dict[str, str],
        exported: dict[str, str],
        previous: list[FioJob],
    ) -> list[FioJob]:
        """Return the jobs of a job file in the script, after earlier jobs of the call."""
        self._read.add(file)
        read = read_job_file(text, f"{self._name}, {file}", shared=shared, environment=exported)
        unknown = {*unknown_values(read.name, read.jobs)}
        self._notes += [note for note in read.notes if note not in unknown]
        start = previous[-1].phase + 1 if previous else 0
        return [replace(job, phase=job.phase + start) for job in read.jobs]

    def _keep_document(self, command: ShellCommand) -> None:
        """Store a text that the script writes to a file."""
        text = command.document or _echoed(command.words)
        if text is None:
            return
        for file, adds in _targets(command.words):
            earlier = self._documents.get(file, "") if adds else ""
            self._documents[file] = earlier + text

    def _of_others(self, command: ShellCommand) -> None:
        """Add the writes of another program to a drive."""
        job = written_by_others(command.words, self._phase)
        if job is not None:
            name = job.name if command.is_sure else f"{job.name} (if it is run)"
            self._others.append(replace(job, name=name, is_sure=command.is_sure))
            self._phase += 1


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _words_of_fio(command: ShellCommand) -> Sequence[str]:
    """Return the words after "fio" of a command that runs it; otherwise empty."""
    words = command.words
    places = [
        place
        for place, word in enumerate(words)
        if _FIO.fullmatch(word) and (place == 0 or words[place - 1] not in {"--name", "-name"})
    ]
    unwrapped_words = unwrapped(words)
    if unwrapped_words and _VARIABLE_FIO.fullmatch(unwrapped_words[0]):
        return unwrapped_words[1:]
    # `command -v fio` looks fio up, `command fio` runs it.
    is_lookup = words[:2] in {("command", "-v"), ("command", "-V")}
    if not places or is_lookup or words[0] in _MENTIONING:
        return ()
    # A container image may have the name "fio", so the last word "fio" counts.
    is_contained = bool(unwrapped_words) and unwrapped_words[0] in _CONTAINERS
    return words[places[-1 if is_contained else 0] + 1 :]


def _echoed(words: Sequence[str]) -> str | None:
    """Return the output of `echo` or `printf`; None for other commands."""
    if not words or words[0] not in {"echo", "printf"}:
        return None
    end = next((n for n, word in enumerate(words) if _REDIRECTION.match(word)), len(words))
    spoken = [word for word in words[1:end] if not re.fullmatch(r"-[neE]+", word)]
    if words[0] == "printf":
        spoken = spoken[1:] if spoken and re.fullmatch(r"(%s|\\n)+", spoken[0]) else spoken
    return " ".join(spoken).replace("\\n", "\n") + "\n"


def _targets(words: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield the files that a command writes its input to, and whether it appends."""
    adds_by_tee = "tee" in words and any(word in {"-a", "--append"} for word in words)
    if "tee" in words:
        after_tee = words[list(words).index("tee") + 1 :]
        end = next(
            (n for n, word in enumerate(after_tee) if _REDIRECTION.match(word)), len(after_tee)
        )
        yield from ((word, adds_by_tee) for word in after_tee[:end] if not word.startswith("-"))
        return
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if word.startswith(">") and not word.startswith(">&"):
            yield word.lstrip(">|") or following, word.startswith(">>")


def _sections(
    words: Sequence[str],
) -> tuple[dict[str, str], list[tuple[str, dict[str, str]]], list[str]]:
    """Return the common options of a call, its jobs, and the job files that it names.

    Options before the first --name apply to all jobs.
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
        # fio accepts its options with one dash, too (getopt_long_only).
        option, equals, value = word.lstrip("-").partition("=")
        option = canonical(option)
        if not equals and option not in _WITHOUT_VALUE:
            # An unknown option may be a flag, so the next word is its value only if it is not an
            # option.
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
