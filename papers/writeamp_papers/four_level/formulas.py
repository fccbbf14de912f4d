"""Equations 3 to 5 of paper 5: write amplification, |PEN| and OP%."""

from __future__ import annotations

# Section V.B.2: space that the manufacturer of SSD-I reserves, in the paper's GB.
SSD_I_OP_SPACE_GB = 2.8

# Table III: OP% by user space.
PARTITIONS_GB: dict[float, float] = {7: 37.2, 8: 32.2, 10: 25.2, 12: 20.5, 15: 15.9}

# Table I: tested shortest and longest time of a page write, in µs.
TESTED_US = {
    "ssd-v": (200, 2200),
    "ssd-i": (200, 2200),
    "ssd-m": (200, 2200),
    "ssd-s": (200, 500),
}


def write_amplification(programmed_pages: float, page_bytes: int, host_bytes: float) -> float:
    """Return the write amplification of the pages programmed by the controller (eq. 3).

    Args:
        programmed_pages: pages programmed in the whole drive, N_page.
        page_bytes: bytes of a page, P_a.
        host_bytes: bytes written by the host, L_Volume_Data.

    >>> write_amplification(1_000_000, 4096, 2**30)
    3.814697265625
    """
    return programmed_pages * page_bytes / host_bytes


def percentage_error(tested_pages: float, real_pages: float) -> float:
    """Return |PEN|, the absolute percentage error of a measured number of programs (eq. 4).

    Args:
        tested_pages: page programs counted at the Ready/Busy pins, N_page_test.
        real_pages: page programs counted by the drive, N_page_real; above 0.

    >>> percentage_error(999, 1000)
    0.1
    """
    return 100 * abs(tested_pages - real_pages) / real_pages


def op_percent(user_space_gb: float, op_space_gb: float = SSD_I_OP_SPACE_GB) -> float:
    """Return OP%, the spare share of the available space of a partitioned drive (eq. 5).

    Args:
        user_space_gb: size of the disk partition.
        op_space_gb: space that the drive reserves, in the same unit.

    >>> round(op_percent(25.2), 3)
    10.0
    """
    return 100 * op_space_gb / (op_space_gb + user_space_gb)


def share_of_window(from_us: float, window_us: tuple[float, float]) -> float:
    """Return the share of the times that exceeds `from_us`, if times are uniform in the window.

    Section IV.C.

    >>> share_of_window(2000, (200, 2200))
    0.1
    """
    low_us, high_us = window_us
    return (high_us - from_us) / (high_us - low_us)
