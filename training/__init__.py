"""Training and evaluation on dataset rows: quadrant classifiers, CoRFu, MedHal and MedVAL fine-tuning."""

import os

# Read by huggingface_hub at its import: what is trained on here is nobody else's business.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
