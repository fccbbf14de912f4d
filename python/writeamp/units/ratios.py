"""Ratios of spare space, and their settings: op (used internally), spare factor and fill.

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
# A ratio: a number, or text such as "15%".
RatioLike: TypeAlias = float | str
# A larger op without a percent sign is rejected, because it was probably meant as a percentage.
MOST_PLAIN_OP = 3


def op_of(
    *,
    op: RatioLike | None = None,
    fill: RatioLike | None = None,
    spare_factor: RatioLike | None = None,
) -> float | None:
    """Return op, computed from the one ratio that is given, or None if none is given.

    Raises:
        WriteampError: more than one ratio is given, or a value is invalid.

    >>> op_of(op="15%"), op_of(fill=0.5), op_of(op="400%")
    (0.15, 1.0, 4.0)
    >>> op_of(op=15)
    Traceback (most recent call last):
    writeamp.errors.WriteampError: op is 15, which means 15 times as much spare space as data; did \
you mean 15%? Write an op above 3 as a percentage: 1500%
    """
    ratios = {"op": op, "fill": fill, "spare_factor": spare_factor}
    values = {name: as_ratio(name, value) for name, value in ratios.items()}
    at_most_one("over-provisioning", **values)
    for name, value in values.items():
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
                    f"op is {number:g}, which means {number:g} times as much spare space as data; "
                    f"did you mean {number:g}%? Write an op above {MOST_PLAIN_OP} as a percentage: "
                    f"{100 * number:.15g}%"
                )
            return value  # type: ignore[return-value]
        share = finite(value)
        if not 0 < share < 1:
            raise WriteampError(f"{name} is {shown(value)}; it must be above 0 and below 1")
        return (1 - share) / share if name == "fill" else share / (1 - share)
    return None


def physical_of(logical: float, op: float) -> float:
    """Return the physical size for a logical size, in pages, blocks or bytes."""
    return logical * (1 + op)


def logical_of(physical: float, op: float) -> float:
    """Return the logical size for a physical size, in pages, blocks or bytes."""
    return physical / (1 + op)


def spare_factor_of(op: float) -> float:
    """Return the spare factor (T-U)/T."""
    return op / (1 + op)


def all_ratios(op: float) -> dict[str, float]:
    """Return the three ratios by name.

    >>> all_ratios(0.25)
    {'op': 0.25, 'fill': 0.8, 'spare_factor': 0.2}
    """
    return {"op": op, "fill": logical_of(1, op), "spare_factor": spare_factor_of(op)}


def at_most_one(what: str, **options: float | None) -> None:
    """Check that at most one of several alternative options is given."""
    names = [name for name, value in options.items() if value is not None]
    if len(names) > 1:
        raise WriteampError(
            f"{' and '.join(names)} each set the {what}; give only one of {', '.join(options)}"
        )


def space_in_words(op: float, fill: float, spare_factor: float) -> str:
    """Return the three ratios of a drive as text."""
    return f"op {op:.4g} = (T-U)/U, fill {fill:.4g}, spare factor {spare_factor:.4g}"


def _ratio(help_text: str, panel: str) -> Any:
    return setting(None, RATIO, help_text, number="ratio", excludes="ratio", panel=panel)


def op_setting(panel: str = "capacity") -> Any:
    """Return a settings field for the over-provisioning ratio."""
    return _ratio(
        "over-provisioning ratio (T-U)/U of a drive with T physical and U logical pages, such as "
        "0.15 or 15%",
        panel,
    )


def fill_setting(panel: str = "capacity") -> Any:
    """Return a settings field for the fill."""
    return _ratio(
        "fill U/T = 1/(1+op), the share of the physical pages that the host sees; an alternative "
        "to --op",
        panel,
    )


def spare_factor_setting(panel: str = "capacity") -> Any:
    """Return a settings field for the spare factor."""
    return _ratio(
        "spare factor (T-U)/T = op/(1+op), the share of the physical pages that is spare; an "
        "alternative to --op",
        panel,
    )
