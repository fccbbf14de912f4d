"""Sizes of the requests of a fio job."""

from __future__ import annotations

from writeamp.errors import WriteampError
from writeamp.fio.job import FioJob
from writeamp.fio.values import block_sizes, in_direction, size_of


def filled(percents: list[int | None]) -> list[int]:
    """Return per cents of which the missing ones share the rest of 100."""
    open_ones = percents.count(None)
    rest = 100 - sum(percent or 0 for percent in percents)
    return [rest // open_ones if percent is None else percent for percent in percents]


def sizes_of(job: FioJob) -> list[tuple[int, int]]:
    """Return the smallest and largest request of each direction, in bytes."""
    splits = _splits(job)
    text = job.options.get("bsrange") or job.options.get("bs", "4k")
    sizes = block_sizes(text, job.kb_base)
    return [
        (min(size for size, _ in split), max(size for size, _ in split)) if split else own
        for split, own in zip(splits, sizes, strict=True)
    ]


def _splits(job: FioJob) -> list[list[tuple[int, int]]]:
    """Return the sizes and per cents of `bssplit` by direction, in fio's order."""
    text = job.options.get("bssplit", "")
    if not text:
        return [[], [], []]
    splits = []
    for value in text.split(",")[:3]:
        pairs = [pair.partition("/")[::2] for pair in value.split(":")]
        sizes = [size_of(size, job.kb_base) or 0 for size, _ in pairs]
        try:
            shares = filled([int(share) if share.strip() else None for _, share in pairs])
        except ValueError:
            shares = [-1]
        if not all(sizes) or min(shares) < 0 or sum(shares) > 100:
            raise WriteampError(
                f"job {job.name!r} has bssplit={text}; valid: sizes with per cents that add up to "
                "at most 100, such as 4k/60:64k/40"
            )
        splits.append(sorted(zip(sizes, shares, strict=True), key=lambda pair: pair[1]))
    return [splits[min(direction, len(splits) - 1)] for direction in range(3)]


def parameters_of_sizes(job: FioJob) -> dict[str, object]:
    """Return the parameters of a stream for the sizes of a job's requests."""
    sizes, splits = sizes_of(job), _splits(job)
    aligns = [
        size_of(in_direction(job.options.get("blockalign", ""), direction), job.kb_base) or least
        for direction, (least, _) in enumerate(sizes)
    ]
    triples = [
        number
        for direction, split in enumerate(splits)
        for size, share in split
        for number in (direction, size, share)
    ]
    return {
        "least": "/".join(str(least) for least, _ in sizes),
        "most": "/".join(str(most) for _, most in sizes),
        "align": "/".join(map(str, aligns)),
        "splits": "/".join(map(str, triples)) or None,
        "unaligned": job.has("bs_unaligned") or job.has("blocksize_unaligned") or None,
        "by_order": job.has("bs_is_seq_rand") or None,
    }
