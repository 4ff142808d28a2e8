"""Sparse rows: canonical form, errors, and compiled access against dense arithmetic."""

import numpy as np
import pytest
from scipy import sparse

from bayesmargin.foundation.compiling import jit
from bayesmargin.rows import SparseSource
from bayesmargin.rows.blocks import block_products, block_scores, block_square_sum, block_sum
from bayesmargin.rows.layout import DenseRows, SparseRows, four_class_scores, row_class_scores
from bayesmargin.rows.sparse import DENSE_COLUMNS, canonical


def wide_matrix(n_rows=40, n_columns=DENSE_COLUMNS + 50):
    matrix = sparse.random_array((n_rows, n_columns), density=0.02, rng=4, format="csr")
    empty_row = sparse.diags_array((np.arange(n_rows) != 7).astype(float))
    return canonical(empty_row @ matrix)


def test_canonical_form_is_reached_without_touching_the_argument():
    data = np.array([1.0, 2.0, 0.0, 4.0, 5.0])
    columns = np.array([3, 1, 2, 0, 0], dtype=np.int64)
    messy = sparse.csr_array((data, columns, np.array([0, 3, 5], dtype=np.int64)), shape=(2, 4))
    neat = canonical(messy)
    assert neat.indices.dtype == np.int32
    np.testing.assert_array_equal(neat.toarray(), [[0, 2, 0, 1], [9, 0, 0, 0]])
    np.testing.assert_array_equal(neat.indices, [1, 3, 0])
    np.testing.assert_array_equal(messy.indices, columns)


@pytest.mark.parametrize("wrong", [-1, 4])
def test_an_index_outside_the_matrix_is_named(wrong):
    matrix = sparse.csr_array((np.ones(3), np.array([0, 1, 2]), np.array([0, 1, 3])), shape=(2, 4))
    matrix.indices[2] = wrong
    with pytest.raises(ValueError, match=f"row 1 .* column index {wrong}"):
        canonical(matrix)


@pytest.mark.parametrize("intercept", [False, True])
def test_compiled_access_equals_dense_arithmetic(intercept):
    matrix = wide_matrix()
    source = SparseSource(matrix, intercept)
    index = np.random.default_rng(0).permutation(40)[:25]
    rows = source.take(index)
    assert isinstance(rows, SparseRows)
    assert np.shares_memory(rows.values, matrix.data)
    dense = matrix.toarray()[index]
    dense = np.column_stack([dense, np.ones(25)]) if intercept else dense
    rng = np.random.default_rng(1)
    weights, scale = rng.standard_normal(source.n_columns), rng.random(source.n_columns)
    scores, norms = block_scores(rows, weights, scale)
    np.testing.assert_allclose(scores, dense @ weights, rtol=1e-10)
    np.testing.assert_allclose(norms, np.linalg.norm(dense * scale, axis=1), rtol=1e-10)
    np.testing.assert_allclose(block_products(rows, weights), scores)
    factors = rng.standard_normal(25)
    total, squares = np.zeros(source.n_columns), np.zeros(source.n_columns)
    block_sum(rows, factors, total)
    block_square_sum(rows, factors, squares)
    np.testing.assert_allclose(total, factors @ dense, atol=1e-12)
    np.testing.assert_allclose(squares, factors @ dense**2, atol=1e-12)


@jit
def _all_scores(rows, table, out):
    for i in range(out.shape[0]):
        row_class_scores(rows, i, table, out[i])


@jit
def _scores_in_fours(rows, table, out):
    for i in range(0, out.shape[0], 4):
        four_class_scores(rows, (i + 3, i + 1, i, i + 2), table, out[i : i + 4])


@pytest.mark.parametrize("n_classes", [1, 3, 4, 7, 10])
def test_scores_of_classes_one_after_another(n_classes):
    matrix = wide_matrix()
    dense = matrix.toarray()
    table = np.random.default_rng(3).normal(size=(n_classes, dense.shape[1]))
    for rows in (SparseSource(matrix, False).take(np.arange(40)), DenseRows(dense)):
        found = np.full((40, n_classes), np.nan)
        _all_scores(rows, table, found)
        np.testing.assert_allclose(found, dense @ table.T, atol=1e-12)
        _scores_in_fours(rows, table, found)
        order = np.arange(40).reshape(-1, 4)[:, [3, 1, 0, 2]].ravel()
        np.testing.assert_allclose(found, dense[order] @ table.T, atol=1e-12)


@pytest.mark.parametrize("n_columns", [1, 6, 7])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_column_by_column_give_the_sums_of_blocks_row_by_row(n_columns, dtype):
    rng = np.random.default_rng(2)
    block = rng.standard_normal((50, n_columns)).astype(dtype)
    columns = np.asfortranarray(block)
    weights, scale = rng.standard_normal(n_columns), rng.random(n_columns)
    scores, norms = block_scores(columns, weights, scale)
    np.testing.assert_allclose(scores, block.astype(float) @ weights, atol=1e-12)
    np.testing.assert_allclose(norms, np.linalg.norm(block.astype(float) * scale, axis=1))
    factors, total = rng.standard_normal(50), np.ones(n_columns)
    block_sum(columns, factors, total)
    np.testing.assert_allclose(total, 1.0 + factors @ block.astype(float), atol=1e-12)


def test_narrow_matrices_come_as_dense_blocks():
    matrix = sparse.random_array((30, 20), density=0.2, rng=4, format="csr")
    source = SparseSource(matrix, intercept=True)
    design = np.column_stack([matrix.toarray(), np.ones(30)])
    np.testing.assert_array_equal(np.concatenate([block for _, block in source.blocks()]), design)
    np.testing.assert_array_equal(source.take(np.array([3, 1])), design[[3, 1]])
