"""Checks of the parameters of :class:`MedLDAClassifier`, and the defaults that depend on others."""

import math
import numbers
import warnings
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.errors import CapacityWarning
from bayesmargin.foundation.arguments import (
    require_choice,
    require_count,
    require_counts,
    require_given,
    require_jobs,
    require_positive,
)
from bayesmargin.foundation.types import IntArray
from bayesmargin.models.medlda.hinges import LabelSetHinge, MultiTaskHinge
from bayesmargin.models.medlda.labels import LabelCode
from bayesmargin.models.medlda.samplers import SSGRLD, name_of, sampler_of, weights_of
from bayesmargin.samplers.langevin import SSGLD

RULES = ("multi_task", "crammer_singer", "ovr")
# Total prior weight of the topics of a document: alpha is this over the number of topics.
TOTAL_ALPHA = 10.0
PASSES = {"ssgrld": 6, "gibbs": 60, "pa": 1}
# Best on documents held out, of 20 Newsgroups and of Wikipedia: with a cost of 1 the baselines need
# many sweeps ("gibbs") or more documents than there are ("pa") to find the topics of labels.
COSTS = {"ssgrld": 1.0, "gibbs": 4.0, "pa": 64.0}
MIN_STEPS = 150
N_DRAWS = 10
# Documents that a stream of unknown length is taken to have at least. With fewer the priors would
# outweigh the first minibatches, and topics that start as noise do not recover.
UNKNOWN_SIZE = 10_000


class Resolved(NamedTuple):
    """Parameters after defaults were filled in."""

    alpha: float
    n_passes: int
    n_draws: int
    rule: str
    hinge: Any
    prior_scale: float = 1.0


class Plan(NamedTuple):
    """Checked settings of a model, all beside each other; some mean nothing to some methods."""

    n_topics: int
    alpha: float | None
    beta: float
    C: float | None
    margin: float
    prior_scale: float | None
    multi_class: str
    n_chains: int
    n_draws: int | None
    validation_fraction: float
    random_state: Any
    verbose: int
    method: str
    n_passes: int | None
    batch_size: int
    n_sweeps: int
    topics: str
    topic_step: float
    weights: str
    weight_step: float | None
    n_documents: int | None


def check_parameters(model: Any) -> Plan:
    """The plan of a fit, or a clear error for the first parameter that is not allowed."""
    sampler = sampler_of(model.sampler)
    method = name_of(sampler)
    require_count("n_topics", model.n_topics, 2)
    require_jobs(model.n_jobs)
    require_given(beta=model.beta, margin=model.margin)
    require_positive(alpha=model.alpha, C=model.C, prior_scale=model.prior_scale)
    require_choice("multi_class", model.multi_class, RULES)
    require_count("n_chains", model.n_chains, 1)
    require_counts(n_draws=model.n_draws)
    share = model.validation_fraction
    if not isinstance(share, numbers.Real) or not 0.0 <= float(share) < 1.0:
        raise ValueError(f"validation_fraction={share!r} is not allowed: at least 0, less than 1")
    if method != "ssgrld" and model.multi_class == "crammer_singer":
        raise ValueError(
            f"multi_class='crammer_singer' is not available for sampler={method!r}: its "
            "augmentation needs one hinge a class; choose 'multi_task' or 'ovr'"
        )
    whole = sampler if isinstance(sampler, SSGRLD) else SSGRLD()
    weights = weights_of(whole.weights)
    step = weights.step
    return Plan(
        n_topics=model.n_topics,
        alpha=model.alpha,
        beta=model.beta,
        C=model.C,
        margin=model.margin,
        prior_scale=model.prior_scale,
        multi_class=model.multi_class,
        n_chains=model.n_chains,
        n_draws=model.n_draws,
        validation_fraction=model.validation_fraction,
        random_state=model.random_state,
        verbose=model.verbose,
        method=method,
        n_passes=sampler.n_passes,
        batch_size=getattr(sampler, "batch_size", whole.batch_size),
        n_sweeps=getattr(sampler, "n_sweeps", whole.n_sweeps),
        topics=whole.topics,
        topic_step=whole.topic_step,
        weights="ssgld" if isinstance(weights, SSGLD) else "ssgnht",
        weight_step=step**2 if step is not None and isinstance(weights, SSGLD) else step,
        n_documents=getattr(sampler, "n_documents", None),
    )


