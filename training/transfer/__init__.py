"""Models of MedHal and MedVAL on what is not their own: other people's test sets, and MedVAL's ablation."""
