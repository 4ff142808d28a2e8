"""Partitions as filters and joins leave them: empty ones, missing or mixed labels, huge values."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from bayesmargin import BayesianLinearSVC
from bayesmargin.errors import PartitionError

pytestmark = pytest.mark.usefixtures("short_trajectories")
SETTINGS = {"random_state": 0, "n_draws": 300, "n_chains": 2}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(4)
    rows = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    noise = 0.5 * rng.normal(size=300)
    return rows.assign(label=np.where(rows["a"] + noise > 0.0, "yes", "no"))


def fitted(frame, **settings):
    parts = dd.from_pandas(frame, npartitions=3)
    return BayesianLinearSVC(**SETTINGS, **settings).fit(parts[list("abc")], parts["label"])


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_votes"])
def test_predictions_of_empty_partitions_are_empty(frame, method):
    model = fitted(frame)
    parts = dd.from_pandas(frame[list("abc")], npartitions=3)
    joined = dd.concat([parts[parts["a"] > 99.0], parts])
    found = getattr(model, method)(joined).compute()
    wanted = getattr(model, method)(frame[list("abc")])
    assert np.array_equal(found, wanted)
    none = getattr(model, method)(parts[parts["a"] > 99.0]).compute()
    assert none.shape == (0, *wanted.shape[1:])
    assert none.dtype == wanted.dtype


def test_scores_of_empty_partitions_are_empty(frame):
    model = BayesianLinearSVC(**SETTINGS).fit(frame[list("abc")].to_numpy(), frame["label"])
    two = da.from_array(np.zeros((2, 3)), chunks=((0, 2), 3))
    score, deviation = model.decision_function(two, return_std=True)
    assert score.compute().shape == deviation.compute().shape == (2,)


@pytest.mark.parametrize("lost", [None, np.nan, pd.NA])
def test_missing_labels_are_named(frame, lost):
    labels = frame["label"].astype(object)
    labels[150] = lost
    with pytest.raises(PartitionError, match=r"partition 1 of 3 .* no label in row 50 "):
        fitted(frame.assign(label=labels))
    numbers = (frame["label"] == "yes").astype(float)
    numbers[150] = np.nan
    with pytest.raises(PartitionError, match=r"partition 1 of 3 .* no label in row 50 "):
        fitted(frame.assign(label=numbers))


def test_missing_labels_of_rows_that_do_not_count(frame):
    labels, weight = frame["label"].astype(object), np.ones(300)
    labels[150] = None
    weight[150] = 0.0
    rows = da.from_array(frame[list("abc")].to_numpy(), chunks=(100, 3))
    given = da.from_array(labels.to_numpy(), chunks=100)
    model = BayesianLinearSVC(**SETTINGS).fit(rows, given, sample_weight=weight)
    assert model.classes_.tolist() == ["no", "yes"]


def test_words_and_numbers_are_no_labels_of_one_fit(frame):
    rows = frame[list("abc")].to_numpy()
    labels = [np.array(["1", "2"] * 50), np.array([1, 2] * 50)]
    parts = [dask.delayed((rows[:100], part)) for part in labels]
    with pytest.raises(ValueError, match="holds words and other labels"):
        BayesianLinearSVC(**SETTINGS).fit(parts)
    mixed = np.array([*labels[0], *labels[1].tolist()], dtype=object)
    with pytest.raises(PartitionError, match=r"partition 0 of 1 .* words and other labels"):
        BayesianLinearSVC(**SETTINGS).fit([dask.delayed((rows[:200], mixed))])


def test_huge_values_are_named(frame):
    odd = frame.copy()
    odd.loc[250, "b"] = 1e200
    with pytest.raises(PartitionError, match=r"partition 2 of 3 .*'b' is 1e\+200 in row 50 "):
        fitted(odd)
