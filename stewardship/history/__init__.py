"""The history of labels: events, the log that keeps them, and what it says at the moment."""
