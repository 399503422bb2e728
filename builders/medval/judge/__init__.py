"""MedVAL's validator by rules: reads every claim of an output and asks the input for it."""
