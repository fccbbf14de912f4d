"""Real drives: their counters and Ready/Busy pins, histories, fleets, lives and benchmarks."""

from writeamp.fields.late_names import late_names

__getattr__, __dir__ = late_names(__name__, __file__)
