"""Which class uses which topic, and topics by their words: what is asked of them is checked."""

import numpy as np
import pytest

from bayesmargin.models.medlda import coherence, plot_class_topics
from bayesmargin.models.medlda.understanding import class_topics


def test_a_class_without_documents_leaves_the_order_of_the_others():
    """Its shares are not known, and the largest of them had been taken for that of every topic."""
    means = np.array([[0.1, 0.7, 0.2], [np.nan] * 3, [0.6, 0.1, 0.3]])
    axes = plot_class_topics(means, ["a", "nobody", "c"])
    shown = [label.get_text() for label in axes.get_xticklabels()]
    assert shown == ["1", "0", "2"]
    np.testing.assert_array_equal(axes.images[0].get_array()[[0, 2]], means[[0, 2]][:, [1, 0, 2]])


@pytest.mark.parametrize("n_classes", [2, 3, 20])
def test_all_words_of_a_picture_are_on_it(n_classes):
    """Of few classes the scale's label was longer than the picture is high."""
    axes = plot_class_topics(
        np.full((n_classes, 4), 0.25), [f"class {k}" for k in range(n_classes)]
    )
    axes.figure.draw_without_rendering()
    whole = axes.figure.bbox
    words = [axes.xaxis.label, axes.figure.axes[1].yaxis.label, *axes.get_yticklabels()]
    assert words[1].get_text() == "mean share of words"
    for word in words:
        box = word.get_window_extent()
        assert whole.x0 <= box.x0 <= box.x1 <= whole.x1
        assert whole.y0 <= box.y0 <= box.y1 <= whole.y1


@pytest.mark.parametrize(("n_classes", "n_topics"), [(3, 4), (20, 50)])
def test_names_leave_room_for_the_shares(n_classes, n_topics):
    """Names as long as those of newsgroups had squeezed four topics into a third of an inch."""
    classes = [f"comp.sys.ibm.pc.hardware {k}" for k in range(n_classes)]
    topics = [f"disease doctor food {k}" for k in range(n_topics)]
    axes = plot_class_topics(np.full((n_classes, n_topics), 0.1), classes, topics)
    axes.figure.draw_without_rendering()
    map_size = axes.get_window_extent().size / axes.figure.dpi
    assert map_size[0] > max(1.0, 0.2 * n_topics)
    assert map_size[1] > max(1.0, 0.2 * n_classes)
    scale, whole = axes.figure.axes[1].yaxis.label.get_window_extent(), axes.figure.bbox
    assert whole.y0 <= scale.y0 <= scale.y1 <= whole.y1


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"]])
def test_every_class_and_topic_of_a_picture_has_one_name(names):
    means = np.full((2, 2), 0.5)
    with pytest.raises(ValueError, match=f"class_names holds {len(names)} names, but 2 are needed"):
        plot_class_topics(means, names)
    with pytest.raises(ValueError, match=f"topic_names holds {len(names)} names, but 2 are needed"):
        plot_class_topics(means, ["a", "b"], names)


def test_labels_that_the_model_does_not_know_have_no_topics():
    """Names where the model has numbers had given nothing but missing values."""
    shares, numbers = np.full((3, 2), 0.5), np.array([1, 2])
    with pytest.raises(ValueError, match=r"label 'moon', which is not among the classes \[1, 2\]"):
        class_topics(shares, ["moon", "star", "moon"], numbers)
    with pytest.raises(ValueError, match="label 3, which is not"):
        class_topics(shares, [1, 3, 2], numbers)
    np.testing.assert_array_equal(class_topics(shares, [2, 2, 2], numbers)[0], np.nan)


def test_coherence_asks_for_the_vocabulary_of_the_topics():
    topics = np.full((2, 4), 0.25)
    with pytest.raises(ValueError, match="counts has 3 columns, but the topics have 4 words"):
        coherence(topics, np.ones((5, 3)))
    with pytest.raises(ValueError, match="n=-1 is not allowed"):
        coherence(topics, np.ones((5, 4)), n=-1)
