"""Write amplification from counters of real drives, over a life or an interval, with checks."""
