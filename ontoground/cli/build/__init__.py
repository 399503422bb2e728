"""``ontoground build medieval|medhal|medval``."""

from ontoground.cli.build.verbs import group

__all__ = ["group"]
