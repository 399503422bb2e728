"""Readers of MedHal's sources, one file for each layout."""
