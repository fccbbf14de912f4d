"""Three ways to say how much spare space a drive has; op is the one that the code uses.

With T physical and U logical pages: op = (T−U)/U (the papers' ρ), fill = U/T = 1/(1+op), and
spare_factor = (T−U)/T = op/(1+op) (paper 4's S_f).
"""

from __future__ import annotations

from numbers import Real

from writeamp.domains import finite, shown
from writeamp.errors import WriteampError

RATIOS = ("op", "fill", "spare_factor")


def op_of(
    *, op: float | None = None, fill: float | None = None, spare_factor: float | None = None
) -> float | None:
    """Return the op that one of the three ratios means, or None if none is given.

    Raises:
        WriteampError: more than one is given, or one outside its domain.
    """
    given = {"op": op, "fill": fill, "spare_factor": spare_factor}
    at_most_one("over-provisioning", **given)
    for name, value in given.items():
        if value is not None and not isinstance(value, Real):
            raise WriteampError(f"{name} is {shown(value)}; it must be a number")
    if op is not None:
        if not finite(op) > 0:
            raise WriteampError(f"op is {shown(op)}; it must be a finite number above 0")
        return op
    for name, value in (("fill", fill), ("spare_factor", spare_factor)):
        if value is not None and not 0 < value < 1:
            raise WriteampError(
                f"{name} is {shown(value)}; it must lie between 0 and 1, both excluded"
            )
    if fill is not None:
        return (1 - fill) / fill
    return None if spare_factor is None else spare_factor / (1 - spare_factor)


def at_most_one(what: str, **options: float | None) -> None:
    """Refuse two options that each decide the same thing."""
    given = [name for name, value in options.items() if value is not None]
    if len(given) > 1:
        raise WriteampError(
            f"{' and '.join(given)} each set the {what}; give only one of {', '.join(options)}"
        )
