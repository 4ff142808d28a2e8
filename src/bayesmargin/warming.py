"""Compiling ahead: small fits of every kind, so that a first fit on this machine need not wait.

``bayesmargin warm`` on the command line. What is compiled is kept in the folder that
``BAYESMARGIN_CACHE`` names, where every later process finds it.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.errors import BayesmarginWarning
from bayesmargin.models.registry import WORDS, Model

Heard = Callable[["Rehearsal", float], None]


class Rehearsal(NamedTuple):
    """A small fit whose kernels are those of large ones of its kind."""

    model: Model
    rows: str  #: kind of the rows, for people
    n_classes: int  #: 0 where values are predicted
    settings: dict[str, Any]

    @property
    def name(self) -> str:
        """What is rehearsed, for people."""
        what = f"{self.n_classes} classes, " if self.n_classes else ""
        special = "".join(f", {key}={value}" for key, value in self.settings.items())
        return f"{self.model.word}: {what}{self.rows}{special}"

    def run(self) -> None:
        """Fit and predict."""
        X, y = _data(self)
        estimator = self.model.load()(random_state=0, **self.settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayesmarginWarning)
            estimator.fit(X, y)
            (estimator.predict if not self.n_classes else estimator.predict_proba)(X)


def rehearsals(words: Sequence[str] | None = None) -> list[Rehearsal]:
    """The fits that :func:`warm` makes.

    Parameters
    ----------
    words : sequence of str, optional
        Models, by the words of ``bayesmargin fit --model``; all of them when left out.

    Examples
    --------
    >>> from bayesmargin.warming import rehearsals
    >>> [one.name for one in rehearsals(["dpmnl"])]
    ['dpmnl: 2 classes, dense rows', 'dpmnl: 3 classes, dense rows']
    """
    unknown = sorted({*(words or ())} - {*WORDS})
    if unknown:
        raise ValueError(f"there is no model {unknown[0]!r}: choose from {', '.join(WORDS)}")
    return [one for word in words or WORDS for one in _of_model(WORDS[word])]


def warm(words: Sequence[str] | None = None, heard: Heard | None = None) -> dict[str, float]:
    """Compile the kernels of usual fits, and keep them on disk for every later process.

    Parameters
    ----------
    words : sequence of str, optional
        Models, by the words of ``bayesmargin fit --model``; all of them when left out.
    heard : callable, optional
        Is told each rehearsal and its seconds when it is over.

    Returns
    -------
    dict of str to float
        Seconds that each took; next to nothing where its kernels were there already.

    Examples
    --------
    >>> from bayesmargin.warming import warm
    >>> list(warm(["dpmnl"]))
    ['dpmnl: 2 classes, dense rows', 'dpmnl: 3 classes, dense rows']
    """
    taken: dict[str, float] = {}
    for one in rehearsals(words):
        began = time.perf_counter()
        one.run()
        taken[one.name] = time.perf_counter() - began
        if heard is not None:
            heard(one, taken[one.name])
    return taken


def _of_model(model: Model) -> Iterator[Rehearsal]:
    """Kinds of rows and of classes; of the linear model, what hard posteriors fall back to, too."""
    kinds = ["word counts"] if model.counts else ["dense rows"]
    kinds += ["sparse rows"] if model.sparse and not model.counts else []
    if model.answers == "values":
        yield from (Rehearsal(model, kind, 0, {}) for kind in kinds)
        return
    for n_classes in (2, 3):
        for kind in kinds:
            yield Rehearsal(model, kind, n_classes, {})
        if model.word == "linear":
            yield Rehearsal(model, "dense rows", n_classes, {"sampler": "hmc"})


def _data(one: Rehearsal) -> tuple[Any, Any]:
    from scipy import sparse

    rng = np.random.default_rng(0)
    label = rng.integers(0, max(2, one.n_classes), 200)
    if one.rows == "word counts":
        rate = rng.gamma(0.6, 2.0, (max(2, one.n_classes), 40))
        return sparse.csr_array(rng.poisson(rate[label])), label
    if one.rows == "sparse rows":
        X = sparse.random_array((200, 2000), density=0.01, rng=rng, format="csr")
        return X, label
    X = rng.standard_normal((200, 4)) + label[:, None]
    return X, (label if one.n_classes else X[:, 0] + rng.standard_normal(200))
