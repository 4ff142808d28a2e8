"""Exact sampling with the hinge as a mixture of Gaussians."""
