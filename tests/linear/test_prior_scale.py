"""The scale of a prior by rule: what it is, whatever the rows lie in, and where it is refused."""

import numpy as np
import pytest
from scipy import sparse

from bayesmargin import BayesianLinearSVC
from bayesmargin.models.linear.prior_scale import resolved_scale
from bayesmargin.rows import open_rows

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5)) * 4.0
y = (X[:, 0] + RNG.standard_normal(60) > 0.0).astype(int)
SETTINGS = {"prior_scale": "auto", "n_draws": 100, "n_chains": 2, "random_state": 0}


def test_a_row_of_usual_length_has_scores_as_wide_as_the_margin_before_anything_is_learned():
    scale = resolved_scale("auto", X, np.ones(60), margin=2.0, fit_intercept=True)
    design = np.column_stack([X, np.ones(60)])
    weights = scale * np.random.default_rng(1).standard_normal((4000, 6))
    scores = weights @ design.T
    assert np.sqrt(np.mean(scores**2)) == pytest.approx(2.0, rel=0.03)


def test_sparse_rows_files_and_weights_give_the_scale_of_the_rows_themselves(tmp_path):
    number = RNG.integers(0, 3, 60)
    repeated = np.repeat(X, number, axis=0)
    truth = resolved_scale("auto", repeated, np.ones(len(repeated)), 1.0, True)
    np.save(tmp_path / "rows.npy", X)
    for rows in (X, sparse.csr_matrix(X), open_rows(tmp_path / "rows.npy")):
        assert resolved_scale("auto", rows, number, 1.0, True) == pytest.approx(truth, rel=1e-6)


def test_features_in_other_units_give_the_same_probabilities():
    models = [
        BayesianLinearSVC(**SETTINGS, fit_intercept=False).fit(factor * X, y)
        for factor in (1.0, 8.0)
    ]
    assert models[0].prior_scale_ == pytest.approx(8.0 * models[1].prior_scale_)
    one, other = (m.predict_proba(f * X) for m, f in zip(models, (1.0, 8.0), strict=True))
    assert one == pytest.approx(other, abs=0.02)


def test_further_rows_leave_the_scale_as_it_was():
    model = BayesianLinearSVC(**SETTINGS).partial_fit(X, y, classes=[0, 1])
    scale = model.prior_scale_
    assert model.partial_fit(9.0 * X, y).prior_scale_ == scale


def test_a_number_is_the_scale_and_other_words_are_refused():
    assert resolved_scale(0.3, X, np.ones(60), 1.0, True) == 0.3
    with pytest.raises(ValueError, match=r"prior_scale='wide' is not allowed: .* or 'auto'"):
        BayesianLinearSVC(prior_scale="wide").fit(X, y)
