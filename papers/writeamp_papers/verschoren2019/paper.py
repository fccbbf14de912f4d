"""Verschoren and Van Houdt 2019, on improving d-choices garbage collection (paper 4).

"How to improve the performance of the d-choices garbage collection…": write amplification of
HCWF(swap) from its mean field and from simulation, its fairness and its endurance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from writeamp import meanfield
from writeamp.studies.functions import simulate
from writeamp_papers.bench import Bench, Findings
from writeamp_papers.items import Erratum, Item, compared
from writeamp_papers.paper import Paper
from writeamp_papers.verschoren2019 import figures, wear

# Number of simulated logical blocks (section 3.3).
_LOGICAL_BLOCKS = 10_000

# Relative tolerance between two simulators, and between a mean field and drives of finite size
# (PAPERS.md: at most 0.15%).
_SIMULATION_TOLERANCE = 0.0015

# Section 4: "we set d* = 100 unless otherwise stated".
_D_SWAP = 100


@dataclass(frozen=True)
class Setting:
    """Row of Table 1: a drive, its collection and its workload."""

    pages_per_block: int
    spare_factor: float
    d: int
    d_swap: int
    hot_write_fraction: float
    hot_fraction: float

    def __str__(self) -> str:
        """Return the row's columns as text."""
        return (
            f"b={self.pages_per_block}, S_f={self.spare_factor}, d/d*={self.d}/{self.d_swap}, "
            f"r/f={self.hot_write_fraction}/{self.hot_fraction}"
        )

    def mean_field(self) -> float:
        """Return the write amplification at the mean field's fixed point."""
        return meanfield.hot_cold_swap(
            pages_per_block=self.pages_per_block,
            spare_factor=self.spare_factor,
            d=self.d,
            d_swap=self.d_swap,
            hot_fraction=self.hot_fraction,
            hot_write_fraction=self.hot_write_fraction,
        ).wa

    def simulated(self, precision: float) -> float:
        """Return the write amplification of a simulated drive of the paper's size."""
        return simulate(
            workload=f"hot-cold:f={self.hot_fraction},r={self.hot_write_fraction}",
            manager=f"hcwf-swap:d={self.d},d_swap={self.d_swap}",
            logical_blocks=_LOGICAL_BLOCKS,
            pages_per_block=self.pages_per_block,
            spare_factor=self.spare_factor,
            precision=precision,
            replicas=1,
        ).wa


# Setting; WA by "ODE" (mean field) and by "simul." as printed. The r of the first row is misprinted
# as 0.96, so the row here has the r for which the printed WA is right.
_TABLE_1 = [
    (Setting(64, 0.15, 4, 1, 0.86, 0.24), 3.1669, 3.1674),
    (Setting(64, 0.12, 9, 10, 0.81, 0.08), 2.5600, 2.5604),
    (Setting(64, 0.09, 12, 5, 0.94, 0.02), 1.6543, 1.6542),
    (Setting(64, 0.06, 5, 2, 0.86, 0.13), 5.0861, 5.0840),
    (Setting(32, 0.15, 15, 40, 0.80, 0.07), 2.1307, 2.1312),
    (Setting(32, 0.12, 50, 8, 0.77, 0.20), 3.3725, 3.3723),
    (Setting(32, 0.09, 3, 1, 0.92, 0.12), 3.7314, 3.7302),
    (Setting(32, 0.06, 8, 15, 0.88, 0.03), 2.5401, 2.5399),
    (Setting(16, 0.15, 4, 100, 0.80, 0.05), 1.8939, 1.8943),
    (Setting(16, 0.12, 20, 30, 0.95, 0.15), 2.1511, 2.1515),
    (Setting(16, 0.09, 6, 3, 0.70, 0.20), 4.2686, 4.2670),
    (Setting(16, 0.06, 10, 1, 0.90, 0.10), 3.5805, 3.5803),
]
_PRINTED_R_OF_ROW_1 = 0.96
_ROW_1_AT_PRINTED_R = 2.641733

