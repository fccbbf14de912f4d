"""Reproductions of papers: their published values beside ours, one folder a paper.

A paper's folder computes everything when it is run and nothing when it is imported; verdicts follow
from the numbers (`writeamp_papers.items`), never from the folder.
"""

from writeamp.fields.late_names import late_names

__getattr__, __dir__ = late_names(__name__, __file__)
