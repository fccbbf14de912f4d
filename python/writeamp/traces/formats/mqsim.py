"""MQSim: the input traces of the MQSim SSD simulator (Tavakkol et al., FAST 2018)."""

from writeamp.traces.formats.five_columns import five_columns

# MQSim takes the unit of time from its workload file; the traces it ships are in ns.
FORMAT = five_columns(
    "mqsim",
    "times are taken as ns (the traces MQSim ships; its workload file may say otherwise); "
    "sectors of 512 bytes; type 1 is a read, 0 a write",
    summary="MQSim input traces, five columns, time in ns",
    units="time in ns (MQSim's workload file may say otherwise); address and size in "
    "sectors of 512 bytes; type 1 read, 0 write",
)
