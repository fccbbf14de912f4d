"""Suggestions of options for one that does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from writeamp.errors import WriteampError

# What other tools and data sheets call what an option here says; the first that a verb has counts.
_OTHER_WORDS = {
    "pe-cycles": ("w-max",),
    "erase-cycles": ("w-max",),
    "endurance": ("w-max",),
    "over-provisioning": ("op",),
    "spare": ("op",),
    "policy": ("managers", "manager", "victims"),
    "gc": ("victims",),
    "runtime": ("time", "writes"),
    "duration": ("time", "writes"),
    "output": ("out", "plot"),
    "jobs": ("threads",),
    "workers": ("threads",),
}
# Two letters exchanged in a word of four are this much alike.
_ALIKE = 0.75
_MOST = 3


def no_such_option(verb: str, given: str, valid: Iterable[str]) -> WriteampError:
    """Return the error for an option that a verb has not, with those that may be meant."""
    meant = options_like(given, valid)
    if not meant:
        return WriteampError(f"No such option: {given}; writeamp {verb} --help has all")
    return WriteampError(f"No such option: {given} (did you mean {' or '.join(meant)}?)")


def options_like(given: str, valid: Iterable[str]) -> list[str]:
    """Return the likeliest options: spelled alike, called so elsewhere, or of the same words.

    >>> options_like("--pe-cycle", ["--w-max", "--map-cache", "--page-bytes"])
    ['--w-max']
    >>> options_like("--blcoks", ["--blocks", "--logical-blocks"])
    ['--blocks']
    >>> options_like("--pages", ["--op", "--pages-per-block", "--page-bytes"])
    ['--pages-per-block', '--page-bytes']
    """
    names = [one.removeprefix("--") for one in valid if one.startswith("--")]
    name = given.removeprefix("--").lower().replace("_", "-")
    scores = {one: _alike(name, one) for one in names}
    for other, options in _OTHER_WORDS.items():
        option = next((one for one in options if one in scores), None)
        if option is not None:
            scores[option] = max(scores[option], _alike(name, other))
    best = sorted((one for one in names if scores[one] >= _ALIKE), key=lambda one: -scores[one])
    words = name.split("-")
    of_words = [one for one in names if _singular(words) & _singular(one.split("-"))]
    return [f"--{one}" for one in list(dict.fromkeys(best or of_words))[:_MOST]]


def _alike(one: str, other: str) -> float:
    return SequenceMatcher(None, one.replace("-", ""), other.replace("-", "")).ratio()


def _singular(words: Iterable[str]) -> set[str]:
    return {word.removesuffix("s") for word in words}
