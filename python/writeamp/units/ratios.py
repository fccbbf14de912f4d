"""Ratios of spare space, and their settings: op, which the code uses, spare factor and fill.

With T physical and U logical pages: op = (T−U)/U (the papers' ρ), fill = U/T = 1/(1+op), and
spare_factor = (T−U)/T = op/(1+op) (paper 4's S_f).
"""

from __future__ import annotations

from numbers import Real
from typing import Any, TypeAlias

from writeamp.errors import WriteampError
from writeamp.fields.domains import RATIO, PerCent, as_ratio, finite, shown
from writeamp.fields.setting import setting

RATIOS = ("op", "fill", "spare_factor")
# A number, or text such as "15%".
RatioLike: TypeAlias = float | str
# Above it a number is per cent more often than it is op.
MOST_PLAIN_OP = 3


def op_of(
    *,
    op: RatioLike | None = None,
    fill: RatioLike | None = None,
    spare_factor: RatioLike | None = None,
) -> float | None:
    """Return the op that one of the three ratios means, or None if none is given.

    Raises:
        WriteampError: more than one is given, or one outside its domain.

    >>> op_of(op="15%"), op_of(fill=0.5), op_of(op="400%")
    (0.15, 1.0, 4.0)
    >>> op_of(op=15)
    Traceback (most recent call last):
    writeamp.errors.WriteampError: op is 15, so many times as much spare space as data; did you \
mean 15%? An op above 3 is given in per cent, as 1500%
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
            number = finite(value)
            if not number > 0:
                raise WriteampError(f"op is {shown(value)}; it must be a finite number above 0")
            if number > MOST_PLAIN_OP and not isinstance(value, PerCent):
                raise WriteampError(
                    f"op is {number:g}, so many times as much spare space as data; did you mean "
                    f"{number:g}%? An op above {MOST_PLAIN_OP} is given in per cent, as "
                    f"{100 * number:.15g}%"
                )
            return value  # type: ignore[return-value]
        share = finite(value)
        if not 0 < share < 1:
            raise WriteampError(
                f"{name} is {shown(value)}; it must lie between 0 and 1, both excluded"
            )
        return (1 - share) / share if name == "fill" else share / (1 - share)
    return None


def physical_of(logical: float, op: float) -> float:
    """Return the physical pages, blocks or bytes behind logical ones."""
    return logical * (1 + op)


def logical_of(physical: float, op: float) -> float:
    """Return the logical pages, blocks or bytes that physical ones show."""
    return physical / (1 + op)


def spare_factor_of(op: float) -> float:
    """Return (T-U)/T."""
    return op / (1 + op)


def all_ratios(op: float) -> dict[str, float]:
    """Return the three ratios by their names.

    >>> all_ratios(0.25)
    {'op': 0.25, 'fill': 0.8, 'spare_factor': 0.2}
    """
    return {"op": op, "fill": logical_of(1, op), "spare_factor": spare_factor_of(op)}


def at_most_one(what: str, **options: float | None) -> None:
    """Refuse two options that each decide the same thing."""
    given = [name for name, value in options.items() if value is not None]
    if len(given) > 1:
        raise WriteampError(
            f"{' and '.join(given)} each set the {what}; give only one of {', '.join(options)}"
        )


def space_in_words(op: float, fill: float, spare_factor: float) -> str:
    """Return the three ratios of one drive."""
    return f"op {op:.4g} = (T-U)/U, fill {fill:.4g}, spare factor {spare_factor:.4g}"


def _ratio(help_text: str, panel: str) -> Any:
    return setting(None, RATIO, help_text, number="ratio", excludes="ratio", panel=panel)


def op_setting(panel: str = "capacity") -> Any:
    """Return a field for the over-provisioning ratio."""
    return _ratio(
        "over-provisioning ratio (T-U)/U, T physical and U logical pages, such as 0.15 or 15%",
        panel,
    )


def fill_setting(panel: str = "capacity") -> Any:
    """Return a field for the fill."""
    return _ratio("fill U/T = 1/(1+op)", panel)


def spare_factor_setting(panel: str = "capacity") -> Any:
    """Return a field for the spare factor."""
    return _ratio("spare factor (T-U)/T = op/(1+op)", panel)
