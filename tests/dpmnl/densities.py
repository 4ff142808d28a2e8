"""Densities of dpMNL by integration, for comparison."""

import math

from scipy import integrate, stats


def integrated(x, mean, log_spread, level, log_level_spread, least=-math.inf):
    """Density of one covariate under the base measure, by SciPy."""
    deviation = math.exp(0.5 * log_level_spread)

    def density(z):
        variance = math.exp(log_spread) + math.exp(level + deviation * z)
        exponent = -0.5 * (x - mean) ** 2 / variance - 0.5 * z * z
        return math.exp(exponent) / (2.0 * math.pi * math.sqrt(variance))

    low = max(-12.0, (least - level) / deviation)
    value = integrate.quad(density, low, 12, epsabs=0.0, epsrel=1e-12, limit=500)[0]
    return value / stats.norm.sf(low)
