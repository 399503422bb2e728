"""MedVAL's validator by rules: reads every claim of an output and asks the input for it.

Second road: shares no rules and no word tables with `builders.medval.rules`.
"""
