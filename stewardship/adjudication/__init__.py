"""Phase 3: which labels a physician should see, how they agreed with what was seen, and which label holds."""
