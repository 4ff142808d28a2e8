"""Equal rows of large sparse data: found all of them, and no others."""

import numpy as np
from scipy import sparse

import bayesmargin.models.linear.fitting as fitting
from bayesmargin.rows.alike import equal_rows, many_equal_rows


def indicators(n_rows=3000):
    rng = np.random.default_rng(1)
    dense = (rng.random((n_rows, 9)) < 0.3) * rng.choice([1.0, -2.0], (n_rows, 9))
    return sparse.csr_array(dense), rng.integers(2, size=n_rows)


def test_hashes_find_the_groups_that_contents_find():
    rows, label = indicators()
    first, place = many_equal_rows(rows, label)
    exact, exact_place = equal_rows(rows, label)
    assert sorted(first) == sorted(exact)
    np.testing.assert_array_equal(first[place], exact[exact_place])
    assert np.all(np.diff(first) > 0)
    assert (rows[first[place]] != rows).nnz == 0
    np.testing.assert_array_equal(label[first[place]], label)


def test_empty_rows_are_alike_and_columns_count():
    rows = sparse.csr_array(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 1, 0]]))
    first, place = many_equal_rows(rows, np.zeros(5))
    assert first.tolist() == [0, 1, 2]
    assert place.tolist() == [0, 1, 2, 0, 2]


def test_a_large_fit_joins_equal_rows_and_adds_their_weights(monkeypatch):
    monkeypatch.setattr(fitting, "MERGE_LIMIT", 100)
    rows, label = indicators()
    weight = np.random.default_rng(2).random(3000) + 0.1
    joined = fitting.merged(fitting.LinearData(rows, label, weight, 2))
    assert joined.values.shape[0] < 2500
    np.testing.assert_allclose(joined.weight.sum(), weight.sum())
    pull = rows.T @ (weight * (2 * label - 1))
    np.testing.assert_allclose(joined.values.T @ (joined.weight * (2 * joined.label - 1)), pull)


def test_distinct_rows_stay_as_they_are(monkeypatch):
    monkeypatch.setattr(fitting, "MERGE_LIMIT", 100)
    rows = sparse.csr_array(np.random.default_rng(0).random((300, 4)))
    data = fitting.LinearData(rows, np.zeros(300, int), np.ones(300), 2)
    assert fitting.merged(data) is data
