"""Language models that are asked instead of trained: quadrants, detectors and validators, with one example or none."""
