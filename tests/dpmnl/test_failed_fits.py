"""A mixture whose fit failed is not fitted, or is what it was before."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bayesmargin import DPMNLClassifier, InfiniteSVC

MODELS = [DPMNLClassifier(n_sweeps=4, random_state=0), InfiniteSVC(n_sweeps=4, random_state=0)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_fit_that_fails_leaves_no_half_of_a_model(model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    with pytest.raises(ValueError, match="single class"):
        model.fit(X, np.ones(30))
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.fit(X, X[:, 0] > 0)
    before = model.predict(X)
    with pytest.raises(ValueError, match="single class"):
        model.fit(X, np.ones(30))
    np.testing.assert_array_equal(model.predict(X), before)
