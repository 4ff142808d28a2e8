r"""
Asking a new user the right questions
=====================================

Somebody new has rated nothing. Which films should they be asked about first, so that the others can
be predicted? ``MaxMarginFactorization`` knows where it is unsure.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayesmargin import MaxMarginFactorization

# %%
# People with two tastes rate half of 60 films; films of the first rows are what tastes differ in.

rng = np.random.default_rng(0)
N_USERS, N_FILMS, N_NEW = 120, 60, 12
strength = np.repeat([2.0, 0.2], N_FILMS // 2)
score = rng.standard_normal((N_USERS + N_NEW, 2)) @ (strength * rng.standard_normal((2, N_FILMS)))
noisy = score + rng.standard_normal(N_FILMS) + rng.logistic(size=score.shape)
stars = 1 + (noisy[..., None] > [-3, -1, 1, 3]).sum(axis=2)
known = [
    (i, j, stars[i, j]) for i in range(N_USERS) for j in rng.permutation(N_FILMS)[: N_FILMS // 2]
]
newcomers = range(N_USERS, N_USERS + N_NEW)


def spread(chance, levels):
    """Variance of a rating by its probabilities."""
    return chance @ levels**2 - (chance @ levels) ** 2


# %%
# In each round every newcomer rates one film: the one whose rating is least certain, or any.


def campaign(choose, n_rounds=6):
    """Mean absolute error on films that newcomers have not rated, after each round."""
    rows, errors = list(known), []
    asked = {i: set() for i in newcomers}
    for _ in range(n_rounds + 1):
        model = MaxMarginFactorization(3, n_sweeps=200, n_chains=2, random_state=0).fit(rows)
        left = [(i, j) for i in newcomers for j in range(N_FILMS) if j not in asked[i]]
        truth = np.array([stars[pair] for pair in left])
        errors.append(np.abs(model.predict(left) - truth).mean())
        doubt = spread(model.predict_proba(left), model.levels_)
        for i in newcomers:
            own = [(value, j) for value, (user, j) in zip(doubt, left, strict=True) if user == i]
            film = choose(own)
            asked[i].add(film)
            rows.append((i, film, stars[i, film]))
    return errors


doubtful = campaign(lambda own: max(own)[1])
blind = campaign(lambda own: own[rng.integers(len(own))][1])

# %%
# Questions about films whose ratings are in doubt are worth more.

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(doubtful, "o-", label="the least certain film")
axes.plot(blind, "o-", label="any film")
axes.legend()
_ = axes.set(xlabel="films that each newcomer has rated", ylabel="mean absolute error, stars")
print(f"after six questions: {doubtful[-1]:.2f} and {blind[-1]:.2f}; after none: {blind[0]:.2f}")
