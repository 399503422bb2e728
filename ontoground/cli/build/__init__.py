"""``ontoground build medieval|medhal|medval``."""

from ontoground.cli.build import medhal, medieval, medval

__all__ = ["medhal", "medieval", "medval"]
