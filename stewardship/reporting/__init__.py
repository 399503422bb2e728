"""The report: what the phases found, its page and pictures, the paper beside it, and other settings."""
