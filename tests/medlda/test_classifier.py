"""The estimator: what it learns, what it promises to scikit-learn, what it refuses."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from bayesmargin import MedLDAClassifier
from bayesmargin.models.medlda import TokenCounter, coherence, plot_class_topics
from bayesmargin.models.medlda.parameters import check_parameters, resolve
from bayesmargin.models.medlda.training import Training
from bayesmargin.samplers import SGHMC

N_WORDS = 40
METHODS = ["ssgrld", "gibbs", "pa"]


def make_corpus(n_documents, n_classes, seed, words_each=30):
    """Every class has words of its own, blurred by words that all classes share."""
    rng = np.random.default_rng(seed)
    own = np.arange(N_WORDS) % (n_classes + 1) == np.arange(n_classes)[:, None]
    chances = 0.02 + 0.6 * own
    chances /= chances.sum(axis=1, keepdims=True)
    y = rng.integers(n_classes, size=n_documents)
    counts = np.array([rng.multinomial(rng.poisson(words_each) + 1, chances[c]) for c in y])
    return sp.csr_matrix(counts), y


def small(**settings):
    usual = {"n_topics": 6, "random_state": 3, "n_chains": 1, "sampler__n_passes": 8}
    if settings.get("sampler") != "gibbs":
        usual["sampler__batch_size"] = 32
    return MedLDAClassifier(**{**usual, **settings})


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(300, 3, 1), make_corpus(200, 3, 2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rule", ["multi_task", "ovr", "crammer_singer"])
def test_learns_classes_that_words_tell_apart(corpus, method, rule):
    if rule == "crammer_singer" and method != "ssgrld":
        with pytest.raises(ValueError, match="not available for sampler"):
            small(sampler=method, multi_class=rule).fit(*corpus[0])
        return
    (X, y), (new, truth) = corpus
    model = small(sampler=method, multi_class=rule).fit(X, y)
    assert model.score(new, truth) > 0.9
    n_models = 3 if rule == "ovr" else 1
    assert model.topics_.shape == (6 * n_models, N_WORDS)
    np.testing.assert_allclose(model.topics_.sum(axis=1), 1.0)
    assert model.coef_.shape == (3, 6 * n_models)
    shares = model.transform(new)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    chances = model.predict_proba(new)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[chances.argmax(axis=1)], model.predict(new))


@pytest.mark.parametrize("method", METHODS)
def test_two_classes_and_strings(method):
    X, y = make_corpus(200, 2, 4)
    names = np.array(["no", "yes"])[y]
    model = small(sampler=method).fit(X, names)
    assert model.coef_.shape == (1, 6)
    assert model.decision_function(X).shape == (200,)
    assert model.score(X, names) > 0.9
    assert set(model.predict(X)) == {"no", "yes"}


@pytest.mark.parametrize("settings", [{"sampler__topics": "scir"}, {"sampler__weights": "ssgnht"}])
def test_other_samplers_learn_too(corpus, settings):
    (X, y), (new, truth) = corpus
    assert small(**settings).fit(X, y).score(new, truth) > 0.9


@pytest.mark.parametrize("method", ["ssgrld", "pa"])
def test_label_sets(method):
    rng = np.random.default_rng(5)
    own = np.arange(N_WORDS) % 4 == np.arange(4)[:, None]
    Y = (rng.random((400, 4)) < 0.35).astype(int)
    Y[np.arange(400), rng.integers(4, size=400)] = 1
    X = sp.csr_matrix(rng.poisson(0.05 + Y @ own))
    rules = ["multi_task", "crammer_singer", "ovr"] if method == "ssgrld" else ["multi_task"]
    for rule in rules:
        model = small(sampler=method, multi_class=rule, n_topics=8).fit(X[:300], Y[:300])
        found, truth = model.predict(X[300:]), Y[300:]
        assert found.shape == truth.shape
        assert (found.sum(axis=1) > 0).all()
        assert 2.0 * (found & truth).sum() / (found.sum() + truth.sum()) > 0.8
        chances = model.predict_proba(X[300:])
        assert ((chances >= 0.0) & (chances <= 1.0)).all()


def test_results_do_not_depend_on_the_number_of_threads(corpus):
    (X, y), (new, _) = corpus
    one = small(n_jobs=1).fit(X, y)
    three = small(n_jobs=3).fit(X, y)
    np.testing.assert_array_equal(one.coef_, three.coef_)
    np.testing.assert_array_equal(one.topics_, three.topics_)
    np.testing.assert_array_equal(one.decision_function(new), three.decision_function(new))


def test_a_document_has_the_same_answer_in_every_batch(corpus):
    (X, y), (new, _) = corpus
    model = small().fit(X, y)
    together = model.decision_function(new)
    order = np.random.default_rng(6).permutation(new.shape[0])
    np.testing.assert_array_equal(model.decision_function(new[order]), together[order])
    for d in range(30):
        np.testing.assert_array_equal(model.decision_function(new[d]), together[d : d + 1])
    np.testing.assert_array_equal(model.decision_function(new.toarray()), together)


def test_draws_are_spread_over_the_second_half_and_averaged(corpus):
    (X, y), (new, _) = corpus
    model = small(n_draws=4, sampler__n_passes=20).fit(X, y)
    posterior = model.posterior_[0]
    assert len(posterior.topics) == len(posterior.coef) == 4
    one = model.decision_function(new, draws=1)
    assert not np.allclose(one, model.decision_function(new))
    with pytest.raises(ValueError, match="draws=0"):
        model.predict(new, draws=0)
    with pytest.raises(ValueError, match=r"draws=1\.5 is not allowed"):
        model.predict(new, draws=1.5)
    np.testing.assert_array_equal(model.predict(new, draws=4).shape, new.shape[:1])
    with pytest.raises(ValueError, match=r"draws=5 is not allowed: each chain has kept 4 draws"):
        model.predict(new, draws=5)
    with pytest.raises(ValueError, match="larger n_draws"):
        model.decision_function(new, draws=1000)


def test_ten_draws_are_kept_unless_users_ask_for_others():
    assert resolve(check_parameters(MedLDAClassifier()), 3, 50).n_draws == 10
    assert resolve(check_parameters(MedLDAClassifier(n_topics=400)), 3, 50).n_draws == 10
    assert resolve(check_parameters(MedLDAClassifier(n_topics=400, n_draws=3)), 3, 50).n_draws == 3


@pytest.mark.parametrize("rule", ["multi_task", "ovr"])
def test_chains_are_independent_and_averaged(corpus, rule):
    (X, y), (new, truth) = corpus
    model = small(n_chains=2, multi_class=rule).fit(X, y)
    width = 3 if rule == "ovr" else 1
    assert len(model.posterior_) == 2 * width
    first, second = model.posterior_[0], model.posterior_[width]
    assert not np.allclose(first.coef[-1], second.coef[-1])
    assert model.coef_.shape == (3, 6 * width)
    assert model.transform(new).shape == (200, 6 * width)
    assert model.score(new, truth) > 0.9


def test_partial_fit_learns_from_a_stream_and_pickles_in_between(corpus):
    (X, y), (new, truth) = corpus
    model = small(sampler__n_passes=None)
    batches = [(X[i : i + 50], y[i : i + 50]) for i in range(0, 300, 50)] * 3
    model.fit_stream(batches[:9], classes=[0, 1, 2])
    copy = pickle.loads(pickle.dumps(model))
    for one in (model, copy):
        one.fit_stream(batches[9:])
    assert model.score(new, truth) > 0.9
    np.testing.assert_array_equal(model.coef_, copy.coef_)
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X[:5], [0, 1, 2, 3, 0])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:5, :20], y[:5])
    with pytest.raises(ValueError, match="differ from those of the first call"):
        model.partial_fit(X[:5], y[:5], classes=[0, 1])


def test_streams_without_documents_and_parts_that_are_no_pairs_are_told(corpus):
    (X, y), _ = corpus
    spent = iter([(X, y)])
    list(spent)
    with pytest.raises(ValueError, match="batches held no part: an iterator that was read before"):
        small().fit_stream(spent, classes=[0, 1, 2])
    for part in (X, (X, y, y), {"X": X, "y": y}):
        with pytest.raises(ValueError, match=rf"part 2 of batches is a {type(part).__name__}"):
            small().fit_stream([(X[:50], y[:50]), part], classes=[0, 1, 2])
    model = small().fit_stream([[X[:50], y[:50]]], classes=[0, 1, 2])
    assert model.fit_stream([]) is model


@pytest.mark.parametrize("method", ["ssgrld", "pa"])
def test_after_a_fit_more_documents_are_added_to_those_it_knew(corpus, method, monkeypatch):
    (X, y), (new, truth) = corpus
    model = small(sampler=method).fit(X, y)
    before, n_fitted, totals = model.coef_.copy(), model._training.n_seen, []
    learn = Training.learn

    def spied(self, documents, signs, chosen, total):
        totals.append(total)
        learn(self, documents, signs, chosen, total)

    monkeypatch.setattr(Training, "learn", spied)
    model.partial_fit(new[:100], truth[:100])
    assert totals == sorted(totals)
    assert n_fitted < totals[0] <= totals[-1] <= 400
    assert not np.array_equal(model.coef_, before)
    assert model.score(new[100:], truth[100:]) > 0.9
    totals.clear()
    pickle.loads(pickle.dumps(model)).set_params(sampler__n_documents=5000).partial_fit(
        X[:50], y[:50]
    )
    assert set(totals) == {5000}


def test_partial_fit_needs_classes_and_a_method_that_streams(corpus):
    X, y = corpus[0]
    with pytest.raises(ValueError, match="classes must be passed"):
        small().partial_fit(X, y)
    with pytest.raises(ValueError, match="has no partial_fit"):
        small(sampler="gibbs").partial_fit(X, y, classes=[0, 1, 2])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: -X, "Negative values in data passed to MedLDAClassifier"),
        (lambda X: X / 3.0, "not tf-idf"),
        (lambda X: 0 * X, "are empty"),
    ],
)
def test_refuses_what_is_not_counts(corpus, change, message):
    X, y = corpus[0]
    with pytest.raises(ValueError, match=message):
        small().fit(change(X), y)


TEXTS = ["a cat", "a dog", "a cat"]


@pytest.mark.parametrize(
    ("documents", "advice"),
    [
        (TEXTS, r"X holds text: put CountVectorizer\(\)"),
        (np.array(TEXTS), r"X holds text: put CountVectorizer\(\)"),
        (pd.Series(TEXTS), r"X holds text: put CountVectorizer\(\)"),
        ([text.split() for text in TEXTS], r"X holds lists of tokens: put TokenCounter\(\)"),
    ],
)
def test_text_that_nobody_counted_is_refused_with_advice(corpus, documents, advice):
    with pytest.raises(ValueError, match=advice):
        small().fit(documents, [0, 1, 0])
    with pytest.raises(ValueError, match=advice):
        small().partial_fit(documents, [0, 1, 0], classes=[0, 1])
    model = small(sampler__n_passes=1).fit(*corpus[0])
    for ask in (model.predict, model.transform, model.perplexity):
        with pytest.raises(ValueError, match=advice):
            ask(documents)


@pytest.mark.parametrize(
    "y",
    [
        [["a"], ["a", "b"], ["b"]],
        [["a", "b"], ["a", "c"], ["b", "c"]],
        [{"a"}, {"b"}, {"a"}],
        pd.Series([("a",), (), ("b",)]),
    ],
)
def test_label_sets_are_refused_with_advice(y):
    with pytest.raises(ValueError, match=r"y holds label sets such as .*MultiLabelBinarizer"):
        small().fit([[1, 2], [2, 1], [0, 3]], y)


def test_indicator_lists_are_taken():
    model = small(n_topics=2, sampler__n_passes=1).fit([[5, 0], [0, 5]] * 9, [[1, 0], [1, 1]] * 9)
    assert model.predict([[3, 1]]).shape == (1, 2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_topics": 1}, "n_topics=1 .* at least 2"),
        ({"alpha": -1.0}, "alpha=-1.0"),
        ({"C": 0.0}, "C=0.0"),
        ({"sampler": SGHMC()}, "sampler=SGHMC.* choose one of 'ssgrld'"),
        ({"multi_class": "all"}, "multi_class='all'"),
        ({"validation_fraction": 1.0}, "validation_fraction=1.0"),
        ({"sampler__n_sweeps": 0}, "n_sweeps=0"),
    ],
)
def test_refuses_settings_that_make_no_sense(corpus, settings, message):
    with pytest.raises(ValueError, match=message):
        small(**settings).fit(*corpus[0])


def test_other_vocabulary_and_new_words(corpus):
    (X, y), (new, _) = corpus
    model = small().fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.predict(new[:, :10])
    empty = sp.csr_matrix((2, N_WORDS), dtype=int)
    np.testing.assert_allclose(model.transform(empty), 1.0 / 6.0)
    assert model.predict(empty).shape == (2,)


def test_words_that_training_has_not_met_say_nothing(corpus):
    (X, y), (new, _) = corpus
    wide = sp.hstack([X, sp.csr_matrix((X.shape[0], 2))]).tocsr()
    model = small().fit(wide, y)
    strange = sp.csr_matrix(np.full((new.shape[0], 2), 3.0))
    without = sp.hstack([new, sp.csr_matrix(strange.shape)]).tocsr()
    found = model.decision_function(sp.hstack([new, strange]).tocsr())
    np.testing.assert_array_equal(found, model.decision_function(without))


def test_empty_documents_teach_nothing_but_do_no_harm(corpus):
    (X, y), (new, truth) = corpus
    padded = sp.vstack([X, sp.csr_matrix((20, N_WORDS), dtype=int)]).tocsr()
    labels = np.concatenate([y, np.zeros(20, dtype=int)])
    for method in METHODS:
        assert small(sampler=method).fit(padded, labels).score(new, truth) > 0.9


def test_at_home_in_scikit_learn():
    texts = ["moon tide moon crater", "nova star sun", "tide moon", "sun star star"] * 15
    y = np.array(["moon", "sun", "moon", "sun"] * 15)
    pipeline = make_pipeline(CountVectorizer(), small(n_topics=2))
    search = GridSearchCV(pipeline, {"medldaclassifier__n_topics": [2, 3]}, cv=2).fit(texts, y)
    assert search.best_score_ > 0.9
    model = clone(search.best_estimator_[-1])
    assert not hasattr(model, "classes_")
    fitted = search.best_estimator_
    counts = fitted[0].transform(texts[:3])
    frame = fitted[-1].set_output(transform="pandas").transform(counts)
    assert frame.columns[0] == "medldaclassifier0"
    words = fitted[-1].top_words(fitted[0].get_feature_names_out(), n=2)
    assert {frozenset(w) for w in words} >= {frozenset({"star", "sun"})}


def test_token_lists_learned_and_hashed():
    documents = [["moon", "tide", "moon"], ["nova", "sun"], []]
    learned = TokenCounter().fit(documents)
    assert learned.transform([["sun", "mars", "sun"]]).toarray().tolist() == [[0, 0, 2, 0]]
    hashed = TokenCounter(n_features=16).transform(documents)
    assert hashed.shape == (3, 16)
    assert hashed.sum() == 5
    with pytest.raises(ValueError, match="list of tokens"):
        TokenCounter().fit(["moon tide"])


def test_understanding(corpus):
    (X, y), (new, truth) = corpus
    model = small().fit(X, y)
    means = model.class_topics(new, truth)
    assert means.shape == (3, 6)
    np.testing.assert_allclose(means.sum(axis=1), 1.0)
    axes = plot_class_topics(means, ["a", "b", "c"])
    assert len(axes.get_yticklabels()) == 3
    assert coherence(model.topics_, X, n=3).shape == (6,)
    uniform = float(N_WORDS)
    assert 10.0 < model.perplexity(new) < 0.75 * uniform
    with pytest.raises(ValueError, match="vocabulary holds 3 words"):
        model.top_words(["a", "b", "c"])


def test_probabilities_are_calibrated_where_classes_overlap():
    """Two classes that 20 words cannot tell apart for certain: claims must match the outcome."""
    rng = np.random.default_rng(8)
    chances = np.array([[0.55, 0.45], [0.45, 0.55]])

    def draw(n):
        y = rng.integers(2, size=n)
        return np.array([rng.multinomial(20, chances[c]) for c in y]), y

    X, y = draw(3000)
    new, truth = draw(3000)
    model = MedLDAClassifier(n_topics=2, alpha=5.0, validation_fraction=0.1, random_state=1)
    chances = model.fit(X, y).predict_proba(new)
    right = model.predict(new) == truth
    claimed = chances.max(axis=1)
    assert 0.6 < right.mean() < 0.75
    # 300 documents held out fix the claimed probability to about two points.
    assert abs(claimed.mean() - right.mean()) < 0.05
    # Scores of the two classes need not be mirror images: look at each side by itself.
    for side in (chances[:, 0] > 0.5, chances[:, 1] > 0.5):
        sure = claimed[side] > np.median(claimed[side])
        assert right[side][sure].mean() > right[side][~sure].mean() + 0.05


def test_a_count_that_no_document_can_have_is_named():
    X = np.ones((6, 3))
    X[4, 2] = 1e300
    with pytest.raises(ValueError, match=r"count 1e\+300 of word 2 in document 4"):
        small().fit(X, [0, 1] * 3)


def test_a_stream_passes_over_empty_documents(corpus):
    (X, y), (new, _) = corpus
    model = small().partial_fit(X, y, classes=np.unique(y))
    before = model.predict_proba(new)
    nothing = 0 * X[:3]
    np.testing.assert_array_equal(model.partial_fit(nothing, y[:3]).predict_proba(new), before)
    with pytest.raises(ValueError, match="which is not among the classes"):
        model.partial_fit(nothing, ["unheard"] * 3)
    with pytest.raises(ValueError, match="all 3 documents of X are empty"):
        small().partial_fit(nothing, y[:3], classes=np.unique(y))


def test_a_frame_of_text_is_told_to_be_counted():
    texts = pd.DataFrame({"text": ["moon tide", "sun nova"] * 3})
    with pytest.raises(ValueError, match=r"column 'text' of X holds words.*CountVectorizer"):
        small().fit(texts, [0, 1] * 3)


def test_questions_about_topics_are_checked():
    X = pd.DataFrame(np.random.default_rng(0).poisson(2.0, (40, 4)), columns=list("wxyz"))
    y = np.arange(40) % 2
    model = small().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the names of the columns are known
        assert model.perplexity(X) > 1.0
    assert model.perplexity(X) == small().fit(X.to_numpy(), y).perplexity(X.to_numpy())
    with pytest.raises(ValueError, match="n=-3 is not allowed"):
        model.top_words(n=-3)
    with pytest.raises(ValueError, match=r"n=2\.5 is not allowed"):
        model.top_words(n=2.5)
    with pytest.raises(ValueError, match="y holds 3 labels, but there are 40 documents"):
        model.class_topics(X, y[:3])


def test_names_for_the_columns_of_an_indicator_matrix_are_refused_at_once():
    X, Y = np.eye(6, dtype=int), np.eye(6, 3, dtype=int)
    with pytest.raises(ValueError, match=r"classes=\['a', 'b', 'c'\] are not needed: y is an ind"):
        small().partial_fit(X, Y, classes=["a", "b", "c"])
    small().partial_fit(X, Y, classes=range(3)).partial_fit(X, Y, classes=range(3))
