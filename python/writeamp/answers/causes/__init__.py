"""Causes of difference in the order of switching: one file each, and one line here.

What stands first of those that explain a kind of way is switched first; each that follows is
switched with all before it, so that their shares add up.
"""

from __future__ import annotations

from writeamp.answers.cause import Cause
from writeamp.answers.causes import (
    background_collection,
    blocks,
    cold_data,
    layout,
    manager,
    mapping_table,
    no_steady_state,
    order_of_writes,
    other_candidates,
    program_units,
    refresh,
    short_run,
    skew,
    slc_cache,
    time,
    trim,
    unaligned_pages,
    victims,
    wear_leveling,
    write_cache,
)

CAUSES: tuple[Cause, ...] = (
    # From all drives that a learnt profile may be to the one that every other way takes.
    other_candidates.CAUSE,
    # From the simulation to theory.
    no_steady_state.CAUSE,
    trim.CAUSE,
    order_of_writes.CAUSE,
    skew.CAUSE,
    cold_data.CAUSE,
    wear_leveling.CAUSE,
    manager.CAUSE,
    victims.CAUSE,
    layout.CAUSE,
    blocks.CAUSE,
    # From the timed run to the simulation, and from both to the window that they share.
    slc_cache.CAUSE,
    program_units.CAUSE,
    write_cache.CAUSE,
    mapping_table.CAUSE,
    background_collection.CAUSE,
    refresh.CAUSE,
    time.CAUSE,
    short_run.CAUSE,
    # From the simulation to counters of drives.
    unaligned_pages.CAUSE,
)
