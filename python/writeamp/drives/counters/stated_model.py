"""Model of a drive that the user states, for documents that do not say it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from writeamp.errors import WriteampError

_MODEL: ContextVar[str | None] = ContextVar("_MODEL", default=None)


@contextmanager
def with_model(model: str | None) -> Iterator[None]:
    """Take documents that do not say a model for ones of this, until the block ends.

    Args:
        model: as the drive says it; None of none.

    Raises:
        WriteampError: it is empty.
    """
    if model is not None and not model.strip():
        raise WriteampError("the model is empty; give it as the drive says it")
    token = _MODEL.set(None if model is None else " ".join(model.split()))
    try:
        yield
    finally:
        _MODEL.reset(token)


def stated_model() -> str | None:
    """Return the model that the user states; None of none."""
    return _MODEL.get()


def check_model(said: str | None, name: str) -> None:
    """Refuse a document whose model is another than the user states.

    Raises:
        WriteampError: it is.
    """
    stated = _MODEL.get()
    if said and stated and " ".join(said.split()).casefold() != stated.casefold():
        raise WriteampError(f"{name} says that the drive's model is {said!r}, not {stated!r}")
