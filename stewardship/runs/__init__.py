"""Phases 1 and 2: where runs come from, how they are kept, and the verdict or label that they come to."""
