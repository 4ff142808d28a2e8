r"""
Which items to ask about again
==============================

Labels cost money. After a first round of two votes an item, ``MaxMarginVoting`` knows which items
are in doubt: asking again about these brings more than asking again about any.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayesmargin import MaxMarginVoting

# %%
# A crowd of twelve. Their tables of confusions differ; two of them guess.

rng = np.random.default_rng(1)
N_ITEMS, N_WORKERS, N_CLASSES = 250, 12, 3
truth = rng.integers(0, N_CLASSES, N_ITEMS)
skill = np.append(rng.uniform(0.55, 0.9, N_WORKERS - 2), [1 / 3, 1 / 3])


def ask(item, worker):
    """What a worker says of an item."""
    if rng.random() < skill[worker]:
        return truth[item]
    return (truth[item] + rng.integers(1, N_CLASSES)) % N_CLASSES


def others(votes, item):
    """A worker who has not been asked about an item."""
    asked = {worker for one, worker, _ in votes if one == item}
    return rng.choice([worker for worker in range(N_WORKERS) if worker not in asked])


# %%
# Each round buys 50 votes: for the least certain items, or for any.


def campaign(choose, n_rounds=8):
    """Votes bought, share of wrong labels, and what the model itself says that share is."""
    votes = [
        (item, worker, ask(item, worker))
        for item in range(N_ITEMS)
        for worker in rng.choice(N_WORKERS, 2, replace=False)
    ]
    curve = []
    for _ in range(n_rounds + 1):
        model = MaxMarginVoting(N_CLASSES, n_sweeps=400, n_chains=2, random_state=0).fit(votes)
        told = 1.0 - model.probability_.max(axis=1).mean()
        curve.append((len(votes), np.mean(model.labels_ != truth), told))
        for item in choose(model):
            worker = others(votes, item)
            votes.append((item, worker, ask(item, worker)))
    return np.array(curve)


def least_certain(model):
    """The 50 items whose label is most in doubt."""
    return np.argsort(model.probability_.max(axis=1))[:50]


def any_of_them(model):
    """50 items at random."""
    return rng.choice(N_ITEMS, 50, replace=False)


doubtful, blind = campaign(least_certain), campaign(any_of_them)

# %%
# Full lines are the shares of wrong labels; dashed ones what the model says of itself, without any
# truth. In the beginning it knows workers badly and is too sure of itself.

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for curve, name, colour in ((doubtful, "least certain", "tab:blue"), (blind, "any", "tab:orange")):
    axes.plot(curve[:, 0], curve[:, 1], color=colour, label=f"asked again: {name}")
    axes.plot(curve[:, 0], curve[:, 2], "--", color=colour)
axes.legend()
_ = axes.set(xlabel="votes bought", ylabel="share of wrong labels", ylim=(0, None))
print(f"wrong after {doubtful[-1, 0]:.0f} votes: {doubtful[-1, 1]:.1%} and {blind[-1, 1]:.1%}")
