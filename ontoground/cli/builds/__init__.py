"""``ontoground build medieval|medhal|medval``."""

from ontoground.cli.builds import medieval, texts

__all__ = ["medieval", "texts"]
