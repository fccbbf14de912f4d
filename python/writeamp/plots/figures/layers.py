"""Figure of the bytes written by each layer between an application and the flash."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from writeamp.errors import WriteampError
from writeamp.plots.spec import BarChart, Layer
from writeamp.plots.style import SERIES_COLORS

_LABELS = {
    "application": "passed to write()",
    "file_system": "file system",
    "device": "drive's host",
    "flash": "flash",
}
_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def wa_by_layer(sizes: Mapping[str, int], *, title: str, subtitle: str) -> BarChart:
    """Describe the bytes that each layer wrote as one bar, with its factor over the layer above.

    Args:
        sizes: bytes by layer ("application", "file_system", "device", "flash"), from the top.
        title: what is shown.
        subtitle: the run: file system, device, seed.

    Raises:
        WriteampError: no layer wrote anything.
    """
    most = max(sizes.values(), default=0)
    if most == 0:
        raise WriteampError("nothing was written, so there is nothing to draw")
    power = min((len(str(most)) - 1) // 3, len(_UNITS) - 1)
    unit = 1000**power
    return BarChart(
        title=title,
        subtitle=f"{subtitle}\n{_product(list(sizes.values()))}",
        x_label=f"written to the layer below ({_UNITS[power]})",
        bars=tuple(_LABELS[name] for name in sizes),
        layers=(
            Layer("bytes written", SERIES_COLORS[0], tuple(size / unit for size in sizes.values())),
        ),
        texts=tuple(_texts(list(sizes.values()), unit)),
    )


def _texts(sizes: list[int], unit: int) -> list[str]:
    """Return each layer's bytes, and how many times those of the layer above they are."""
    texts = [f"{sizes[0] / unit:.4g}"]
    for above, below in pairwise(sizes):
        times = f"  (× {below / above:.3g})" if above else ""
        texts.append(f"{below / unit:.4g}{times}")
    return texts


def _product(sizes: list[int]) -> str:
    """Return the factors and their product in words."""
    if not all(sizes):
        return "a layer wrote nothing, so there is no product of factors"
    factors = [below / above for above, below in pairwise(sizes)]
    return f"{' × '.join(f'{one:.3g}' for one in factors)} = {sizes[-1] / sizes[0]:.3g} in all"
