"""Rows gathered from a file for sampling take little more memory than themselves."""

import tracemalloc

import numpy as np

from bayesmargin.anchor import fit_anchor, targets
from bayesmargin.anchor.rowstates import row_states
from bayesmargin.anchor.targets import anchored_target
from bayesmargin.beliefs import GaussianBelief
from bayesmargin.problem import Problem
from bayesmargin.rows import DenseSource, open_rows


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
    states = row_states(in_memory, anchor)
    found = []
    for problem in (in_memory, in_file):
        tracemalloc.start()
        prepared = anchored_target(problem, anchor, states, 100, 0.2, np.random.default_rng(2))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        found.append(prepared.target.rows.values)
    assert np.array_equal(*found)
    assert peak < 2.8 * found[1].nbytes
