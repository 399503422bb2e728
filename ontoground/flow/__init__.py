"""Stages in order: what each needs, which are stale, how they are run, stopped and reported."""
