"""One benchmark a stage: ours beside its yardsticks, each in a process of its own; ``measure(inputs)`` runs them."""
