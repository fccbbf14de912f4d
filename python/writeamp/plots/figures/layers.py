"""Figure of the bytes written by each layer from the application to the flash."""

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
    """Describe the bytes written by each layer as a bar, with their ratio to the layer above.

    Args:
        sizes: bytes by layer ("application", "file_system", "device", "flash"), from the top.
        title: of the figure.
        subtitle: the run: file system, device, seed.

    Raises:
        WriteampError: no bytes were written.
    """
    most = max(sizes.values(), default=0)
    if most == 0:
        raise WriteampError("cannot draw the layers, because no bytes were written")
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
    """Return the text of each layer: its bytes, and their ratio to the layer above."""
    texts = [f"{sizes[0] / unit:.4g}"]
    for above, below in pairwise(sizes):
        times = f"  (× {below / above:.3g})" if above else ""
        texts.append(f"{below / unit:.4g}{times}")
    return texts


def _product(sizes: list[int]) -> str:
    """Return the factors and their product as text."""
    if not all(sizes):
        return "no product of factors, because a layer wrote 0 bytes"
    factors = [below / above for above, below in pairwise(sizes)]
    return (
        f"{' × '.join(f'{factor:.3g}' for factor in factors)} = {sizes[-1] / sizes[0]:.3g} in total"
    )
