"""Blind sheets for experts on rows of a dataset: written, and read back."""
