"""Verb `reproduce` of the papers."""

from writeamp.cli.verbs import REPRODUCE as MISSING

REPRODUCE = MISSING._replace(module="writeamp_papers.cli")
