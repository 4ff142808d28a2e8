"""How far draws of a pseudo-likelihood are from frequencies, and what mends it."""
