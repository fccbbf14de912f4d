"""Programs beside fio that write to a drive, or empty it, as jobs that fio does not run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from writeamp.drives.doctor.fio.job import FioJob

_WRAPPERS = {"sudo", "nohup", "time", "nice", "ionice", "exec", "timeout", "doas", "env", "stdbuf"}
_SOURCES_OF_ZEROS = {"/dev/zero"}
_RANDOM = {"/dev/urandom", "/dev/random"}
_MOST_WORDS = 6


def written_by_others(words: Sequence[str], phase: float) -> FioJob | None:
    """Return what a command does to a drive, as a job; None if it is none of those known.

    Args:
        words: of the command.
        phase: when it runs, as that of jobs.
    """
    words = unwrapped(words)
    name = words[0].rpartition("/")[2] if words else ""
    made = _of_program(name, words[1:])
    if made is None:
        return None
    shown = " ".join(words[:_MOST_WORDS]) + (" …" if len(words) > _MOST_WORDS else "")
    return FioJob(shown, made, phase)


def unwrapped(words: Sequence[str]) -> list[str]:
    """Return words without programs that run another, their options and their variables."""
    rest = list(words)
    while rest and (rest[0].rpartition("/")[2] in _WRAPPERS or "=" in rest[0].split("/")[0]):
        rest.pop(0)
        while rest and (rest[0].startswith("-") or rest[0][:1].isdigit()):
            rest.pop(0)
    return rest


def _of_program(name: str, words: list[str]) -> Mapping[str, str] | None:
    if name.startswith("mkfs") or name in {"mke2fs", "mkntfs"}:
        return _mkfs(words)
    program = _PROGRAMS.get(name)
    return program(words) if program is not None else None


def _emptied(files: Sequence[str], **more: str) -> dict[str, str]:
    return {"rw": "trim", **_named(files), **more}


def _filled(files: Sequence[str], **more: str) -> dict[str, str]:
    return {"rw": "write", **_named(files), **more}


def _named(files: Sequence[str]) -> dict[str, str]:
    return {"filename": ":".join(files)} if files else {}


def _devices(words: Sequence[str]) -> list[str]:
    """Return the words that name a drive, known or not."""
    return [one for one in words if one.startswith(("/dev/", "$"))]


def _dd(words: list[str]) -> Mapping[str, str] | None:
    given = dict(one.split("=", 1) for one in words if "=" in one)
    target = given.get("of", "")
    if not target or target in {"/dev/null", "/dev/stdout"}:
        return None
    made = _filled([target])
    block = given.get("bs", given.get("obs", "512"))
    size = _product(given.get("count"), block)
    source = given.get("if", "")
    if size is not None:
        made["size"] = size
    elif "seek" in given or (not source.startswith(("/dev/", "-")) and source):
        made["size"] = "${what it is given}"
    return made | _content(source)


def _product(count: str | None, block: str) -> str | None:
    """Return the bytes of some blocks, as a size of fio; None of all that there is."""
    if count is None:
        return None
    blocks, size = (_bytes(one) for one in (count, block))
    return f"${{{count}*{block}}}" if blocks is None or size is None else str(blocks * size)


_UNITS = {"": 1, "c": 1, "w": 2, "b": 512, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def _bytes(text: str) -> int | None:
    """Return an amount as dd reads it: 1M and 1MiB are 1,048,576, 1MB is 1,000,000."""
    found = re.fullmatch(r"(\d{1,30})([cwbkmgt]?)(ib|b)?", text.strip().lower())
    if found is None:
        return None
    if found[3] == "b" and found[2] in {"k", "m", "g", "t"}:
        return int(found[1]) * int(1000 ** ("kmgt".index(found[2]) + 1))
    return int(found[1]) * _UNITS[found[2]]


def _content(source: str) -> dict[str, str]:
    if source in _SOURCES_OF_ZEROS:
        return {"zero_buffers": "1"}
    return {} if source in _RANDOM else {"buffer_pattern": source or "what it is given"}


def _copied(words: list[str]) -> Mapping[str, str] | None:
    """Return what `cat FILE > DEVICE`, and programs like it, write."""
    targets = [
        one.lstrip(">") or following
        for one, following in zip(words, [*words[1:], ""], strict=False)
        if re.fullmatch(r">>?[^&]*", one)
    ]
    targets = _devices(targets)
    if not targets or targets[0] == "/dev/null":
        return None
    sources = [one for one in words if one.startswith("/dev/") and one not in targets]
    return _filled(targets[:1]) | _content(sources[0] if sources else "")


def _blkdiscard(words: list[str]) -> Mapping[str, str]:
    is_part = any(re.match(r"-[olp]|--(offset|length)", one) for one in words)
    if any(one in {"-z", "--zeroout"} for one in words):
        return _filled(_devices(words), zero_buffers="1")
    return _emptied(_devices(words), **({"size": "a part"} if is_part else {}))


def _nvme(words: list[str]) -> Mapping[str, str] | None:
    command = words[0] if words else ""
    if command in {"format", "sanitize", "create-ns", "delete-ns"}:
        return _emptied(_devices(words))
    if command == "write-zeroes":
        return _filled(_devices(words), zero_buffers="1", size="${a part}")
    return _emptied(_devices(words), size="a part") if command == "dsm" else None


def _hdparm(words: list[str]) -> Mapping[str, str] | None:
    text = " ".join(words)
    if "--security-erase" in text:
        return _emptied(_devices(words))
    return _emptied(_devices(words), size="a part") if "--trim-sector-ranges" in text else None


def _sg_unmap(words: list[str]) -> Mapping[str, str]:
    is_all = any(one in {"-A", "--all"} or one.startswith("--all=") for one in words)
    # Another device stands for the drive here, such as /dev/sg1.
    files = [one for one in _devices(words) if not re.match(r"/dev/(sg|bsg)", one)]
    return _emptied(files, **({} if is_all else _part_of_unmap(words)))


def _part_of_unmap(words: list[str]) -> dict[str, str]:
    starts_at_0 = any(re.fullmatch(r"(--lba=|-l)0", one) for one in words) or "0" in words
    # How many blocks the drive has is not said; from the first on it is taken for all.
    return {} if starts_at_0 else {"size": "a part"}


def _sg_write_same(words: list[str]) -> Mapping[str, str] | None:
    unmaps = any(one in {"-U", "--unmap"} for one in words)
    return _emptied(_devices(words), **_part_of_unmap(words)) if unmaps else None


def _sg_erase(words: list[str]) -> Mapping[str, str]:
    return _emptied([one for one in _devices(words) if not re.match(r"/dev/(sg|bsg)", one)])


def _badblocks(words: list[str]) -> Mapping[str, str] | None:
    if not any(re.fullmatch(r"-\w*w\w*", one) for one in words):
        return None
    # Its four patterns end with zeros.
    return _filled(_devices(words), zero_buffers="1", loops="4")


def _shred(words: list[str]) -> Mapping[str, str]:
    passes = re.search(r"(?:-\w*n\s*|--iterations=)(\d+)", " ".join(words))
    ends_with_zeros = any(re.fullmatch(r"-[a-y]*z\w*|--zero", one) for one in words)
    files = [one for one in words if one.startswith(("/", "$", "."))]
    return _filled(
        files,
        loops=passes[1] if passes else "3",
        **({"zero_buffers": "1"} if ends_with_zeros else {}),
    )


def _mkfs(words: list[str]) -> Mapping[str, str] | None:
    keeps = re.search(r"(^| )-K\b|nodiscard", " ".join(words))
    return None if keeps or not _devices(words) else _emptied(_devices(words))


def _reserved(words: list[str]) -> Mapping[str, str]:
    """Return that a file is made of which nothing is written."""
    files = [one for one in words if one.startswith(("/", "$", "."))]
    return {"rw": "none", **_named(files)}


_PROGRAMS: dict[str, Callable[[list[str]], Mapping[str, str] | None]] = {
    "dd": _dd,
    "dcfldd": _dd,
    "cat": _copied,
    "pv": _copied,
    "blkdiscard": _blkdiscard,
    "nvme": _nvme,
    "hdparm": _hdparm,
    "sg_unmap": _sg_unmap,
    "sg_write_same": _sg_write_same,
    "sg_sanitize": _sg_erase,
    "sg_format": _sg_erase,
    "badblocks": _badblocks,
    "shred": _shred,
    "fallocate": _reserved,
    "truncate": _reserved,
}
