"""Real drives: counters, Ready/Busy pins, histories, fleets, lifetimes and benchmark checks."""

from writeamp.fields.late_names import late_names

__getattr__, __dir__ = late_names(__name__, __file__)
