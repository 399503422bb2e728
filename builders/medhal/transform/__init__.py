"""From a source's items to pairs of claims, one file for each task (MedHal, sections 3.2 to 3.5)."""
