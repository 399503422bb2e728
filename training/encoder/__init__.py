"""Quadrant classifiers on encoders: contexts read once (late), or once with every statement (cross)."""
