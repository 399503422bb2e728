"""Measurements and review sheets: how fast the flow runs, and how far its labels agree with readers of the notes."""
