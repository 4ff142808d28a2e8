"""All partitions of a few points, with the exact posterior of each: the yardstick of the chain."""

import itertools
import math

import numpy as np
from scipy.special import gammaln, logsumexp

from bayesmargin.models.infinite_svc.state import Hinge


def partitions(count):
    """Set partitions of range(count) as tuples of labels in order of appearance."""
    found = [(0,)]
    for _ in range(count - 1):
        found = [(*p, k) for p in found for k in range(max(p) + 2)]
    return found


def canonical(labels):
    """The same partition with labels in order of appearance."""
    names: dict[int, int] = {}
    return tuple(names.setdefault(int(k), len(names)) for k in labels)


def log_crp(partition, concentration):
    sizes = np.bincount(partition)
    value = len(sizes) * math.log(concentration) + gammaln(sizes).sum()
    return value - sum(math.log(concentration + i) for i in range(len(partition)))


def log_niw(x, location, strength, degrees, scatter):
    """Log marginal likelihood of the rows of x, from the textbook formula."""
    n, p = x.shape
    if p == 0:
        return 0.0
    kappa, nu, mean = strength + n, degrees + n, x.mean(axis=0)
    offset = mean - location
    spread = (x - mean).T @ (x - mean)
    psi = scatter + spread + strength * n / kappa * np.outer(offset, offset)

    def log_gamma_p(a):
        return p * (p - 1) / 4 * math.log(math.pi) + sum(gammaln(a - j / 2) for j in range(p))

    return (
        -n * p / 2 * math.log(math.pi)
        + log_gamma_p(nu / 2)
        - log_gamma_p(degrees / 2)
        + degrees / 2 * np.linalg.slogdet(scatter)[1]
        - nu / 2 * np.linalg.slogdet(psi)[1]
        + p / 2 * math.log(strength / kappa)
    )


def log_gaussian(x, base):
    """Log marginal likelihood of covariates; independent columns have one law each."""
    prior = (base.location, base.strength, base.degrees, base.scatter)
    if not base.diagonal:
        return log_niw(x, *prior)
    return sum(
        log_niw(
            x[:, [j]], base.location[[j]], base.strength, base.degrees, base.scatter[j : j + 1, [j]]
        )
        for j in range(x.shape[1])
    )


def _log_psi(scores, label, hinge: Hinge):
    if scores.shape[-1] == 1:
        slack = hinge.margin - (2 * label - 1) * scores[..., 0]
    else:
        others = np.delete(scores, label, axis=-1)
        slack = hinge.margin + others.max(axis=-1) - scores[..., label]
    return -hinge.cost * np.maximum(slack, 0.0)


def log_expert_evidence(design, labels, hinge, scale, weight_rows, nodes=41):
    """Log of the integral of prior times pseudo-likelihood over all weights, on a grid."""
    size = weight_rows * design.shape[1]
    points = {1: 4001, 2: 601, 3: 141, 4: 61}[size] if nodes == 41 else nodes
    axis = np.linspace(-7.0, 7.0, points)
    log_axis = -0.5 * axis**2 - np.logaddexp.reduce(-0.5 * axis**2)
    grid = np.stack(np.meshgrid(*[axis] * size, indexing="ij"), -1).reshape(-1, size)
    log_prior = np.sum(np.stack(np.meshgrid(*[log_axis] * size, indexing="ij"), -1), -1).ravel()
    weights = scale * grid.reshape(-1, weight_rows, design.shape[1])
    for row, label in zip(design, labels, strict=True):
        log_prior = log_prior + _log_psi(weights @ row, label, hinge)
    return logsumexp(log_prior)


def exact_posterior(rows, base, hinge, concentration, weight_rows):
    """Probability of every partition, Gaussian and expert parameters integrated out."""
    count = len(rows.labels)
    evidence = {}
    for size in range(1, count + 1):
        for subset in itertools.combinations(range(count), size):
            index = list(subset)
            gaussian = log_gaussian(rows.covariates[index], base)
            expert = log_expert_evidence(
                rows.design[index], rows.labels[index], hinge, base.weight_scale, weight_rows
            )
            evidence[subset] = gaussian + expert
    found = partitions(count)
    logs = np.array(
        [
            log_crp(p, concentration)
            + sum(evidence[tuple(d for d in range(count) if p[d] == k)] for k in range(max(p) + 1))
            for p in found
        ]
    )
    return dict(zip(found, np.exp(logs - logsumexp(logs)), strict=True))
