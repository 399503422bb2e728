"""Readers of MedHal's sources, one file a layout."""
