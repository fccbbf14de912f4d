"""Subcommand `reproduce`, as declared in the entry points of writeamp-papers."""

from writeamp.cli.verbs import REPRODUCE as MISSING

REPRODUCE = MISSING._replace(module="writeamp_papers.cli")
