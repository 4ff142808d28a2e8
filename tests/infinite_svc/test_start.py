"""The partition that a chain starts from, and the split that corrects it."""

import numpy as np
import pytest

from bayesmargin.models.infinite_svc import InfiniteSVC
from bayesmargin.models.mixtures.start import first_partition


def _groups(number, size, seed=0):
    """Far groups of rows, one after the other."""
    rng = np.random.default_rng(seed)
    centres = 20.0 * rng.permutation(number)[:, None] * np.ones(2)
    return np.repeat(centres, size, axis=0) + rng.normal(size=(number * size, 2))


def test_a_sample_of_sorted_rows_finds_every_group():
    labels = first_partition(_groups(5, 4000), 5, seed=3)
    of_group = labels.reshape(5, 4000)
    assert np.all(of_group == of_group[:, :1])
    assert len(np.unique(of_group[:, 0])) == 5


def test_equal_rows_at_the_head_do_not_hide_the_others():
    X = np.vstack([np.zeros((10_000, 2)), _groups(2, 5000)])
    assert len(np.unique(first_partition(X, 4, seed=0))) == 4


def test_equal_seeds_give_equal_partitions():
    X = _groups(4, 3000)
    np.testing.assert_array_equal(first_partition(X, 6, seed=1), first_partition(X, 6, seed=1))


def _fit_from_one_component(X, proposals, seed):
    y = (X[:, 0] - X[:, 1] > 0.0).astype(int)
    return InfiniteSVC(
        components__scatter=0.01, concentration=1e-6, sampler__n_clusters=1, n_sweeps=20,
        sampler__burn_in=15, sampler__split_merge=proposals, random_state=seed,
    ).fit(X, y)  # fmt: skip


@pytest.mark.parametrize("proposals", [2, 20])
def test_a_large_component_of_two_groups_is_split_by_the_proposals(proposals):
    X = _groups(2, 3000)
    found = []
    for seed in range(8):
        model = _fit_from_one_component(X, proposals, seed)
        together = model.co_clustering([0, 1000, 2999, 3000, 5999])
        found.append(model.n_components_[0, -1])
        if proposals == 20 or found[-1] > 1:
            assert together[:3, 3:].max() == 0.0
        if np.all(model.n_components_ == 2):
            assert together[:3, :3].min() == together[3:, 3:].min() == 1.0
    # One fit in four, by exact samplers as well, has cut a group in two and not mended it yet, or
    # with few proposals not yet found the split.
    assert found.count(2) >= 5


def test_a_large_component_of_two_groups_stays_whole_without_proposals():
    model = _fit_from_one_component(_groups(2, 3000), 0, 0)
    assert np.all(model.n_components_ == 1)
