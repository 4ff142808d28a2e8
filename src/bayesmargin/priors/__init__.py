"""Priors, as a Gaussian near the posterior sees them and as a chain does."""
