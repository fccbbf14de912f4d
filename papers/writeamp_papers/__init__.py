"""Reproductions of papers: published and computed values, one folder per paper.

Importing a paper's folder computes nothing; running it computes everything. Verdicts follow from
the numbers (`writeamp_papers.items`).
"""

from writeamp.fields.late_names import late_names

__getattr__, __dir__ = late_names(__name__, __file__)
