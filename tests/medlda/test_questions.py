"""What label sets may hold, and what is asked about classes and new words."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from bayesmargin import MedLDAClassifier, load
from bayesmargin.models.medlda import coherence, understanding

from .test_classifier import N_WORDS, make_corpus, small


@pytest.mark.parametrize("stream", [False, True])
def test_an_indicator_of_other_numbers_is_refused(stream):
    """Those of 1 and 2 had given every label to every document."""
    X, y = make_corpus(60, 3, 16)
    sets = np.eye(3, dtype=int)[y]
    model = small()
    learn = model.partial_fit(X, sets).partial_fit if stream else model.fit
    with pytest.raises(ValueError, match="y holds 2, but an indicator matrix has 1 where"):
        learn(X, sets + 1)


def test_label_sets_that_are_all_empty_are_refused_unless_more_may_come():
    """The first label had been predicted for every document."""
    X, y = make_corpus(60, 3, 16)
    sets = np.eye(3, dtype=int)[y]
    with pytest.raises(ValueError, match="none of the 60 documents has a label"):
        small().fit(X, 0 * sets)
    model = small().partial_fit(X, 0 * sets).partial_fit(X, sets)
    assert (model.predict(X).sum(axis=0) > 0).all()


@pytest.mark.parametrize("method", ["ssgrld", "gibbs", "pa"])
def test_a_column_without_any_label_is_never_predicted(method):
    X, y = make_corpus(200, 3, 16)
    new, _ = make_corpus(400, 3, 17)
    sets = np.c_[np.eye(3, dtype=int)[y], np.zeros_like(y), np.ones_like(y)]
    model = small(sampler=method, sampler__n_passes=2).fit(X, sets)
    found = model.predict(new)
    assert (found[:, 3] == 0).all()
    assert (found[:, 4] == 1).all()
    chances = model.predict_proba(new)
    assert chances[:, 3].max() < 0.1
    assert chances[:, 4].min() > 0.9


def test_classes_of_label_sets_have_topics_however_the_sets_are_passed():
    X, y = make_corpus(60, 3, 17)
    sets = np.eye(3, dtype=int)[y]
    model = small().fit(X, sets)
    means = model.class_topics(X, sets)
    np.testing.assert_array_equal(model.class_topics(X, sp.csr_matrix(sets)), means)
    with pytest.raises(ValueError, match=r"y has 2 columns, but .* has 3"):
        model.class_topics(X, sets[:, :2])


def test_words_that_training_has_not_met_do_not_make_proportions_surer(monkeypatch):
    X, y = make_corpus(200, 2, 18)
    X = sp.hstack([X, sp.csr_matrix((200, 1))], format="csr").astype(int)
    model = small(n_topics=3).fit(X, y)
    given = sp.lil_matrix((1, N_WORDS + 1), dtype=int)
    given[0, 0], given[0, N_WORDS] = 2, 50
    given, judged = given.tocsr(), X[:1]
    monkeypatch.setattr(understanding, "split_words", lambda counts, rng: (given, judged))
    share, alpha = model.transform(given)[0], 10.0 / 3
    theta = (alpha + 2 * share) / (3 * alpha + 2)
    counts = judged.toarray()[0]
    expected = np.exp(-(counts @ np.log(theta @ model.topics_)) / counts.sum())
    assert model.perplexity(given + judged) == pytest.approx(expected)


@pytest.mark.parametrize("loaded", [False, True])
def test_a_model_of_all_documents_together_takes_no_more_of_them(loaded, tmp_path):
    """It had swept over the documents it knew, and the new ones were lost without a word."""
    X, y = make_corpus(60, 3, 19)
    model = small(sampler="gibbs", sampler__n_passes=2).fit(X, y)
    if loaded:
        model.save(tmp_path / "model")
        model = load(tmp_path / "model")
    before = model.predict_proba(X)
    model.set_params(sampler="ssgrld")
    with pytest.raises(ValueError, match=r"fitted with sampler='gibbs'.*begin a new model"):
        model.partial_fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_questions_are_about_the_topics_that_were_learned():
    X, y = make_corpus(60, 3, 20)
    model = small().fit(X, y)
    expected = model.perplexity(X)
    assert model.set_params(n_topics=4).perplexity(X) == expected


def test_words_come_from_the_vectorizer_that_counted_them():
    """It has no length, which had been the answer."""
    counter = CountVectorizer()
    X = counter.fit_transform(["moon tide moon", "goal team", "tide moon", "team goal goal"] * 10)
    model = MedLDAClassifier(n_topics=2, n_chains=1, random_state=0).fit(X, [0, 1, 0, 1] * 10)
    expected = model.top_words(counter.get_feature_names_out(), n=2)
    assert model.top_words(counter, n=2) == expected
    assert {tuple(sorted(words)) for words in expected} == {("moon", "tide"), ("goal", "team")}
    np.testing.assert_array_equal(
        coherence(model.topics_.tolist(), X, n=2), coherence(model.topics_, X, n=2)
    )


def test_table_of_topics_names_the_class_that_each_speaks_for():
    """Of two classes a negative weight speaks for the first one."""
    counter = CountVectorizer()
    X = counter.fit_transform(["moon tide moon", "goal team", "tide moon", "team goal goal"] * 10)
    model = MedLDAClassifier(n_topics=2, n_chains=1, random_state=0)
    table = model.fit(X, ["sky", "sport", "sky", "sport"] * 10).topic_table(counter, n=2)
    named = {row["speaks for"]: set(row["words"].split()) for _, row in table.iterrows()}
    assert named == {"sky": {"moon", "tide"}, "sport": {"goal", "team"}}
    assert (table["weight"] > 0).all()
    assert sorted(table.index) == [0, 1]


def test_a_stream_does_not_change_its_number_of_topics_on_the_way():
    """It had gone on with the old one, and could not be loaded once it was saved."""
    X, y = np.eye(6, dtype=int), [0, 1] * 3
    model = MedLDAClassifier(n_topics=2, n_chains=1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"n_topics=5 is not allowed here.* has learned 2 topics"):
        model.set_params(n_topics=5).partial_fit(X, y)
    model.set_params(n_topics=2).partial_fit(X, y)
