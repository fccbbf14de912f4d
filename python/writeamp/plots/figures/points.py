"""Points of a line over time: intervals of a run merged until each has whole collections."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# Maximum number of points of a line, because more would be indistinguishable.
_MOST_POINTS = 400
# Number of collected blocks of a point, because WA over fewer would fluctuate. A run with few
# collections has fewer in each point, so that it has at least about this number of points.
_COLLECTED_BLOCKS, _FEWEST_POINTS = 8.0, 24
WHOLE_COLLECTIONS = "each point covers whole collections"


def point_ends(
    host_pages: npt.ArrayLike, collected: npt.ArrayLike, warmup_pages: int = 0
) -> npt.NDArray[np.intp]:
    """Return the last interval of each of about 400 points at most, shape (points,).

    A point ends with an interval in which a collection ended, and has at least 8 collected blocks,
    or fewer in a run with few. WA of a part of a collection would jump between values, and a line
    through all intervals would look like a solid area. Before the first collection, points have
    equal numbers of host pages. A point also ends with the warm-up, and may then have fewer blocks.

    Args:
        host_pages: host pages written in each interval, shape (n,), n > 0.
        collected: blocks collected in each interval, or an estimate, shape (n,).
        warmup_pages: host pages of the warm-up; a point ends there, too.
    """
    host, blocks = np.asarray(host_pages, np.float64), np.asarray(collected, np.float64)
    ends = np.cumsum(host)
    fewest_host = ends[-1] / _MOST_POINTS
    fewest_blocks = min(_COLLECTED_BLOCKS, max(1.0, blocks.sum() / _FEWEST_POINTS))
    is_first = np.cumsum(blocks) == 0
    cuts = []
    since_host = since_blocks = 0.0
    for index, (written, collections) in enumerate(zip(host, blocks, strict=True)):
        since_host, since_blocks = since_host + written, since_blocks + collections
        is_whole = collections > 0 and since_blocks >= fewest_blocks
        is_full = since_host >= fewest_host and (is_whole or is_first[index])
        if is_full or ends[index] == warmup_pages:
            cuts.append(index)
            since_host = since_blocks = 0.0
    # The remainder is too short for its own point, so it joins the last point, if any.
    joined = cuts[:-1] if cuts and ends[cuts[-1]] != warmup_pages else cuts
    return np.array([*joined, *({host.size - 1} - {*joined})], np.intp)


def visible_points(
    host_pages: npt.ArrayLike,
    flash_pages: npt.ArrayLike,
    collected: npt.ArrayLike,
    warmup_pages: int = 0,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Merge intervals to points, as `point_ends`.

    Args:
        host_pages: host pages written in each interval, shape (n,).
        flash_pages: flash pages programmed in each interval, shape (n,).
        collected: blocks collected in each interval, or an estimate, shape (n,).
        warmup_pages: host pages of the warm-up; a point ends there, too.

    Returns:
        Host pages written until the end of each point, and WA of each point; both of shape
        (points,).
    """
    cuts = point_ends(host_pages, collected, warmup_pages)
    written, programmed = (
        np.cumsum(np.asarray(pages, np.float64))[cuts] for pages in (host_pages, flash_pages)
    )
    return written, np.diff(programmed, prepend=0.0) / np.diff(written, prepend=0.0)
