"""CoRFu: the loss, its pairs, one stage, a run, and quadrants from a policy."""
