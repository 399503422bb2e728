"""Training and evaluation on dataset rows: quadrant classifiers, CoRFu, MedHal and MedVAL fine-tuning."""
