"""``ontoground evaluate quadrants|medhal|medval|sheets``."""

from ontoground.cli.evaluate import quadrants, sheets, texts

__all__ = ["quadrants", "sheets", "texts"]
