"""Whether draws are told from those of a law that the default sampler cannot follow."""

import numpy as np
import pytest

from bayesmargin.diagnostics.assessment import Watched, lopsided


@pytest.mark.parametrize(
    ("shape", "step", "noise", "expected"),
    [
        (1000.0, 0.25, 0.5, False),  # skewness 0.06
        (40.0, 0.25, 0.0, False),  # skewness 0.32, and gradients without noise
        (40.0, 0.25, 0.5, True),
        (10.0, 0.25, 0.0, True),  # skewness 0.63
    ],
)
def test_lopsided_draws_are_told_from_those_of_a_gaussian(shape, step, noise, expected):
    """Gamma laws of skewness ``2/sqrt(shape)``."""
    for seed in range(5):
        draws = np.random.default_rng(seed).gamma(shape, size=(4, 1000, 6))
        assert lopsided(Watched(draws, 1), step, noise) == expected


def test_where_the_exact_sampler_is_dear_only_strong_skewness_counts():
    for shape, expected in [(10.0, False), (4.0, True)]:  # skewness 0.63 and 1
        draws = np.random.default_rng(0).gamma(shape, size=(4, 1000, 6))
        assert lopsided(Watched(draws, 1), 0.25, 0.5, cheap=False) == expected
