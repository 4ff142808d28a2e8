"""Rows gathered from a file for sampling take little more memory than themselves."""

import tracemalloc

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVC
from bayesmargin.approximation import fit_anchor, targets
from bayesmargin.approximation.row_states import row_states
from bayesmargin.approximation.targets import anchored_target
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows import DenseSource, open_rows
from bayesmargin.rows.parquet import CLUSTERS
from bayesmargin.targets.problem import Problem


def problem_on(source, label):
    prior = GaussianBelief(np.zeros(source.n_columns), np.ones(source.n_columns))
    return Problem(source, label, 2, np.ones(label.size), 1.0, prior)


def test_whitening_in_place_equals_whitening_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(targets, "PIECE", 512)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((20_000, 60), dtype=np.float32)
    label = (rows[:, 0] + rng.standard_normal(20_000) > 0).astype(np.int64)
    np.save(tmp_path / "rows.npy", rows)
    in_memory = problem_on(DenseSource(rows, True), label)
    in_file = problem_on(open_rows(tmp_path / "rows.npy").source(True), label)
    anchor = fit_anchor(in_memory, np.random.default_rng(1))
    states = row_states(in_memory, anchor, 8.0)
    found = []
    for problem in (in_memory, in_file):
        tracemalloc.start()
        prepared = anchored_target(problem, anchor, states, 100, 0.2, np.random.default_rng(2))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        found.append(prepared.target.rows.values)
    assert np.array_equal(*found)
    assert peak < 2.8 * found[1].nbytes


def test_a_file_is_read_once_for_all_samples_of_its_rows(tmp_path):
    np.save(tmp_path / "rows.npy", np.arange(600.0).reshape(300, 2))
    rows, rng = open_rows(tmp_path / "rows.npy"), np.random.default_rng(0)
    index, values = rows.sample(200, rng)
    assert np.array_equal(values[:, 0], 2.0 * index)
    assert len(np.unique(index)) == 200
    again, fewer = rows.sample(50, rng)
    assert np.array_equal(fewer[:, 0], 2.0 * again)
    assert set(again) <= set(index)
    assert len(rows.sample(1000, rng)[0]) == 300


def test_a_pass_over_the_file_brings_the_rows_that_are_kept(tmp_path, monkeypatch):
    np.save(tmp_path / "rows.npy", np.arange(200_000.0).reshape(100_000, 2))
    rows, rng = open_rows(tmp_path / "rows.npy", memory=1 << 20), np.random.default_rng(0)
    rows.keep(100, rng)
    stopped = rows.source(True).blocks()
    next(stopped)
    stopped.close()  # a pass that is given up brings nothing
    assert rows.kept.matrix is None
    assert len(list(rows.source(True).blocks())) > 5
    monkeypatch.setattr(type(rows), "take", None)  # no second reading
    index, values = rows.sample(100, rng)
    assert np.array_equal(values, np.stack([2.0 * index, 2.0 * index + 1.0], axis=1))


def test_an_earlier_fit_leaves_no_trace_in_the_rows(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((400, 3), dtype=np.float32)
    np.save(tmp_path / "rows.npy", values)
    label = (values[:, 0] + rng.standard_normal(400) > 0).astype(int)
    used, fresh = open_rows(tmp_path / "rows.npy"), open_rows(tmp_path / "rows.npy")
    BayesianLinearSVC(n_draws=50, random_state=1).fit(used, label)
    both = [BayesianLinearSVC(n_draws=50, random_state=2).fit(one, label) for one in (used, fresh)]
    assert np.array_equal(*(model.predict_proba(values) for model in both))


def test_a_rough_sample_reads_few_row_groups(tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    values = np.arange(20_000.0)
    table = pyarrow.table({"x": values, "y": -values})
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=100)
    rows = open_rows(tmp_path / "rows.parquet")
    index, found = rows.rough_sample(1000, np.random.default_rng(0))
    assert np.array_equal(found, np.stack([index, -index], axis=1))
    assert len(np.unique(index)) == 1000
    assert len(np.unique(index // 100)) == CLUSTERS
    assert len(np.unique(rows.rough_sample(2000, np.random.default_rng(0))[0] // 100)) == 80
    assert len(rows.rough_sample(10**6, np.random.default_rng(0))[0]) == 20_000


def test_states_of_a_file_bring_their_rows(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((500, 3), dtype=np.float32)
    np.save(tmp_path / "rows.npy", rows)
    label = (rows[:, 0] > 0).astype(np.int64)
    problem = problem_on(open_rows(tmp_path / "rows.npy").source(False), label)
    anchor = fit_anchor(problem, np.random.default_rng(1))
    states = row_states(problem, anchor, 3.0)
    assert np.array_equal(states.rows, rows[states.place])
    order = np.arange(len(states.place))[::-1]
    assert np.array_equal(states.ordered(order).rows, rows[states.place[order]])
