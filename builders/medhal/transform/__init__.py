"""From a source's items to pairs of claims, one file a task (MedHal, sections 3.2 to 3.5)."""
