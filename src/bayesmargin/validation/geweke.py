r"""The Geweke test, in the form that pseudo-likelihoods need.

Two simulators of the joint law of weights and labels (:mod:`bayesmargin.validation.joint`) must
agree: independent draws by rejection, and a chain that alternates exact draws of the labels given
the weights with one transition of the kernel under test. A kernel that targets anything but the
posterior under the labels it is given makes them differ. So, by chance, does a right one that moves
so little that its chain has seen a corner of the joint law only; a warning tells when that may be.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import stats

from bayesmargin.diagnostics.convergence import effective_sample_size
from bayesmargin.errors import ConvergenceWarning
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.samplers import Sampler
from bayesmargin.targets.problem import Problem
from bayesmargin.validation.agreement import monte_carlo_error
from bayesmargin.validation.joint import draw_joint, draw_labels, label_problems
from bayesmargin.validation.kernels import Transition, as_transition

FEWEST = 100  # effective draws: with fewer, the errors of the scores are themselves in doubt


@dataclass(frozen=True)
class GewekeResult:
    """Outcome of a Geweke test.

    Attributes
    ----------
    names : list of str
        Test functions: weights, their products, weights times labels. With more than two classes
        these are one function for each class but the first: ``w0 y2=1`` is the first weight, with
        the sign plus where the label of the third row is 1, and minus elsewhere.
    scores : array
        Difference of the two simulators over its standard error, a function each.
    difference : array
        The difference itself.
    independent, chain : array of shape (n_draws, n_weights)
        Weights from the two simulators, for quantile plots.
    effective : float
        Independent draws that the chain is worth, for the worst function; zero if the kernel never
        moved one of the weights. Scores are to be trusted from about 100 on.
    """

    names: list[str]
    scores: FloatArray
    difference: FloatArray
    independent: FloatArray
    chain: FloatArray
    effective: float = np.nan

    @property
    def worst(self) -> float:
        """Largest absolute standard score; infinite when the chain did not stay finite."""
        worst = float(np.abs(self.scores).max())
        return worst if np.isfinite(worst) else np.inf

    @property
    def p_value(self) -> float:
        """Probability of a score as extreme as the worst, over all functions (Bonferroni)."""
        return float(min(1.0, 2.0 * len(self.names) * stats.norm.sf(self.worst)))

    def passes(self, limit: float = 4.0) -> bool:
        """Whether every score lies within ``limit``."""
        return self.worst < limit


def test_functions(weights: FloatArray, labels: IntArray, n_classes: int) -> FloatArray:
    """Values (draw, function): weights, products of two weights, weights times label signs.

    Every class but the first has signs of its own: without them a kernel that takes two of the
    other classes for each other, and mixes well, would have the same expectations.
    """
    upper = np.triu_indices(weights.shape[1])
    products = weights[:, upper[0]] * weights[:, upper[1]]
    signs = (labels[:, :, None] == np.arange(1, n_classes)) * 2.0 - 1.0
    cross = weights[:, :, None] * signs.reshape(len(weights), 1, -1)
    return np.concatenate([weights, products, cross.reshape(len(weights), -1)], axis=1)


test_functions.__test__ = False  # type: ignore[attr-defined]  # not a test of pytest


def function_names(n_weights: int, n_rows: int, n_classes: int = 2) -> list[str]:
    """Names of :func:`test_functions`."""
    upper = zip(*np.triu_indices(n_weights), strict=True)
    names = [f"w{i}" for i in range(n_weights)]
    names += [f"w{i} w{j}" for i, j in upper]
    signs = [f"y{d}" for d in range(n_rows)]
    if n_classes > 2:
        signs = [f"{sign}={c}" for sign in signs for c in range(1, n_classes)]
    return names + [f"w{i} {sign}" for i in range(n_weights) for sign in signs]


def geweke_test(
    tested: Sampler | Transition,
    problem: Problem,
    n_draws: int = 20_000,
    thin: int = 1,
    seed: int = 0,
) -> GewekeResult:
    """Compare independent joint draws with those of a chain that uses the kernel under test.

    Parameters
    ----------
    tested : Sampler or function
        A sampler, or a function that turns a problem into ``kernel(weights, rng) -> weights``.
    problem : Problem
        A few rows; its labels are not used. Three rows and two weights suffice to see a wrong
        sign, scale or constant.
    n_draws : int
        Draws of both simulators. Scores of a wrong kernel grow like the square root: posterior
        variances that are a tenth too large have a worst score of 3 to 4 in 20,000 draws of a
        kernel without autocorrelation, and 3% are not to be seen in so few.
    thin : int
        Iterations of the sampler or kernel that count as one transition.
    seed : int
        Seed of all randomness.

    Examples
    --------
    >>> from bayesmargin.samplers import AugmentationGibbs
    >>> from bayesmargin.validation import geweke_test
    >>> from bayesmargin.validation.problems import GEWEKE_ROWS, small_problem
    >>> problem = small_problem(GEWEKE_ROWS, [0, 0, 0], cost=1.2)
    >>> geweke_test(AugmentationGibbs(), problem, n_draws=2000).passes()
    True
    """
    rng = np.random.default_rng(seed)
    transition = as_transition(tested, thin)
    kernels = {label: transition(one) for label, one in label_problems(problem).items()}
    independent, labels = draw_joint(problem, n_draws, rng)
    exact = test_functions(independent, labels, problem.n_classes)
    weights = independent[0].copy()  # a kernel may work in place
    chain = np.empty_like(independent)
    given = np.empty_like(labels)
    for k in range(n_draws):
        given[k] = draw_labels(problem, weights[None], rng)[0]
        weights = kernels[tuple(given[k].tolist())](weights, rng)
        chain[k] = weights
        if not np.all(np.isfinite(weights)):
            chain[k:] = np.nan
            break
    # The labels that go with the chain's weights: those the transition was given.
    reached = test_functions(chain, given, problem.n_classes)
    names = function_names(problem.n_weights, problem.source.n_rows, problem.n_classes)
    if not np.isfinite(chain).all():
        missing = np.full(len(names), np.inf)
        return GewekeResult(names, missing, missing, independent, chain)
    mean, error = monte_carlo_error(reached[None])
    spread = exact.std(axis=0) / np.sqrt(n_draws)
    difference = mean - exact.mean(axis=0)
    scores = difference / np.hypot(error, spread)
    moved = bool(np.ptp(chain, axis=0).all())
    effective = float(effective_sample_size(reached[None]).min()) if moved else 0.0
    _warn_if_slow(effective, n_draws)
    return GewekeResult(names, scores, difference, independent, chain, effective)


def _warn_if_slow(effective: float, n_draws: int) -> None:
    """Warn that the scores of a chain cannot be relied upon."""
    if effective == 0.0:
        warnings.warn(
            "the kernel under test never moved one of the weights: it is no sampler of all of them",
            ConvergenceWarning,
            stacklevel=3,
        )
    elif effective < FEWEST:
        warnings.warn(
            f"the chain of {n_draws} draws is worth {effective:.0f} independent ones: scores of a "
            f"kernel that is right may be large by chance; increase thin or n_draws until it is "
            f"worth {FEWEST}",
            ConvergenceWarning,
            stacklevel=3,
        )
