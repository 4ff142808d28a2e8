"""The Bayesian support vector machine with a kernel."""
