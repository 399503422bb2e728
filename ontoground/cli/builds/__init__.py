"""``ontoground build medieval|medhal|medval``."""

from ontoground.cli.builds import medhal, medieval, medval

__all__ = ["medhal", "medieval", "medval"]
