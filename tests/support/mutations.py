"""Mutations of documents by a seed: what damaged files and other tools make of them."""

from __future__ import annotations

import random
import re

_NUMBER = re.compile(rb"\d+")
_KEY = re.compile(rb'"[A-Za-z][^"]{0,60}"')
_NUMBERS = (
    b"-1", b"0", b"NaN", b"Infinity", b"-Infinity", b"1" + b"0" * 40, b"9" * 5000, b"1e999",
    b"1e400000", b"1.5", b"65535", b"18446744073709551615", b'"12,345"', b'"0x1F"', b"null",
    b"true", b"[]", b"{}", b'{"hi": 1, "lo": -1}', b'"\xff\xfe"', "1\u202f234".encode(),
    "\u0663\u0664".encode(), "\u00b2".encode(), b"1_000", b"- 5",
)  # fmt: skip


def mutated(content: bytes, others: list[bytes], source: random.Random) -> bytes:
    """Return a document with one to three mutations."""
    for _ in range(source.randint(1, 3)):
        content = source.choice(_MUTATIONS)(content, others, source)
    return content[: 1 << 20]


def _cut(content: bytes, _others: list[bytes], source: random.Random) -> bytes:
    return content[: source.randint(0, len(content))]


def _number(content: bytes, _others: list[bytes], source: random.Random) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return content
    one = source.choice(found)
    return content[: one.start()] + source.choice(_NUMBERS) + content[one.end() :]


def _line(content: bytes, _others: list[bytes], source: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    place = source.randrange(len(lines))
    return b"".join(lines[:place] + source.choice(([], [lines[place]] * 2)) + lines[place + 1 :])


def _key(content: bytes, _others: list[bytes], source: random.Random) -> bytes:
    found = list(_KEY.finditer(content))
    if not found:
        return content
    one = source.choice(found)
    other = source.choice((b'"x"', source.choice(found)[0]))
    return content[: one.start()] + other + content[one.end() :]


def _bytes(content: bytes, _others: list[bytes], source: random.Random) -> bytes:
    if not content:
        return content
    changed = bytearray(content)
    for _ in range(source.randint(1, 8)):
        changed[source.randrange(len(changed))] = source.randrange(256)
    return bytes(changed)


def _null(content: bytes, _others: list[bytes], source: random.Random) -> bytes:
    place = source.randint(0, len(content))
    return content[:place] + b"\x00" * source.randint(1, 20) + content[place:]


def _encoded(content: bytes, _others: list[bytes], source: random.Random) -> bytes:
    text = content.decode("utf-8", errors="replace")
    return text.encode(
        source.choice(("utf-16", "utf-16-le", "utf-8-sig", "latin-1", "utf-32")), errors="replace"
    )


def _deep(content: bytes, _others: list[bytes], source: random.Random) -> bytes:
    depth = source.choice((10, 900, 20_000))
    opening, closing = source.choice(((b"[", b"]"), (b'{"a":', b"}")))
    return opening * depth + content + closing * depth


def _inserted(content: bytes, _others: list[bytes], source: random.Random) -> bytes:
    place = source.randint(0, len(content))
    size = source.randint(0, 200)
    other = source.choice(_others)
    return content[:place] + other[:size] + content[place:]


def _joined(content: bytes, others: list[bytes], source: random.Random) -> bytes:
    return content + b"\n" + source.choice(others)


_MUTATIONS = (_cut, _number, _number, _number, _line, _key, _bytes, _null, _encoded, _deep,
              _inserted, _joined)  # fmt: skip
