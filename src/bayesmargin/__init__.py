"""Bayesian max-margin models sampled by stochastic subgradient MCMC."""

__version__ = "0.1.0"
