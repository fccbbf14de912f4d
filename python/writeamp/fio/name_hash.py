"""fio's hash of the names of files."""

from __future__ import annotations

_WORD = 2**32


def name_hash(name: str) -> int:
    """Return fio's 32-bit hash of a file's name, from which it seeds zipf, pareto and normal.

    It is Jenkins' lookup3; of each block of 12 bytes but the last, fio reads three bytes only.

    >>> name_hash("/dev/nvme0n1")
    1437019758
    """
    data = name.encode()
    a = b = c = (0x61C88647 + len(data)) % _WORD
    while len(data) > 12:
        a, b, c = (a + data[0]) % _WORD, (b + data[4]) % _WORD, (c + data[8]) % _WORD
        for turns in ((4, 6, 8), (16, 19, 4)):
            a, c = (a - c) % _WORD ^ _rotated(c, turns[0]), (c + b) % _WORD
            b, a = (b - a) % _WORD ^ _rotated(a, turns[1]), (a + c) % _WORD
            c, b = (c - b) % _WORD ^ _rotated(b, turns[2]), (b + a) % _WORD
        data = data[12:]
    if not data:
        return c
    words = [int.from_bytes(data[at : at + 4], "little") for at in (0, 4, 8)]
    a, b, c = (a + words[0]) % _WORD, (b + words[1]) % _WORD, (c + words[2]) % _WORD
    c = ((c ^ b) - _rotated(b, 14)) % _WORD
    a = ((a ^ c) - _rotated(c, 11)) % _WORD
    b = ((b ^ a) - _rotated(a, 25)) % _WORD
    c = ((c ^ b) - _rotated(b, 16)) % _WORD
    a = ((a ^ c) - _rotated(c, 4)) % _WORD
    b = ((b ^ a) - _rotated(a, 14)) % _WORD
    return ((c ^ b) - _rotated(b, 24)) % _WORD


def _rotated(word: int, places: int) -> int:
    return (word << places | word >> (32 - places)) % _WORD
