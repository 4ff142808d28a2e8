"""MedLDA on a cluster: the topics of one machine, bit by bit."""

import signal
from itertools import pairwise

import dask
import dask.array as da
import numpy as np
import pandas
import pytest
from scipy import sparse

from bayesmargin import MedLDAClassifier
from bayesmargin.errors import InterruptedWarning
from bayesmargin.running.progress import Silence, watching

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
SETTINGS = {
    "n_topics": 6,
    "random_state": 2,
    "sampler__n_passes": 2,
    "n_chains": 1,
    "sampler__batch_size": 128,
}


@pytest.fixture(scope="module")
def corpus():
    """Three kinds of documents with words of their own and common ones."""
    rng = np.random.default_rng(4)
    label = rng.integers(0, 3, 400)
    rates = np.full((3, 60), 0.1)
    for k in range(3):
        rates[k, 20 * k : 20 * k + 20] = 0.6
    return sparse.csr_matrix(rng.poisson(rates[label])), np.array(["a", "b", "c"])[label]


def parts_of(X, y, count=3):
    edges = np.linspace(0, len(y), count + 1).astype(int)
    return [dask.delayed((X[a:b], y[a:b])) for a, b in pairwise(edges)]


def test_topics_are_those_of_one_machine(client, corpus):
    X, y = corpus
    alone = MedLDAClassifier(**SETTINGS).fit(X, y)
    together = MedLDAClassifier(**SETTINGS).fit(parts_of(X, y))
    np.testing.assert_array_equal(together.topics_, alone.topics_)
    np.testing.assert_array_equal(together.coef_, alone.coef_)
    np.testing.assert_array_equal(together.predict_proba(X), alone.predict_proba(X))


def test_partitions_stream_through_partial_fit(client, corpus):
    X, y = corpus
    alone = MedLDAClassifier(**SETTINGS)
    for part in parts_of(X, y):
        alone.partial_fit(*part.compute(), classes=["a", "b", "c"])
    streamed = MedLDAClassifier(**SETTINGS).partial_fit(parts_of(X, y), classes=["a", "b", "c"])
    np.testing.assert_allclose(streamed.topics_, alone.topics_)
    assert (streamed.predict(X) == y).mean() > 0.8


class Impatient(Silence):
    """A display whose reader presses Ctrl-C when three quarters are done."""

    def update(self, stage, done, total, detail):
        if done == 3 * total // 4:
            signal.raise_signal(signal.SIGINT)


def test_ctrl_c_keeps_the_draws_of_the_second_half(client, corpus):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    X, y = corpus
    models = [MedLDAClassifier(**SETTINGS) for _ in range(2)]
    for model, rows in zip(models, [(X, y), (parts_of(X, y),)], strict=True):
        with watching(Impatient()), pytest.warns(InterruptedWarning, match="the draws made so far"):
            model.fit(*rows)
    signal.signal(signal.SIGINT, before)
    alone, together = (model.posterior_[0] for model in models)
    assert 1 <= len(alone.coef) < 10
    np.testing.assert_array_equal(together.coef, alone.coef)
    np.testing.assert_array_equal(models[1].predict_proba(X), models[0].predict_proba(X))


def test_ctrl_c_leaves_a_checkpoint_to_go_on_from(client, corpus, tmp_path):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    X, y = corpus
    alone = MedLDAClassifier(**SETTINGS).fit(X, y)
    together = MedLDAClassifier(**SETTINGS, checkpoint=tmp_path / "fit")
    with watching(Impatient()), pytest.raises(KeyboardInterrupt):
        together.fit(parts_of(X, y))
    signal.signal(signal.SIGINT, before)
    together.fit(parts_of(X, y))
    np.testing.assert_array_equal(together.coef_, alone.coef_)
    np.testing.assert_array_equal(together.predict_proba(X), alone.predict_proba(X))


def test_a_fit_without_names_forgets_those_of_the_fit_before(client, corpus):
    X, y = corpus
    named = pandas.DataFrame(X.toarray(), columns=[f"word {j}" for j in range(60)])
    model = MedLDAClassifier(**SETTINGS).fit(parts_of(named, y))
    assert model.feature_names_in_[1] == "word 1"
    model.fit(parts_of(X, y))
    assert not hasattr(model, "feature_names_in_")
    model.predict(X[:3])  # scikit-learn warns where names are known and rows have none


