"""What all runs share: settings, models, the run folder, its record and card, memory, and going on after a stop."""
