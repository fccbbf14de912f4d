"""Facts of a drive that the user states, for documents that do not say them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from writeamp.drives.counters.families import Family
from writeamp.errors import WriteampError


@dataclass(frozen=True)
class Stated:
    """Model of a drive, and families of drives to try before those of the table.

    Attributes:
        model: as the drive says it; None of none.
        families: of the user; see `own_families`.
    """

    model: str | None = None
    families: tuple[Family, ...] = ()

    @classmethod
    def of(cls, model: str | None, families: tuple[Family, ...] = ()) -> Self:
        """Return what the user states.

        Raises:
            WriteampError: the model is empty.
        """
        if model is not None and not model.strip():
            raise WriteampError("the model is empty; give it as the drive says it")
        return cls(None if model is None else " ".join(model.split()), families)

    def check_model(self, said: str | None, name: str) -> None:
        """Refuse a document whose model is another than the user states.

        Raises:
            WriteampError: it is.
        """
        stated = self.model
        if said and stated and " ".join(said.split()).casefold() != stated.casefold():
            raise WriteampError(f"{name} says that the drive's model is {said!r}, not {stated!r}")


NOTHING_STATED = Stated()
