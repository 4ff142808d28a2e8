"""Matrix factorizations to be measured against: by stochastic gradients, by cornac, and biases.

``sgd`` is probabilistic matrix factorization (Salakhutdinov and Mnih, 2008) around the mean rating,
and with ``biased`` the form with biases (Koren, Bell and Volinsky, 2009). Settings and the number
of epochs are those with the least error on hidden ratings.
"""

import itertools
from importlib.util import find_spec

import numba
import numpy as np

GRID = [
    {"k": k, "rate": rate, "penalty": penalty}
    for k, rate, penalty in itertools.product(
        (5, 10, 20, 40), (0.005, 0.01), (0.03, 0.06, 0.09, 0.12)
    )
]
MOST = 120  # epochs
CORNAC = {
    "PMF": [
        {"k": k, "learning_rate": rate, "lambda_reg": penalty, "max_iter": 100, "variant": "linear"}
        for k, rate, penalty in itertools.product((5, 10, 20), (0.003, 0.005, 0.01), (0.1, 0.15))
    ],
    "MF": [
        {"k": k, "learning_rate": rate, "lambda_reg": penalty, "max_iter": 60}
        for k, rate, penalty in itertools.product((5, 10, 20), (0.005, 0.01), (0.02, 0.05, 0.1))
    ],
}


@numba.njit
def _epochs(rows, asked, user, item, rate, penalty, biased, n_epochs, order, found):
    """Epochs over ratings less their mean; predictions for pairs after each epoch."""
    for epoch in range(n_epochs):
        for d in order[epoch % order.shape[0]]:
            i, j = int(rows[d, 0]), int(rows[d, 1])
            error = rows[d, 2] - (user[i] * item[j]).sum()
            for k in range(user.shape[1]):
                u, v = user[i, k], item[j, k]
                if not (biased and k == 1):  # column 1 of users is one: the bias of items
                    user[i, k] += rate * (error * v - penalty * u)
                if not (biased and k == 0):
                    item[j, k] += rate * (error * u - penalty * v)
        for d in range(asked.shape[0]):
            found[epoch, d] = (user[asked[d, 0]] * item[asked[d, 1]]).sum()


def sgd(train, asked, settings, biased, n_epochs, seed=0):
    """Predictions for pairs after each epoch (first axis)."""
    rng, size = np.random.default_rng(seed), 1 + np.maximum(train.max(0), asked.max(0))[:2]
    width = settings["k"] + 2 * biased
    user, item = (0.1 * rng.standard_normal((n, width)) for n in size)
    if biased:
        user[:, 0], item[:, 1], user[:, 1], item[:, 0] = 0.0, 0.0, 1.0, 1.0
    mean = train[:, 2].mean()
    rows = np.column_stack([train[:, 0], train[:, 1], train[:, 2] - mean]).astype(float)
    order = np.array([rng.permutation(len(rows)) for _ in range(5)])
    found = np.empty((n_epochs, len(asked)))
    rate, penalty = settings["rate"], settings["penalty"]
    _epochs(rows, asked, user, item, rate, penalty, biased, n_epochs, order, found)
    return np.clip(mean + found, 1.0, 5.0)


def tuned_sgd(train, fewer, hidden, asked, biased):
    """Predictions for pairs with the best settings on hidden ratings, and these in words."""
    best = (np.inf, {}, 0)
    for settings in GRID:
        found = sgd(fewer, hidden, settings, biased, MOST)
        errors = np.sqrt(np.mean((found - hidden[:, 2]) ** 2, axis=1))
        epoch = int(errors.argmin())
        best = min(best, (float(errors[epoch]), settings, epoch + 1), key=lambda one: one[0])
    _, settings, n_epochs = best
    return sgd(train, asked, settings, biased, n_epochs)[-1], f"{settings}, {n_epochs} epochs"


def by_cornac(kind, settings, train, pairs):
    """Predictions of a model of cornac, between the lowest and the highest rating."""
    from cornac import models
    from cornac.data import Dataset

    told = Dataset.from_uir([(int(i), int(j), float(r)) for i, j, r in train], seed=0)
    model = getattr(models, kind)(**settings, seed=0).fit(told)
    found = np.full(len(pairs), told.global_mean)
    for row, (i, j, _) in enumerate(pairs):
        user, item = told.uid_map.get(int(i)), told.iid_map.get(int(j))
        if user is not None and item is not None:
            found[row] = model.score(user, item)
        elif kind != "PMF" and (user is not None or item is not None):
            found[row] += model.u_biases[user] if user is not None else model.i_biases[item]
    return np.clip(found, 1.0, 5.0)


def tuned_cornac(train, fewer, hidden, asked, kind):
    """Likewise with the settings of cornac."""
    best = (np.inf, {})
    for settings in CORNAC[kind]:
        found = by_cornac(kind, settings, fewer, hidden)
        error = float(np.sqrt(np.mean((found - hidden[:, 2]) ** 2)))
        best = min(best, (error, settings), key=lambda one: one[0])
    return by_cornac(kind, best[1], train, asked), str(best[1])


def biases(train, asked, penalty, rounds=20):
    """Mean, item and user biases by penalised least squares."""
    size = 1 + np.maximum(train.max(axis=0), asked.max(axis=0))[:2]
    centre, of = train[:, 2].mean(), [np.zeros(size[0]), np.zeros(size[1])]
    counts = [np.bincount(train[:, k], minlength=size[k]) for k in (0, 1)]
    for _ in range(rounds):
        for k in (1, 0):
            left = train[:, 2] - centre - of[1 - k][train[:, 1 - k]]
            of[k] = np.bincount(train[:, k], left, size[k]) / (counts[k] + penalty)
    return np.clip(centre + of[0][asked[:, 0]] + of[1][asked[:, 1]], 1.0, 5.0)


def tuned_biases(train, fewer, hidden, asked):
    """Likewise with the penalty that is best."""
    tried = [0.5, 1.0, 2.0, 4.0, 6.0]
    errors = [np.mean((biases(fewer, hidden, one) - hidden[:, 2]) ** 2) for one in tried]
    best = tried[int(np.argmin(errors))]
    return biases(train, asked, best), f"penalty {best:g}"


def has_cornac():
    """Whether cornac is installed."""
    return find_spec("cornac") is not None
