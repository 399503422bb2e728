"""MedVAL's generator by rules: edits of known clinical weight; and the engine that it is half of."""
