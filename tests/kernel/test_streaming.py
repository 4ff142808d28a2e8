"""The kernel model on rows of files: the posterior that rows in memory have."""

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, make_moons

import bayesmargin
from bayesmargin import BayesianSVC
from bayesmargin.errors import DataError
from bayesmargin.rows import open_rows
from bayesmargin.rows.mapped import MappedRows

GIVEN = {"C": 2.0, "gamma": 1.0, "n_components": 15, "n_draws": 500, "random_state": 0}


@pytest.fixture(scope="module")
def moons():
    return make_moons(400, noise=0.3, random_state=0)


@pytest.fixture(scope="module")
def file(moons, tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "X.npy"
    np.save(path, moons[0])
    return path


@pytest.fixture(scope="module")
def streamed(file, moons):
    return BayesianSVC(**GIVEN).fit(open_rows(file), moons[1])


def test_mapped_rows_are_what_the_function_says(file, moons):
    mapped = MappedRows(open_rows(file), lambda rows: rows @ np.ones((2, 3)), 3)
    mapped.memory = 4 * 8 * 4 * 30  # thirty rows at a time
    wanted = moons[0] @ np.ones((2, 3))
    pieces = list(mapped.pieces(constant=True))
    assert [start for start, _ in pieces][:3] == [0, 30, 60]
    joint = np.concatenate([part for _, part in pieces])
    np.testing.assert_allclose(joint, np.column_stack([wanted, np.ones(400)]))
    np.testing.assert_allclose(mapped.take(np.array([7, 3])), wanted[[7, 3]])


def test_rows_of_a_file_teach_what_rows_in_memory_do(streamed, moons):
    X, y = moons
    memory = BayesianSVC(**GIVEN, sampler="ssgnht").fit(X, y)
    new = make_moons(300, noise=0.3, random_state=1)[0]
    mean, sd = memory.decision_function(new, return_std=True)
    told, told_sd = streamed.decision_function(new, return_std=True)
    assert (
        np.sqrt(np.mean(((told - mean) / sd) ** 2)) < 0.15
    )  # Monte Carlo error of 400 draws: 0.07
    assert abs(np.mean(told_sd / sd) - 1.0) < 0.05
    chance = [one.predict_proba(new) for one in (memory, streamed)]
    assert np.abs(chance[0] - chance[1]).max() < 0.05
    np.testing.assert_allclose(streamed.predict_proba([[40.0, 40.0]]), 0.5, atol=0.01)


def test_answers_for_a_file_are_those_for_its_rows(streamed, file, moons, tmp_path):
    rows = open_rows(file)
    np.testing.assert_allclose(streamed.predict_proba(rows), streamed.predict_proba(moons[0]))
    for one, other in zip(
        streamed.decision_function(rows, return_std=True),
        streamed.decision_function(moons[0], return_std=True),
        strict=True,
    ):
        np.testing.assert_allclose(one, other)
    np.testing.assert_array_equal(streamed.predict(rows), streamed.predict(moons[0]))
    np.testing.assert_allclose(streamed.predict_lead(rows), streamed.predict_lead(moons[0]))
    np.testing.assert_allclose(streamed.novelty(rows), streamed.novelty(moons[0]))
    assert streamed.score(rows, moons[1]) > 0.85
    streamed.save(tmp_path / "model")
    again = bayesmargin.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(rows), streamed.predict_proba(rows))


def test_three_classes_with_random_features_of_a_sparse_file(tmp_path):
    X, _ = make_moons(300, noise=0.3, random_state=0)
    y = (X[:, 0] > 0.0) + (X[:, 0] > 1.0).astype(int)
    dump_svmlight_file(X, y, str(tmp_path / "rows.svm"), zero_based=False)
    rows = open_rows(tmp_path / "rows.svm")
    model = BayesianSVC(**{**GIVEN, "n_draws": 400}, kernel__features="random")
    model.fit(rows)
    assert model.score(rows) > 0.93
    assert not hasattr(model, "pulls_")


def test_everything_is_chosen_and_weights_count(file, moons):
    X, y = moons
    weight = np.where(np.arange(400) % 2 == 0, 1.0, 0.0)
    settings = {"n_draws": 400, "random_state": 0}
    model = BayesianSVC(**settings).fit(open_rows(file), y, sample_weight=weight)
    assert model.profile_ is not None
    assert len(model.map_.landmarks) == 200  # rows of weight zero are no landmarks
    assert model.score(X, y) > 0.85


def test_what_is_wrong_is_named(file, moons):
    with pytest.raises(DataError, match=r"precomputed.*square matrix in memory"):
        BayesianSVC(kernel="precomputed", C=1.0).fit(open_rows(file), moons[1])
