"""Our own datasets under stewardship: MediEval, MedHal and MedVAL rows taken up, audited, recomputed another way.

Second road: shares no rules and no word tables with ``builders`` and ``ehr``; the notes are read anew.
"""
