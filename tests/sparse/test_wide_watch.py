"""What wide chains show of themselves: every class's intercept, and how the classes differ."""

import numpy as np
import pytest

from bayesmargin.diagnostics.convergence import rhat_and_bulk_ess
from bayesmargin.samplers.wide_watch import MOST_CLASSES, WATCHED, Watch, watch


@pytest.mark.parametrize("n_blocks", [1, 3, 105, 400])
@pytest.mark.parametrize("joint", [False, True])
def test_no_more_is_watched_than_the_supervisor_looks_at(n_blocks, joint):
    size = 900 * n_blocks
    shown = watch(size, n_blocks, np.ones(size) if joint else None)
    seen = shown(np.zeros((1, size)))
    assert seen.shape[1] <= WATCHED
    assert seen.shape[1] > 0.95 * WATCHED


def test_two_classes_show_evenly_spread_coordinates_and_the_intercept():
    shown = watch(1000, 1, np.ones(1000))
    assert shown.scale.size == 0
    assert shown.coordinates[0] == 0
    assert shown.coordinates[-1] == 999
    assert len(shown.coordinates) == WATCHED


def test_classes_with_posteriors_of_their_own_show_every_intercept():
    assert set(range(2994, 3000)) <= set(watch(3000, 6, None).coordinates)


def test_classes_of_one_hinge_show_how_far_their_intercepts_are_apart():
    scale = np.ones(3000)
    scale[-3:] = 1.0, 2.0, 4.0
    position = np.zeros((1, 3000))
    position[0, -3:] = 3.0, 1.5, 0.75
    shown = watch(3000, 3, scale)
    np.testing.assert_allclose(shown(position)[0, -3:], 0.0, atol=1e-15)
    position[0, -1] += 0.75
    np.testing.assert_allclose(shown(position)[0, -3:], [-1.0, -1.0, 2.0])


def test_a_selection_of_very_many_classes_is_shown():
    size = 1000 * 300
    seen = watch(size, 300, np.ones(size))(np.random.default_rng(0).standard_normal((2, size)))
    assert seen.shape == (2, len(watch(size, 300, np.ones(size)).coordinates) + MOST_CLASSES)


def test_slow_differences_behind_a_common_part_are_seen():
    """Intercepts whose differences crawl, under a common part ten times as wide drawn afresh."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((4, 1000, 3))
    differences = np.empty_like(noise)
    differences[:, 0] = noise[:, 0]
    for i in range(1, 1000):
        differences[:, i] = 0.99 * differences[:, i - 1] + np.sqrt(1 - 0.99**2) * noise[:, i]
    positions = rng.standard_normal((4, 1000, 3000))
    positions[..., -3:] = differences + 10.0 * rng.standard_normal((4, 1000, 1))
    shown = watch(3000, 3, np.ones(3000))

    def smallest(watched: Watch) -> float:
        return rhat_and_bulk_ess(np.stack([watched(chain) for chain in positions]))[1].min()

    assert smallest(Watch(shown.coordinates)) > 1000
    assert smallest(shown) < 100
