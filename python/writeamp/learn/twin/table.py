"""Table of candidates: WA of simulated drives in the windows of a chain, cached on disk.

All candidates begin the chain in the same state, which need not be steady. The table's axis of
spare space leaves out blocks without data (`Variant.tied_blocks`). Their share is large on small
drives and negligible on large ones, and WA follows from the remaining spare space on both.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.interpolate import PchipInterpolator  # type: ignore[import-untyped]
from scipy.ndimage import uniform_filter1d  # type: ignore[import-untyped]

from writeamp.errors import WriteampError
from writeamp.files import output
from writeamp.files.cache import cache_folder
from writeamp.learn.twin.chain import PAGE_BYTES, Chain, Phase
from writeamp.learn.twin.families import FAMILIES, Variant
from writeamp.learn.twin.serving import Grid, Served, simulated_windows
from writeamp.runners import Progress, Runner, gather_whole, local_runner
from writeamp.units.ratios import physical_of

Floats = npt.NDArray[np.float64]
# `log_op` and `wa` of one variant. The axes are those of a `CandidateTable` without the variants.
_Rows: TypeAlias = tuple[Floats, Floats]

# Version of the cache's files. Changes of engine, chain or variant give files of another name. If
# anything else changes the content, increase this version, so that old files are not used.
_FORM = 4
# Number of significant bits of WA that are stored.
_BITS = 13
# Pages of a tiny simulated drive. Its WA is part of the file names of the cache: it changes if the
# engine changes, so old files are not used.
_TINY_PAGES = 1000


@dataclass(frozen=True)
class CandidateTable:
    """WA of every candidate in every window of a chain.

    `log_op` is ln of the ratio of spare space to logical space, without tied blocks (blocks without
    data, such as the reserve). Its axes are variant, erase unit and spare space; it is NaN for
    drives with too few spare blocks to run. `wa` has a further axis for the windows.
    """

    variants: tuple[Variant, ...]
    family_of: tuple[int, ...]
    unit_pages: Floats
    log_op: Floats
    wa: Floats


def table_of(
    served: Served,
    *,
    grid: Grid | None = None,
    families: Sequence[Sequence[Variant]] = FAMILIES,
    runner: Runner | None = None,
    progress: Progress | None = None,
) -> CandidateTable:
    """Return the table of a chain; variants that the user's cache lacks are simulated.

    Each complete variant is written to the cache. So an interrupted table continues, and a new
    policy needs only its own simulations.

    Args:
        served: writes that all candidates serve, such as a chain, scaled to their size.
        grid: erase units and spare spaces of the candidates; by default, those for the size of the
            chain's drive.
        families: placements and victim policies of the candidates.
        runner: runs the simulations.
        progress: called with the number of finished pairs of variant and erase unit, and of all.

    Raises:
        KeyboardInterrupt: Ctrl-C; its text has the number of cached variants, if there are any.
    """
    grid = grid or served.grid
    served = served.usual
    variants = [variant for family in families for variant in family]
    folder = cache_folder("twin")
    files = {variant: folder / f"{_digest(served, grid, variant)}.npz" for variant in variants}
    shape = (len(grid.unit_pages), len(grid.op))
    cached = {variant: _read(path, shape, served.windows) for variant, path in files.items()}
    rows = {
        variant: row_of_variant
        for variant, row_of_variant in cached.items()
        if row_of_variant is not None
    }
    # Jobs are sorted by digest, so their order is random. In the registry's order, similar variants
    # with similar run times follow each other, which would bias estimates of the remaining time.
    missing = sorted(files.keys() - rows.keys(), key=files.__getitem__)
    jobs = [(variant, unit) for variant in missing for unit in grid.unit_pages]
    simulated: dict[Variant, dict[int, _Rows]] = {variant: {} for variant in missing}

    def keep(at: int, row: _Rows) -> None:
        variant, unit = jobs[at]
        of_units = simulated[variant]
        of_units[unit] = row
        if len(of_units) == len(grid.unit_pages):
            columns = zip(*(of_units[unit] for unit in grid.unit_pages), strict=True)
            log_op, wa = (np.array(column) for column in columns)
            rows[variant] = log_op, _rounded(wa)
            _write(files[variant], *rows[variant])

    if jobs:
        runner = runner or local_runner(len(jobs))
        try:
            gather_whole(
                runner, partial(_simulated, served, grid), jobs, each=keep, progress=progress
            )
        except KeyboardInterrupt:
            in_cache = sum(path.exists() for path in files.values())
            if not in_cache:
                raise
            raise KeyboardInterrupt(
                f"{in_cache} of {len(variants)} pairs of policies are simulated and cached; run "
                "the same command to continue"
            ) from None
    return CandidateTable(
        tuple(variants),
        tuple(at for at, family in enumerate(families) for _ in family),
        np.array(grid.unit_pages, float),
        np.array([rows[variant][0] for variant in variants]),
        np.array([rows[variant][1] for variant in variants]),
    )


def _simulated(served: Served, grid: Grid, job: tuple[Variant, int]) -> _Rows:
    """Return `log_op` and `wa` at every op of the grid, for one variant and erase unit."""
    variant, unit = job
    log_op = np.full(len(grid.op), math.nan)
    wa = np.full((len(grid.op), served.windows), math.nan)
    # On drives of few blocks, several ops give the same number of blocks, so results are reused.
    wa_of: dict[int, Floats | None] = {}
    for at, op in enumerate(grid.op):
        blocks = math.ceil(physical_of(grid.logical_pages, op) / unit + variant.tied_blocks)
        if blocks not in wa_of:
            wa_of[blocks] = _mean_windows(served, grid, variant, unit, blocks)
        mean_wa = wa_of[blocks]
        if mean_wa is not None:
            free = blocks * unit - variant.tied_blocks * unit
            log_op[at] = math.log(free / grid.logical_pages - 1)
            wa[at] = mean_wa
    return log_op, wa


def _mean_windows(
    served: Served, grid: Grid, variant: Variant, unit: int, blocks: int
) -> Floats | None:
    """Return WA in each window, averaged over the runs of a drive; None if the first run fails."""
    runs: list[Floats] = []
    for seed in range(1, 1 + grid.runs(unit)):
        run = simulated_windows(served, variant, unit, blocks, grid.logical_pages, seed=seed)
        if run is not None:
            runs.append(run)
        elif not runs:
            return None
    return np.asarray(np.mean(runs, axis=0))


def _digest(served: Served, grid: Grid, variant: Variant) -> str:
    """Return the name of a variant's file: a digest of all inputs of its content."""
    meaning = [_FORM, served.meaning, repr(grid), repr(variant), _trace_of(variant)]
    return hashlib.sha256(json.dumps(meaning).encode()).hexdigest()[:16]


