"""What is sampled: unbiased gradients and energies."""
