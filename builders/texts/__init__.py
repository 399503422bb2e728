"""What the builders of MedHal and MedVAL share: text sources, their files, refusals, splits."""
