"""Pictures are drawn from fitted models and show what they claim."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from bayesmargin.models.infinite_svc import InfiniteSVC
from bayesmargin.models.infinite_svc.pictures import plot_co_clustering, plot_regions, plot_sizes

# Short chains: what they say about themselves is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::bayesmargin.errors.ConvergenceWarning")


@pytest.fixture(scope="module")
def fitted():
    X, y = make_blobs(120, centers=3, cluster_std=0.5, random_state=1)
    return InfiniteSVC(n_sweeps=20, n_draws=5, random_state=0).fit(X, y), X, y


def test_regions_name_the_experts_drawn(fitted):
    model, X, y = fitted
    axes = plot_regions(model, X, y, resolution=40)
    assert axes.get_title().endswith("local experts")
    with pytest.raises(ValueError, match="2 only"):
        plot_regions(model, np.ones((3, 5)), y)


def test_sizes_and_co_clustering(fitted):
    model, *_ = fitted
    assert plot_sizes(model).get_ylabel() == "rows"
    image = plot_co_clustering(model, rows=np.arange(30)).images[0].get_array()
    assert image.shape == (30, 30)
    np.testing.assert_allclose(np.diag(image), 1.0)
