"""The learners: one file each, with its `LEARNER`, and one line each in `blackbox/model_kinds.py`."""
