"""Pictures are drawn from fitted models and show what they claim."""

import warnings

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

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


def shades(axes, size=400):
    """Colours of a picture without its rows, lines and letters, as numbers of 0 to 255."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    for scatter in axes.collections:
        if scatter.get_offsets().shape[0] > 1 or scatter.get_linewidth()[0] == 0.6:
            scatter.set_visible(False)
    if axes.get_legend() is not None:
        axes.get_legend().set_visible(False)
    axes.set_axis_off()
    axes.set_position([0.0, 0.0, 1.0, 1.0])
    axes.set_title("")
    figure = axes.figure
    figure.set_layout_engine("none")
    figure.set_size_inches(size / 100, size / 100)
    canvas = FigureCanvasAgg(figure)
    figure.set_dpi(100)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].astype(float)


def test_no_third_class_between_two():
    """Where class 0 meets class 2 there is no strip in the colour of class 1."""
    X = np.random.default_rng(0).normal(size=(90, 2))
    X[:, 0] += np.repeat([0.0, 8.0, 4.0], 30)  # from left to right: classes 0, 2, 1
    model = InfiniteSVC(n_sweeps=20, n_draws=5, random_state=0).fit(X, np.repeat([0, 1, 2], 30))
    picture = shades(plot_regions(model, X, np.repeat([0, 1, 2], 30)))
    middle = picture[len(picture) // 2]
    pale = 0.75 * 255 + 0.25 * 255 * np.array([to_rgb(f"C{k}") for k in range(3)])
    seen = np.abs(middle[:, None, :] - pale[None, :, :]).sum(axis=-1)
    found = seen.argmin(axis=1)[seen.min(axis=1) < 6.0]
    order = found[np.flatnonzero(np.diff(found, prepend=-1))]
    assert order.tolist() == [0, 2, 1]


def test_twelve_classes_have_twelve_colours():
    X, y = make_blobs(120, centers=12, cluster_std=0.3, random_state=2)
    model = InfiniteSVC(n_sweeps=20, n_draws=5, random_state=0).fit(X, y)
    axes = plot_regions(model, X, y, resolution=30)
    shown = [text.get_text() for text in axes.get_legend().get_texts()]
    assert shown == [str(k) for k in range(12)]
    dots = [s for s in axes.collections if s.get_label() in shown]
    assert len({tuple(s.get_facecolor()[0]) for s in dots}) == 12
    np.testing.assert_array_equal([len(s.get_offsets()) for s in dots], np.bincount(y))


def test_frames_name_the_axes_and_give_no_warning(fitted):
    _, X, y = fitted
    frame, words = pd.DataFrame(X, columns=["length", "width"]), np.array(["a", "b", "c"])[y]
    model = InfiniteSVC(n_sweeps=20, n_draws=5, random_state=0).fit(frame, words)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes = plot_regions(model, frame, pd.Series(words), resolution=20)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("length", "width")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X[:, 0], y), r"shape \(120,\)"),
        (lambda X, y: (X, y[:20]), r"shape \(20,\) for 120 rows"),
        (lambda X, y: (X, y + 1), "class 3, which the model has not met"),
        (lambda X, y: (X * [1.0, 0.0], y), "feature 1 has one value only"),
    ],
)
def test_rows_that_cannot_be_drawn(fitted, change, message):
    model, X, y = fitted
    with pytest.raises(ValueError, match=message):
        plot_regions(model, *change(X, y))
    with pytest.raises(ValueError, match="resolution=1"):
        plot_regions(model, X, y, resolution=1)


@pytest.fixture(scope="module")
def lonely():
    """A model of one component."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    settings = {
        "sampler__n_clusters": 1,
        "concentration": 1e-6,
        "components__scatter": 2.0,
        "sampler__split_merge": 0,
    }
    model = InfiniteSVC(n_sweeps=20, random_state=0, **settings).fit(X, X[:, 0] > 0.0)
    return model, X, X[:, 0] > 0.0


def test_one_component(lonely):
    model, X, y = lonely
    assert plot_regions(model, X, y, resolution=20).get_title() == "1 local expert"
    bars = [patch for patch in plot_sizes(model).patches if patch.get_label() == "mean"]
    values, edges, _ = bars[0].get_data()
    assert values.tolist() == [40.0]
    assert edges.tolist() == [0.5, 1.5]


def test_co_clustering_of_chosen_rows(fitted):
    model, *_ = fitted
    mask = np.arange(120) % 7 == 0
    expected = model.co_clustering(np.flatnonzero(mask))
    np.testing.assert_array_equal(model.co_clustering(mask), expected)
    np.testing.assert_array_equal(model.co_clustering(pd.Series(mask)), expected)
    axes = plot_co_clustering(model, mask)
    assert axes.images[0].get_array().shape == expected.shape
    assert not len(axes.get_xticks())  # places in the picture are no numbers of rows
    assert "ordered by component" in axes.get_ylabel()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([5, 120], "no training row 120: 120 rows were fitted"),
        ([-121], "no training row -121"),
        ([True, False], "2 entries for 120"),
        ([1.0, 2.0], "rows="),
        (3, "rows=3"),
        (slice(3), "rows="),
        ([[1, 2]], "rows="),
        ([], "rows is empty"),
        (np.zeros(120, bool), "rows is empty"),
        ("all", "rows='all'"),
    ],
)
def test_rows_that_do_not_exist(fitted, rows, message):
    model, *_ = fitted
    with pytest.raises(ValueError, match=message):
        model.co_clustering(rows)
    with pytest.raises(ValueError, match=message):
        plot_co_clustering(model, rows)


def test_pictures_of_a_model_that_is_not_fitted():
    for draw in (plot_sizes, plot_co_clustering):
        with pytest.raises(NotFittedError):
            draw(InfiniteSVC())
    with pytest.raises(NotFittedError):
        plot_regions(InfiniteSVC(), np.eye(2), [0, 1])


def test_partitions_that_were_not_kept(fitted, monkeypatch):
    model, *_ = fitted
    monkeypatch.setattr(model, "_labels", [])
    with pytest.raises(ValueError, match="too large"):
        plot_co_clustering(model)
