"""MQSim: the input traces of the MQSim SSD simulator (Tavakkol et al., FAST 2018)."""

from writeamp.traces.formats.five_columns import five_columns

# MQSim takes the unit of time from its workload file; its example traces are in ns.
FORMAT = five_columns(
    "mqsim",
    "times are assumed to be ns, as in MQSim's example traces (its workload file can set another "
    "unit); sectors of 512 bytes; type 1 is a read, 0 a write",
    summary="MQSim input traces, five columns, time in ns",
    units="time in ns (MQSim's workload file can set another unit); address and size in sectors "
    "of 512 bytes; type 1 read, 0 write",
)
