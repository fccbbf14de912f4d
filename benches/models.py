"""Times of the analytic models: `python benches/models.py` prints a table.

Best of three calls after one that is not counted, in one process.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

import writeamp as wa


def main() -> None:
    op = np.linspace(0.01, 1, 1_000_000)
    models = wa.models
    cases: list[tuple[str, Callable[[], object]]] = [
        ("expected_value of a million op", lambda: models.expected_value(op)),
        ("d_choices, 128 pages per block", lambda: models.d_choices(0.21875, 128)),
        ("d_choices, 32768 pages per block", lambda: models.d_choices(0.21875, 32768)),
    ]
    cases += [
        (
            f"coupon_collector, {pages} pages per block, window {window}, {blocks} blocks",
            lambda p=pages, w=window, b=blocks: models.coupon_collector(0.28, p, w, 0, b),
        )
        for pages, window, blocks in (
            (512, 64, 2000),
            (512, 64, math.inf),
            (32768, 64, 2000),
            (32768, 64, math.inf),
            (32768, 10**6, 10**6),
        )
    ]
    print("| model | ms |\n|---|---|")
    for name, call in cases:
        print(f"| {name} | {best_s(call) * 1e3:.2f} |")


def best_s(call: Callable[[], object]) -> float:
    call()
    seconds = []
    for _ in range(3):
        begun = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begun)
    return min(seconds)


if __name__ == "__main__":
    main()
