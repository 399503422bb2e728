"""Datasets from both sides: codes to concepts, facts, statements in four quadrants."""
