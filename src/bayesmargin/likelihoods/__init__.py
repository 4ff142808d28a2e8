"""Pseudo-likelihoods with kinks: convex piecewise-linear functions of a few scores."""
