"""Panel of the write cliff: bandwidth against bytes written since the device was idle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from writeamp.plots.spec import Line, Panel
from writeamp.plots.style import series_color

# On a logarithmic axis, points that are closer than this cannot be told apart.
_LEAST_STEP = 1.02


def cliff_panel(
    time_s: npt.ArrayLike, written_bytes: npt.ArrayLike, *, pause_s: float
) -> Panel | None:
    """Describe how the bandwidth of writes falls once a cache is full.

    Args:
        time_s: moments, rising, shape (n,).
        written_bytes: bytes written up to each, rising, shape (n,).
        pause_s: time between two moments that is a pause of the host, after which the bytes are
            counted anew; infinity for never.

    Returns:
        The panel; None if nothing was written.
    """
    times = np.asarray(time_s, np.float64)
    written = np.asarray(written_bytes, np.float64)
    x: list[float] = []
    y: list[float] = []
    begin = last = 0
    for at in range(1, times.size):
        if times[at] - times[at - 1] >= pause_s:
            begin = last = at
            if x:
                x.append(np.nan)
                y.append(np.nan)
            continue
        since_idle = written[at] - written[begin]
        if since_idle >= _LEAST_STEP * (written[last] - written[begin]) and times[at] > times[last]:
            x.append(since_idle / 1e9)
            y.append((written[at] - written[last]) / (times[at] - times[last]) / 1e6)
            last = at
    if not np.nansum(y):
        return None
    return Panel(
        "Write cliff",
        (Line(x, y, series_color(1), 1.3),),
        x_label="written since idle (10⁹ bytes)",
        y_label="10⁶ bytes a second",
        x_log=True,
    )
