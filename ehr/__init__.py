"""Hospital side: MIMIC-IV into the warehouse, note sections, mentions and their assertion."""