@cache
def _trace_of(variant: Variant) -> list[float]:
    """Return WA of a tiny drive, which changes with the engine and so invalidates the cache."""
    chain = Chain((Phase("hot-cold(f=0.1,r=0.9)", (2.0, 4.0)),), _TINY_PAGES * PAGE_BYTES)
    window_was = simulated_windows(chain, variant, 8, _TINY_PAGES // 6, _TINY_PAGES, seed=1)
    return [] if window_was is None else [float(wa) for wa in window_was]


def _read(path: Path, shape: tuple[int, int], windows: int) -> _Rows | None:
    """Return `log_op` and `wa` in a file of the cache; None if it is missing or damaged."""
    try:
        with path.open("rb") as source, np.load(source, allow_pickle=False) as file:
            log_op, wa = (np.asarray(file[name], float) for name in ("log_op", "wa"))
    except Exception:  # damaged archives raise many types: zlib's, zipfile's, struct's, NumPy's
        return None
    if log_op.shape != shape or wa.shape != (*shape, windows):
        return None
    is_whole = (np.isfinite(wa) == np.isfinite(log_op)[..., np.newaxis]).all()
    return (log_op, wa) if is_whole else None


def _rounded(wa: Floats) -> Floats:
    """Return WA rounded to 0.012%, below the variation between runs; files shrink by a third."""
    mantissa, exponent = np.frexp(wa)
    return np.asarray(np.ldexp(np.round(mantissa * 2**_BITS) / 2**_BITS, exponent))


def _write(path: Path, log_op: Floats, wa: Floats) -> None:
    text = io.BytesIO()
    np.savez_compressed(text, log_op=log_op, wa=wa.astype(np.float32))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with output.replacing(path, "table of candidates", synced=False) as file:
            file.write(text.getvalue())
    except (OSError, WriteampError):
        return  # without a cache, later fits only take longer


# Keeps the logarithm of WA - 1 finite before any garbage collection.
SHIFT = 0.02
# Assumed error of interpolation between nodes, as a share of the error with which the neighbours of
# a node predict it: along spare space, and along the erase unit. Along spare space, half the
# distance leaves a quarter of the error if WA is smooth, and more otherwise.
_LEFT_OF_OP = 0.35
_LEFT_OF_UNIT = 1.0
_LEAST = 0.003
# Assumed error at nodes without enough neighbours.
_UNKNOWN = 0.009


def table_error(table: CandidateTable) -> Floats:
    """Return the standard error of the logarithm of WA at each node, in the shape of `table.wa`.

    The error combines interpolation between nodes with random variation between runs. To estimate
    it, each node is predicted from its neighbours. Along spare space, the difference shows mostly
    the curvature; along the erase unit, it shows mostly random variation. Families differ by a
    factor of 100 in both, so a single value would be too small for FIFO and too large for greedy.
    """
    shifted = np.log(np.maximum(table.wa - 1, 0) + SHIFT)
    of_log_wa = (np.maximum(table.wa - 1, 0) + SHIFT) / np.maximum(table.wa, 1)
    over_op = _smooth(_over_op(table.log_op, shifted) * of_log_wa)
    over_unit = _smooth(_over_unit(table.log_op, shifted) * of_log_wa)
    squares = _LEFT_OF_OP**2 * np.nan_to_num(over_op, nan=_UNKNOWN**2)
    squares += _LEFT_OF_UNIT**2 * np.nan_to_num(over_unit, nan=_UNKNOWN**2)
    return np.asarray(np.sqrt(squares + _LEAST**2))


def _over_op(log_op: Floats, values: Floats) -> Floats:
    """Return each node's difference from the cubic through two neighbours on each side."""
    errors = np.full(values.shape, np.nan)
    nodes = log_op.shape[2]
    for at in range(2, nodes - 2):
        others = (at - 2, at - 1, at + 1, at + 2)
        guess = np.zeros_like(values[:, :, at])
        with np.errstate(divide="ignore", invalid="ignore"):  # zero distance of equal spare spaces
            for node in others:
                share = np.ones(log_op.shape[:2])
                for other_node in others:
                    if other_node != node:
                        share *= log_op[:, :, at] - log_op[:, :, other_node]
                        share /= log_op[:, :, node] - log_op[:, :, other_node]
                guess += share[:, :, None] * values[:, :, node]
        errors[:, :, at] = values[:, :, at] - guess
    return np.where(np.isfinite(errors), errors, np.nan)


def _over_unit(log_op: Floats, values: Floats) -> Floats:
    errors = np.full(values.shape, np.nan)
    for variant, unit in np.ndindex(log_op.shape[0], log_op.shape[1]):
        if not 0 < unit < log_op.shape[1] - 1:
            continue
        sides = [(variant, unit - 1), (variant, unit + 1)]
        curves = []
        for side in sides:
            usable = _known(log_op[side])
            if usable.size > 1:
                curves.append(
                    PchipInterpolator(log_op[side][usable], values[side][usable], extrapolate=False)
                )
        own = _known(log_op[variant, unit])
        if len(curves) == len(sides):
            guess = np.mean([curve(log_op[variant, unit][own]) for curve in curves], axis=0)
            errors[variant, unit, own] = values[variant, unit, own] - guess
    return errors


def _known(log_op: Floats) -> npt.NDArray[np.int64]:
    """Return the indices of nodes with a WA; of equal spare spaces, only the first."""
    nodes = np.flatnonzero(~np.isnan(log_op))
    _, first = np.unique(log_op[nodes], return_index=True)
    return nodes[first]


def _smooth(errors: Floats) -> Floats:
    """Return the mean squared error over neighbouring erase units and spare spaces."""
    is_set = ~np.isnan(errors)
    squares, counts = np.where(is_set, errors**2, 0.0), is_set.astype(float)
    for axis in (1, 2):
        squares = uniform_filter1d(squares, 3, axis=axis, mode="constant")
        counts = uniform_filter1d(counts, 3, axis=axis, mode="constant")
    return np.where(counts > 1e-9, squares / np.maximum(counts, 1e-9), np.nan)
