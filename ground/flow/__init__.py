"""How work is done: executors for shards, fingerprints of stages, manifests of datasets."""
