"""What counts as converged and as unbiased, for every model, the report and the command line."""

TOLERATED_RHAT = 1.05  # the largest of hundreds of values, each with its own sampling error
FEWEST_EFFECTIVE = 10  # draws that every chain must be worth
TOLERATED_BIAS = 0.1  # of all variances, by Stein's identity
