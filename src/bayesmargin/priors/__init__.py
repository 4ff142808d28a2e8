"""Priors, as a Gaussian near the posterior sees them and as a chain does."""

from bayesmargin.priors.densities import prior_energy, prior_gradient
from bayesmargin.priors.moments import GaussianBelief, LaplaceBelief, Prior

__all__ = ["GaussianBelief", "LaplaceBelief", "Prior", "prior_energy", "prior_gradient"]