# Table 2: WA by d* (rows), for the four settings of Table 1 with b = 32 (columns).
_TABLE_2 = {
    1: (2.3626, 3.8305, 3.7314, 3.0869),
    2: (2.2602, 3.5920, 3.2453, 2.8005),
    4: (2.1921, 3.4329, 2.9638, 2.6411),
    8: (2.1553, 3.3725, 2.8269, 2.5680),
    16: (2.1382, 3.3733, 2.7663, 2.5383),
    32: (2.1316, 3.3932, 2.7394, 2.5267),
    64: (2.1299, 3.4138, 2.7266, 2.5219),
    128: (2.1299, 3.4319, 2.7202, 2.5196),
}
# Errata of Table 2, by column (case) and d*: computed values with more digits. They do not round to
# the printed values.
_TABLE_2_ERRATA = {(3, 4): 2.963749, (2, 128): 3.431954}

_AS_PRINTED = 0.5e-4


def _mean_fields(bench: Bench) -> Findings:
    bench.step("Table 1: mean field")
    items = _table_1_mean_field()
    bench.step("Table 2: mean field")
    return Findings(items + _table_2())


def _simulated(bench: Bench) -> Findings:
    bench.step("Table 1: simulation")
    return Findings(_table_1_simulated(bench))


def _figure_1(bench: Bench) -> Findings:
    bench.step("HCWF against HCWF(swap) (Fig. 1)")
    return figures.figure_1(bench, _D_SWAP)


def _table_1_mean_field() -> list[Item]:
    items = []
    for row, (setting, printed, _) in enumerate(_TABLE_1):
        if row == 0:
            items.append(_row_1_as_printed(setting, printed))
        ours = setting.mean_field()
        items.append(compared(f"Table 1, ODE: {setting}", printed, ours, _AS_PRINTED))
    return items


def _row_1_as_printed(setting: Setting, printed: float) -> Item:
    as_printed = replace(setting, hot_write_fraction=_PRINTED_R_OF_ROW_1)
    return compared(
        f"Table 1, ODE: {as_printed}",
        printed,
        as_printed.mean_field(),
        _AS_PRINTED,
        erratum=Erratum(
            _ROW_1_AT_PRINTED_R,
            0.5e-6,
            f"the printed value belongs to r={setting.hot_write_fraction}, which is the next item",
        ),
    )


def _table_1_simulated(bench: Bench) -> list[Item]:
    # At 1.5, one of 36 runs with other seeds missed the tolerance, by 20%. 2 takes 60% longer.
    precision = _SIMULATION_TOLERANCE / (10 if bench.full else 1.5)
    runs = [(setting, precision) for setting, _, _ in _TABLE_1]
    simulated = bench.map(Setting.simulated, runs)
    return [
        compared(f"Table 1, simulation: {setting}", printed, ours, _SIMULATION_TOLERANCE * printed)
        for (setting, _, printed), ours in zip(_TABLE_1, simulated, strict=True)
    ]


def _table_2() -> list[Item]:
    cases = [setting for setting, _, _ in _TABLE_1 if setting.pages_per_block == 32]
    items = []
    for d_swap, row in _TABLE_2.items():
        for case, (setting, printed) in enumerate(zip(cases, row, strict=True), start=1):
            erratum = None
            if exact := _TABLE_2_ERRATA.get((case, d_swap)):
                why = f"{exact} is printed as {printed}: rounded from too few digits"
                erratum = Erratum(exact, 0.5e-6, why)
            ours = replace(setting, d_swap=d_swap).mean_field()
            items.append(
                compared(
                    f"Table 2: case {case}, d*={d_swap}",
                    printed,
                    ours,
                    _AS_PRINTED,
                    erratum=erratum,
                )
            )
    return items


PAPER = Paper(
    name="verschoren2019",
    citation="Verschoren, Van Houdt: How to improve the performance of the d-choices garbage "
    "collection algorithm in flash-based SSDs (2019)",
    summary="HCWF(swap), collection with hot and cold write frontiers: mean field, wear and "
    "endurance",
    parts=(_mean_fields, _simulated, _figure_1, wear.run),
)
