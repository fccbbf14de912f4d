"""Calls of the library that are refused with one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from writeamp.errors import WriteampError


@contextmanager
def refused_with(*words: str) -> Iterator[None]:
    """Let a block of calls be refused with one sentence that has all of the words."""
    with pytest.raises(WriteampError) as refused:
        yield
    sentence = str(refused.value)
    assert "\n" not in sentence
    assert [word for word in words if word not in sentence] == [], sentence


def refusal(call: Callable[..., object], *arguments: Any, **named: Any) -> str:
    """Return the sentence with which a call is refused."""
    with pytest.raises(WriteampError) as refused:
        call(*arguments, **named)
    sentence = str(refused.value)
    assert "\n" not in sentence
    return sentence
