"""Programs besides fio that write to a drive or empty it, represented as jobs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from writeamp.fio.job import FioJob

_WRAPPERS = {"sudo", "nohup", "time", "nice", "ionice", "exec", "timeout", "doas", "env", "stdbuf"}
_SOURCES_OF_ZEROS = {"/dev/zero"}
_RANDOM = {"/dev/urandom", "/dev/random"}
_MOST_WORDS = 6


def written_by_others(words: Sequence[str], phase: float) -> FioJob | None:
    """Return the effect of a command on a drive as a job, or None for unsupported commands.

    Args:
        words: words of the command.
        phase: phase of the job.
    """
    words = unwrapped(words)
    name = words[0].rpartition("/")[2] if words else ""
    options = _of_program(name, words[1:])
    if options is None:
        return None
    shown = " ".join(words[:_MOST_WORDS]) + (" …" if len(words) > _MOST_WORDS else "")
    return FioJob(shown, options, phase)


def unwrapped(words: Sequence[str]) -> list[str]:
    """Return words without wrapper programs, their options and their variables."""
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
    """Return the words that name a drive, or a variable that may name one."""
    return [word for word in words if word.startswith(("/dev/", "$"))]


def _dd(words: list[str]) -> Mapping[str, str] | None:
    options = dict(word.split("=", 1) for word in words if "=" in word)
    target = options.get("of", "")
    if not target or target in {"/dev/null", "/dev/stdout"}:
        return None
    effect = _filled([target])
    block = options.get("bs", options.get("obs", "512"))
    size = _product(options.get("count"), block)
    source = options.get("if", "")
    if size is not None:
        effect["size"] = size
    elif "seek" in options or (not source.startswith(("/dev/", "-")) and source):
        effect["size"] = "${unknown size}"
    return effect | _content(source)


def _product(count: str | None, block: str) -> str | None:
    """Return the bytes of a number of blocks, as a size for fio; None if the number is not set."""
    if count is None:
        return None
    blocks, size = (_bytes(text) for text in (count, block))
    return f"${{{count}*{block}}}" if blocks is None or size is None else str(blocks * size)


_UNITS = {"": 1, "c": 1, "w": 2, "b": 512, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def _bytes(text: str) -> int | None:
    """Return a size as dd reads it: 1M and 1MiB are 1,048,576 bytes, 1MB is 1,000,000."""
    match = re.fullmatch(r"(\d{1,30})([cwbkmgt]?)(ib|b)?", text.strip().lower())
    if match is None:
        return None
    if match[3] == "b" and match[2] in {"k", "m", "g", "t"}:
        return int(match[1]) * int(1000 ** ("kmgt".index(match[2]) + 1))
    return int(match[1]) * _UNITS[match[2]]


def _content(source: str) -> dict[str, str]:
    if source in _SOURCES_OF_ZEROS:
        return {"zero_buffers": "1"}
    return {} if source in _RANDOM else {"buffer_pattern": source or "unknown data"}


def _copied(words: list[str]) -> Mapping[str, str] | None:
    """Return the writes of `cat FILE > DEVICE` and similar programs."""
    targets = [
        word.lstrip(">") or following
        for word, following in zip(words, [*words[1:], ""], strict=False)
        if re.fullmatch(r">>?[^&]*", word)
    ]
    targets = _devices(targets)
    if not targets or targets[0] == "/dev/null":
        return None
    sources = [word for word in words if word.startswith("/dev/") and word not in targets]
    return _filled(targets[:1]) | _content(sources[0] if sources else "")


def _blkdiscard(words: list[str]) -> Mapping[str, str]:
    is_part = any(re.match(r"-[olp]|--(offset|length)", word) for word in words)
    if any(word in {"-z", "--zeroout"} for word in words):
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
    is_all = any(word in {"-A", "--all"} or word.startswith("--all=") for word in words)
    # Names such as /dev/sg1 cannot be compared with the names that jobs use, so they are left out.
    files = [device for device in _devices(words) if not re.match(r"/dev/(sg|bsg)", device)]
    return _emptied(files, **({} if is_all else _part_of_unmap(words)))


def _part_of_unmap(words: list[str]) -> dict[str, str]:
    starts_at_0 = any(re.fullmatch(r"(--lba=|-l)0", word) for word in words) or "0" in words
    # The drive's number of blocks is unknown; a range from block 0 is taken as the whole drive.
    return {} if starts_at_0 else {"size": "a part"}


def _sg_write_same(words: list[str]) -> Mapping[str, str] | None:
    unmaps = any(word in {"-U", "--unmap"} for word in words)
    return _emptied(_devices(words), **_part_of_unmap(words)) if unmaps else None


def _sg_erase(words: list[str]) -> Mapping[str, str]:
    return _emptied(
        [device for device in _devices(words) if not re.match(r"/dev/(sg|bsg)", device)]
    )


def _badblocks(words: list[str]) -> Mapping[str, str] | None:
    if not any(re.fullmatch(r"-\w*w\w*", word) for word in words):
        return None
    # The last of badblocks' four patterns is zeros, so the drive then has compressible data.
    return _filled(_devices(words), zero_buffers="1", loops="4")


def _shred(words: list[str]) -> Mapping[str, str]:
    passes = re.search(r"(?:-\w*n\s*|--iterations=)(\d+)", " ".join(words))
    ends_with_zeros = any(re.fullmatch(r"-[a-y]*z\w*|--zero", word) for word in words)
    files = [word for word in words if word.startswith(("/", "$", "."))]
    return _filled(
        files,
        loops=passes[1] if passes else "3",
        **({"zero_buffers": "1"} if ends_with_zeros else {}),
    )


def _mkfs(words: list[str]) -> Mapping[str, str] | None:
    keeps = re.search(r"(^| )-K\b|nodiscard", " ".join(words))
    return None if keeps or not _devices(words) else _emptied(_devices(words))


def _reserved(words: list[str]) -> Mapping[str, str]:
    """Return a job that creates a file without writing data."""
    files = [word for word in words if word.startswith(("/", "$", "."))]
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
