"""A second engine behind the same estimators: all chains of an ensemble as one array, in JAX."""
