"""Attacks on what is promised: kills, malformed inputs, modes of files, connections, gates and queries.

``python -m benchmarks.attack`` tries all of it on a small open world; a part is a module with ``tries(target)``, which
yields a name and a function that returns what did not hold, or None.
"""