def warn_if_few_topics(n_topics: int, rule: str, code: LabelCode) -> None:
    """Say that classes which share topics are hardly told apart, where each has one label."""
    n_classes = len(code.classes)
    if n_topics < n_classes and rule != "ovr" and not code.several:
        warnings.warn(
            f"n_topics={n_topics} are fewer topics than the {n_classes} classes: those without a "
            f"topic of their own are seldom predicted, or never; set n_topics={n_classes} or more",
            CapacityWarning,
            stacklevel=5,
        )


def stream_size(plan: Plan, n_seen: int) -> int:
    """Documents that a stream is taken to have when ``n_seen`` of them came."""
    return max(n_seen, UNKNOWN_SIZE if plan.n_documents is None else int(plan.n_documents))


def documents_of_rarest(signs: IntArray) -> int:
    """Documents of the rarest class; where a label is on most documents, those without it.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.medlda.parameters import documents_of_rarest
    >>> documents_of_rarest(np.array([[1, -1], [1, -1], [1, 1], [1, -1]]))
    1
    """
    own = (signs > 0).sum(axis=0)
    fewest = np.minimum(own, len(signs) - own)
    return int(fewest[fewest > 0].min(initial=len(signs)))


def default_prior_scale(
    hinge: Any, n_classes: int, n_documents: int, n_rarest: int | None = None
) -> float:
    r"""Prior standard deviation of the weights: 1, and more for few documents or a rare class.

    The n documents of a class pull at its weights with :math:`C n`, the prior pulls back with
    :math:`\eta / s^2`. Were the two alike at the margin, weights could not reach it and the class
    would never be predicted. So the prior pulls there with a third at most of the documents of
    a class of D / L, and with half at most of those of the rarest class, of which there are
    ``n_rarest``: :math:`s^2 \ge 3 L \ell / (C D)` and :math:`s^2 \ge 2 \ell / (C n)`.

    Examples
    --------
    >>> from bayesmargin.models.medlda.hinges import MultiTaskHinge
    >>> from bayesmargin.models.medlda.parameters import default_prior_scale
    >>> [round(default_prior_scale(MultiTaskHinge(1.0, 164.0), 20, n), 1) for n in (300, 20_000)]
    [5.7, 1.0]
    >>> round(default_prior_scale(MultiTaskHinge(1.0, 164.0), 20, 20_000, n_rarest=10), 1)
    5.7
    """
    pulls = [n_documents / (3.0 * n_classes)] + ([] if n_rarest is None else [n_rarest / 2.0])
    return max(1.0, math.sqrt(hinge.margin / (hinge.cost * min(pulls))))


def resolve(
    plan: Plan, n_classifiers: int, n_documents: int, signs: IntArray | None = None
) -> Resolved:
    """Fill in the defaults; some depend on the documents to learn from, and on their labels.

    ``signs`` are all labels (documents x classifiers), None where they are not known yet.
    """
    rule = plan.multi_class if n_classifiers > 1 else "multi_task"
    kind = LabelSetHinge if rule == "crammer_singer" else MultiTaskHinge
    hinge = kind(COSTS[plan.method] if plan.C is None else float(plan.C), float(plan.margin))
    scale = plan.prior_scale
    if scale is None:
        rarest = None if signs is None else documents_of_rarest(signs)
        scale = default_prior_scale(hinge, max(2, n_classifiers), n_documents, rarest)
    return Resolved(
        alpha=TOTAL_ALPHA / plan.n_topics if plan.alpha is None else float(plan.alpha),
        n_passes=PASSES[plan.method] if plan.n_passes is None else int(plan.n_passes),
        n_draws=N_DRAWS if plan.n_draws is None else int(plan.n_draws),
        rule=rule,
        hinge=hinge,
        prior_scale=float(scale),
    )
