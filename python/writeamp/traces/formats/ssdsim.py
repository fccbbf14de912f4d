"""SSDsim: the input traces of the SSDsim simulator (Hu et al., ICS 2011) and its forks."""

from writeamp.traces.formats.five_columns import five_columns

FORMAT = five_columns(
    "ssdsim",
    "times are ns; sectors of 512 bytes; type 1 is a read, 0 a write",
    summary="SSDsim input traces, five columns, time in ns",
    units="time in ns; address and size in sectors of 512 bytes; type 1 read, 0 write",
)
