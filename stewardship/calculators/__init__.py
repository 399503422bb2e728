"""The 55 calculators of MedCalc-Bench: features in, score out, or the reason why there is none."""
