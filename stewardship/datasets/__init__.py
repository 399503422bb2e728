"""Our own datasets under stewardship: MediEval, MedHal and MedVAL rows taken up, audited, recomputed another way."""
