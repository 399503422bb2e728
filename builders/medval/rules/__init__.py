"""MedVAL's rules engine: edits of known clinical weight, and a validator that reads outputs on its own."""
