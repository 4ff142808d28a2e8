"""A stand-in for tables of indicators with a rare class, such as records of a census.

Twelve questions with 277 answers in all, of which a few are common and most are rare; one answer a
question is given. People come in households of a kind, so that many rows are equal. Three in a
hundred are positive, and some answers are given by one class only.
"""

import numpy as np
from scipy import sparse

ANSWERS = (2, 3, 5, 7, 9, 14, 16, 20, 32, 41, 57, 71)
POSITIVE = 0.03
N_KINDS = 3000  # kinds of people; a row differs from its kind in an answer or two, or in none


def rare_indicators(n_rows: int = 50_000, seed: int = 0) -> tuple[sparse.csr_array, np.ndarray]:
    """Rows of twelve indicators each, and their labels."""
    rng = np.random.default_rng(seed)
    shares = [np.arange(1, size + 1) ** -1.6 for size in ANSWERS]
    popular = np.arange(1, N_KINDS + 1) ** -0.6
    kind = rng.choice(N_KINDS, n_rows, p=popular / popular.sum())
    columns, first = [], 0
    for share in shares:
        p = share / share.sum()
        usual = rng.choice(len(p), N_KINDS, p=p)[kind]
        other = rng.choice(len(p), n_rows, p=p)
        columns.append(first + np.where(rng.random(n_rows) < 0.1, other, usual))
        first += len(p)
    chosen = np.stack(columns, axis=1)
    rows = sparse.csr_array(
        (np.ones(chosen.size), chosen.ravel(), 12 * np.arange(n_rows + 1)), shape=(n_rows, first)
    )
    score = rows @ (0.9 * rng.standard_normal(first)) + rng.logistic(size=n_rows)
    return rows, (score > np.quantile(score, 1.0 - POSITIVE)).astype(int)
