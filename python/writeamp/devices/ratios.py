"""Three ways to say how much spare space a drive has; op is the one that the code uses.

With T physical and U logical pages: op = (T−U)/U (the papers' ρ), fill = U/T = 1/(1+op), and
spare_factor = (T−U)/T = op/(1+op) (paper 4's S_f).
"""

from __future__ import annotations

from numbers import Real
from typing import TypeAlias

from writeamp.domains import as_ratio, finite, shown
from writeamp.errors import WriteampError

RATIOS = ("op", "fill", "spare_factor")
# A number, or text such as "15%".
RatioLike: TypeAlias = float | str


def op_of(
    *,
    op: RatioLike | None = None,
    fill: RatioLike | None = None,
    spare_factor: RatioLike | None = None,
) -> float | None:
    """Return the op that one of the three ratios means, or None if none is given.

    Raises:
        WriteampError: more than one is given, or one outside its domain.

    >>> op_of(op="15%"), op_of(fill=0.5)
    (0.15, 1.0)
    """
    asked = {"op": op, "fill": fill, "spare_factor": spare_factor}
    given = {name: as_ratio(name, value) for name, value in asked.items()}
    at_most_one("over-provisioning", **given)
    for name, value in given.items():
        if value is None:
            continue
        if not isinstance(value, Real):
            raise WriteampError(f"{name} is {shown(value)}; it must be a number")
        if name == "op":
            if not finite(value) > 0:
                raise WriteampError(f"op is {shown(value)}; it must be a finite number above 0")
            return value  # type: ignore[return-value]
        share = finite(value)
        if not 0 < share < 1:
            raise WriteampError(
                f"{name} is {shown(value)}; it must lie between 0 and 1, both excluded"
            )
        return (1 - share) / share if name == "fill" else share / (1 - share)
    return None


def at_most_one(what: str, **options: float | None) -> None:
    """Refuse two options that each decide the same thing."""
    given = [name for name, value in options.items() if value is not None]
    if len(given) > 1:
        raise WriteampError(
            f"{' and '.join(given)} each set the {what}; give only one of {', '.join(options)}"
        )
