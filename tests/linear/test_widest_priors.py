"""Priors so wide that double precision loses them: an error in words, not one of LAPACK."""

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVC


def three_separable_classes():
    y = np.repeat([0, 1, 2], 20)
    centres = 4.0 * np.array([[0.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    return 0.3 * np.random.default_rng(0).standard_normal((60, 2)) + centres[y], y


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
@pytest.mark.parametrize("scale", [1e10, 1e100])
def test_a_prior_that_rounding_loses_is_refused_in_words(prior, scale):
    model = BayesianLinearSVC(prior=prior, prior_scale=scale, random_state=0)
    with pytest.raises(
        ValueError,
        match=f"prior of scale 1e.{round(np.log10(scale))} .* choose a smaller prior_scale",
    ):
        model.fit(*three_separable_classes())
