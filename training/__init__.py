"""Training and evaluation on dataset rows: quadrant classifiers, CoRFu, MedHal and MedVAL fine-tuning."""

from ground.machine import bound_threads

# Most modules below import torch.
bound_threads()
