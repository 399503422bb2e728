"""``ontoground evaluate quadrants|medhal|medval|sheets``."""

from ontoground.cli.evaluate.verbs import group

__all__ = ["group"]
