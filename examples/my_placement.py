"""SepBIT (Wang et al., FAST 2022) in Python, with the counters of the built-in `sepbit`.

writeamp compare --workload tpcc --managers examples/my_placement.py:SepBIT,sepbit
"""

import numpy as np

import writeamp as wa

BLOCKS = 16  # number of blocks for the mean lifespan
NEVER_WRITTEN = -1


@wa.compiled
class SepBIT(wa.Placement):
    """Streams by the inferred time until a page is invalid, in six classes."""

    streams = 6
    migration_streams = range(2, 6)
    victims = "cost-benefit"

    def __init__(self, drive):
        self.written_at = np.full(drive.logical_pages, NEVER_WRITTEN)
        self.lifespans = 2**62  # 16 times the mean lifespan of blocks of short-lived pages
        self.collected = 0
        self.sum = 0

    def on_write(self, page, now):
        previous = int(self.written_at[page])
        self.written_at[page] = now
        is_short_lived = previous != NEVER_WRITTEN and (now - previous) * BLOCKS < self.lifespans
        return 0 if is_short_lived else 1

    def on_trim(self, page):
        self.written_at[page] = NEVER_WRITTEN

    def on_collect(self, victim):
        if victim.stream == 0:
            self.sum += victim.now - victim.opened
            self.collected += 1
            if self.collected == BLOCKS:
                self.lifespans = self.sum
                self.collected = self.sum = 0

    def on_migrate(self, page, victim):
        if victim.stream == 0:
            return 2
        age = victim.now - int(self.written_at[page])
        return 3 + (age * 4 >= self.lifespans) + (age >= self.lifespans)
