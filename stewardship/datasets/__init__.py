"""Stewardship of our own datasets: MediEval, MedHal and MedVAL rows taken up, audited and recomputed on another road."""
