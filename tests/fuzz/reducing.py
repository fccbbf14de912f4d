"""Makes a call that fails smaller, as long as it fails in the same way."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from call import Call, shown_call

_PATIENCE_S = 20
_MOST_PARTS = 16


def reduced(call: Call, fails: Callable[[Call], bool]) -> Call:
    """Return a call with fewer words, arguments and damages that fails, too."""
    end = time.monotonic() + _PATIENCE_S
    found = True
    while found:
        found = False
        for smaller in _smaller(call):
            if time.monotonic() > end:
                return call
            if fails(smaller):
                call, found = smaller, True
                break
    return call


def _smaller(call: Call) -> Iterator[Call]:
    """Return calls that lack something, the simplest first."""
    for name, content in call.contents.items():
        if content != call.whole.get(name, content):
            yield replace(call, contents={**call.contents, name: call.whole[name]})
    argv = call.argv or []
    for width in (2, 1):
        for at in range(len(argv) - width, 0, -1):
            fewer = [*argv[:at], *argv[at + width :]]
            yield replace(call, argv=fewer, shown=shlex.join(["writeamp", *fewer]))
    for key in call.arguments or {}:
        fewer_arguments = {**(call.arguments or {})}
        del fewer_arguments[key]
        shown = shown_call(call.kind, fewer_arguments)
        yield replace(call, arguments=fewer_arguments, shown=shown)
    for name, content in call.contents.items():
        if content == call.whole.get(name) and len(content) > 1 << 14:
            continue
        parts = 2
        while parts <= min(_MOST_PARTS, len(content)):
            step = -(-len(content) // parts)
            for at in range(0, len(content), step):
                fewer_bytes = content[:at] + content[at + step :]
                changed = {**call.contents, name: fewer_bytes}
                yield replace(call, contents=changed)
            parts *= 2
