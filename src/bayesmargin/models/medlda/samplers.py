"""Settings of the ways to learn a topic model: in minibatches, by Gibbs sampling, or online."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from bayesmargin.foundation.arguments import (
    require_choice,
    require_count,
    require_counts,
    require_given,
    require_positive,
)
from bayesmargin.foundation.settings import Settings, ShortForms, require_only
from bayesmargin.samplers.langevin import SSGLD
from bayesmargin.samplers.thermostat import SSGNHT

WEIGHTS: Mapping[str, Any] = {"ssgld": SSGLD, "ssgnht": SSGNHT}


def weights_of(value: Any) -> Any:
    """Settings of the weights' sampler, for an object or a name.

    Examples
    --------
    >>> from bayesmargin.models.medlda.samplers import weights_of
    >>> type(weights_of("ssgnht")).__name__
    'SSGNHT'
    """
    if isinstance(value, SSGLD | SSGNHT):
        require_only(value, ("step",), "the weights of a topic model")
        return value
    if isinstance(value, str) and value in WEIGHTS:
        return WEIGHTS[value]()
    names = ", ".join(map(repr, WEIGHTS))
    raise ValueError(
        f"weights={value!r} is not allowed: choose one of {names}, or pass an object such as "
        "SSGLD(step=0.1)"
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class SSGRLD(Settings):
    r"""Stochastic subgradient Riemannian Langevin dynamics, in minibatches of documents.

    Every minibatch assigns its words to topics by Gibbs sweeps, moves the weights along the
    subgradient of its hinges, and renews a share of the topics from its counts.

    Parameters
    ----------
    n_passes : int or None
        Passes over the documents; None: 6, and 150 minibatches at least.
    batch_size : int
        Documents in a minibatch; the first are smaller (an eighth), growing to this size.
    n_sweeps : int
        Gibbs sweeps over the words of a minibatch, of which the first third is discarded.
    topics : {"sgrld", "scir"}
        How topics move: Langevin steps, or the flow without discretisation error, whose cost does
        not depend on the vocabulary.
    topic_step : float
        Share of the topics that the first minibatches renew; it falls as their number to the power
        0.85 ("ovr": 0.6).
    weights : {"ssgld", "ssgnht"} or object
        How weights move: Langevin steps, or a thermostat, whose draws are not widened by the noise
        of minibatches. It takes over from Langevin steps after 60 minibatches, or four tenths of
        those of a fit. ``SSGLD(step=h)`` and ``SSGNHT(step=h)`` of :mod:`bayesmargin.samplers` say
        how far. Left out, :math:`h^2 = 2 \ell / (C D)` for Langevin steps and a corpus of D
        documents; a thermostat learns from gradients how far each weight may move, and with a step
        moves all alike.
    n_documents : int or None
        Size of the corpus that ``partial_fit`` sees a part of; None is the number seen so far, and
        where no ``fit`` came before 10,000 at least.

    Examples
    --------
    >>> from bayesmargin.models.medlda import SSGRLD, MedLDAClassifier
    >>> MedLDAClassifier(sampler=SSGRLD(n_passes=3, weights="ssgnht"))
    MedLDAClassifier(sampler=SSGRLD(n_passes=3, weights='ssgnht'))
    """

    n_passes: int | None = None
    batch_size: int = 256
    n_sweeps: int = 5
    topics: str = "sgrld"
    topic_step: float = 1.0
    weights: Any = "ssgld"
    n_documents: int | None = None
    short_forms: ClassVar[ShortForms] = {"weights": weights_of}

    def __post_init__(self) -> None:
        require_counts(n_passes=self.n_passes)
        require_count("batch_size", self.batch_size, 1)
        require_count("n_sweeps", self.n_sweeps, 1)
        require_choice("topics", self.topics, ("sgrld", "scir"))
        require_given(topic_step=self.topic_step)
        require_positive(n_documents=self.n_documents)
        weights_of(self.weights)


@dataclass(frozen=True, kw_only=True, repr=False)
class CollapsedGibbs(Settings):
    """Collapsed Gibbs sampling of all words, with the hinge as a mixture of Gaussians: exact.

    Parameters
    ----------
    n_passes : int or None
        Sweeps over the documents; None: 60.

    Examples
    --------
    >>> from bayesmargin.models.medlda import CollapsedGibbs, MedLDAClassifier
    >>> MedLDAClassifier(sampler=CollapsedGibbs(n_passes=100)).sampler.n_passes
    100
    """

    n_passes: int | None = None

    def __post_init__(self) -> None:
        require_counts(n_passes=self.n_passes)


@dataclass(frozen=True, kw_only=True, repr=False)
class PassiveAggressive(Settings):
    """Online Bayesian passive-aggressive learning: every document is absorbed once, or few times.

    Parameters
    ----------
    n_passes : int or None
        Passes over the documents; None: 1.
    batch_size : int
        Documents in a minibatch; the first are smaller (an eighth), growing to this size.
    n_sweeps : int
        Gibbs sweeps over the words of a minibatch.
    n_documents : int or None
        Size of the corpus that ``partial_fit`` sees a part of, as for :class:`SSGRLD`; the default
        spread of the weights depends on it.

    Examples
    --------
    >>> from bayesmargin.models.medlda import MedLDAClassifier, PassiveAggressive
    >>> MedLDAClassifier(sampler=PassiveAggressive(batch_size=64)).sampler.batch_size
    64
    """

    n_passes: int | None = None
    batch_size: int = 256
    n_sweeps: int = 5
    n_documents: int | None = None

    def __post_init__(self) -> None:
        require_counts(n_passes=self.n_passes)
        require_count("batch_size", self.batch_size, 1)
        require_count("n_sweeps", self.n_sweeps, 1)
        require_positive(n_documents=self.n_documents)


SAMPLERS: Mapping[str, Any] = {"ssgrld": SSGRLD, "gibbs": CollapsedGibbs, "pa": PassiveAggressive}


def sampler_of(value: Any) -> Any:
    """Settings of a way to learn, for an object or a name.

    Examples
    --------
    >>> from bayesmargin.models.medlda.samplers import sampler_of
    >>> sampler_of("gibbs")
    CollapsedGibbs()
    """
    if isinstance(value, tuple(SAMPLERS.values())):
        return value
    if isinstance(value, str) and value in SAMPLERS:
        return SAMPLERS[value]()
    names = ", ".join(map(repr, SAMPLERS))
    raise ValueError(
        f"sampler={value!r} is not allowed: choose one of {names}, or pass an object such as "
        "SSGRLD(batch_size=128)"
    )


def name_of(sampler: Any) -> str:
    """The name that such settings are those of.

    Examples
    --------
    >>> from bayesmargin.models.medlda.samplers import CollapsedGibbs, name_of
    >>> name_of(CollapsedGibbs(n_passes=3))
    'gibbs'
    """
    return next(name for name, kind in SAMPLERS.items() if isinstance(sampler, kind))