def test_other_methods_say_so(client, corpus):
    with pytest.raises(ValueError, match="sampler='gibbs' does not run on Dask"):
        MedLDAClassifier(sampler="gibbs").fit(parts_of(*corpus))


def test_predictions_of_blocks_use_the_draws_asked_for(corpus):
    X, y = corpus
    model = MedLDAClassifier(**SETTINGS).fit(X, y)
    model.posterior_[0].coef[-1] *= -1.0  # so that the last draw says something else
    blocks = [dask.delayed(X[:100]), dask.delayed(X[100:])]
    for draws in (None, 1):
        found = model.predict(blocks, draws=draws).compute(scheduler="synchronous")
        np.testing.assert_array_equal(found, model.predict(X, draws=draws))
    assert (model.predict(X, draws=1) != model.predict(X)).any()
    with pytest.raises(ValueError, match="each chain has kept 10 draws"):
        model.predict(blocks, draws=11)


@pytest.fixture(scope="module")
def sets():
    """Documents with one to four labels each."""
    rng = np.random.default_rng(5)
    own = np.arange(40) % 4 == np.arange(4)[:, None]
    Y = (rng.random((400, 4)) < 0.35).astype(int)
    Y[np.arange(400), rng.integers(4, size=400)] = 1
    return rng.poisson(0.05 + Y @ own), Y


def test_label_sets_are_learned_from_collections(client, sets):
    X, Y = sets
    alone = MedLDAClassifier(**SETTINGS).fit(X, Y)
    rows, labels = da.from_array(X, chunks=(150, 40)), da.from_array(Y, chunks=(100, 2))
    pairs = [dask.delayed((X[:300], Y[:300])), dask.delayed((X[300:], sparse.csr_matrix(Y[300:])))]
    for collection in [(rows, labels), (rows, Y), (pairs,)]:
        together = MedLDAClassifier(**SETTINGS).fit(*collection)
        np.testing.assert_array_equal(together.topics_, alone.topics_)
        np.testing.assert_array_equal(together.predict(X), alone.predict(X))
    streamed = MedLDAClassifier(**SETTINGS).partial_fit(rows, labels)
    assert streamed.predict(X).shape == Y.shape
    pairs[1] = dask.delayed((X[300:], Y[300:, :3]))
    with pytest.raises(ValueError, match="differ in the columns of y"):
        MedLDAClassifier(**SETTINGS).fit(pairs)


@pytest.mark.parametrize("labels", ["sets", "two sets", "many", "two"])
def test_answers_of_blocks_are_those_of_one_array(sets, labels):
    X, Y = sets
    y = {"sets": Y, "two sets": Y[:, :2], "many": np.array(list("abcd"))[Y.argmax(1)]}
    model = MedLDAClassifier(**SETTINGS).fit(X, y.get(labels, Y[:, 0]))
    array = da.from_array(X, chunks=(150, 40))
    blocks = [dask.delayed(X[:100]), dask.delayed(sparse.csr_matrix(X[100:]))]
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        wanted = getattr(model, method)(X)
        lazy = getattr(model, method)(array)
        assert (lazy.shape, lazy.dtype) == (wanted.shape, wanted.dtype), method
        np.testing.assert_array_equal(lazy.compute(scheduler="synchronous"), wanted, method)
        found = getattr(model, method)(blocks).compute(scheduler="synchronous")
        np.testing.assert_array_equal(found, wanted, method)


def test_labels_that_nobody_has_and_documents_without_words_are_refused(client, corpus):
    """As on one machine; before, a model was fitted that had learned nothing."""
    X, y = corpus
    nobody = np.zeros((len(y), 3), dtype=int)
    with pytest.raises(ValueError, match="none of the 400 documents has a label"):
        MedLDAClassifier(**SETTINGS).fit(parts_of(X, nobody))
    with pytest.raises(ValueError, match="all 400 documents of X are empty"):
        MedLDAClassifier(**SETTINGS).fit(parts_of(0 * X, y))
