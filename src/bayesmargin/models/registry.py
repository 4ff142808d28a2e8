"""The models of the library: one entry each, with all that others need to know of a model.

Saving, the report and the command line read this table and import no model. An entry names modules
and functions as text, which are imported when they are asked for, so that the table costs nothing.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from bayesmargin.saving.classes import Stored


class SavedParts(Protocol):
    """What a file of :mod:`bayesmargin.models.saved` brings for the models of one kind."""

    CLASSES: dict[str, Stored]
    """Classes that such a model may hold, by the keys that stand for them in files."""

    def layout(self, model: Any) -> Any:
        """Its draws: variables of the file of draws, and where in it which array lies."""

    def check(self, model: Any, features: int) -> None:
        """Raise ``SavedModelError`` where parts of a loaded model do not fit each other."""


class Model(NamedTuple):
    """One model, as saving, the report and the command line see it."""

    name: str  #: of the class
    module: str  #: where the class lives
    word: str  #: that ``bayesmargin fit --model`` takes
    summary: str  #: what it is, in a sentence for people
    report: str  #: which kind of report it gets: linear, values, topics, infinite, or its own
    flags: Mapping[str, str]  #: flags of the command line, and the settings that they are
    checks: str  #: ``module:function`` that refuses settings which are not allowed
    saved: str  #: module of its :class:`SavedParts`
    #: what it predicts: ``classes`` or ``values`` of rows, or the ``items`` that a table tells of
    answers: str = "classes"
    sparse: bool = False  #: whether it reads sparse matrices
    piecewise: bool = False  #: whether it reads rows piece by piece from files
    counts: bool = False  #: whether its features are counts, of words say
    modal: bool = True  #: whether the class it predicts is always the most probable one

    def load(self) -> Any:
        """The class."""
        found: Any = getattr(import_module(self.module), self.name)
        return found

    def check_settings(self, estimator: Any) -> None:
        """Raise ``ValueError`` for settings that are not allowed, before data are read."""
        module, _, function = self.checks.partition(":")
        getattr(import_module(module), function)(estimator)

    def saved_parts(self) -> SavedParts:
        """What saving knows of it."""
        parts: Any = import_module(self.saved)
        return parts


_MODELS, _SAVED = "bayesmargin.models", "bayesmargin.models.saved"
_USUAL = {"C": "C", "chains": "n_chains", "draws": "n_draws", "n-jobs": "n_jobs"}
_REGRESSION: dict[str, Any] = {
    "report": "values",
    "flags": {**_USUAL, "sampler": "sampler"},
    "saved": f"{_SAVED}.regression",
    "answers": "values",
    "sparse": True,
    "piecewise": True,
}

_ENTRIES = (
    Model(
        name="BayesianLinearSVC",
        module=f"{_MODELS}.linear.classifier",
        word="linear",
        summary="A linear support vector machine whose weights have a posterior distribution: "
        "every answer is an average over many plausible separating planes.",
        report="linear",
        flags={**_USUAL, "sampler": "sampler"},
        checks=f"{_MODELS}.settings:check_linear_settings",
        saved=f"{_SAVED}.linear",
        sparse=True,
        piecewise=True,
        modal=False,
    ),
    Model(
        name="BayesianSVC",
        module=f"{_MODELS}.kernel.classifier",
        word="svc",
        summary="A support vector machine with a kernel whose scores have a posterior "
        "distribution: every answer is an average over many plausible separating surfaces.",
        report="kernel",
        flags={**_USUAL, "sampler": "sampler"},
        checks=f"{_MODELS}.kernel.settings:check_kernel_settings",
        saved=f"{_SAVED}.kernel",
        piecewise=True,
        modal=True,
    ),
    Model(
        name="BayesianLinearSVR",
        module=f"{_MODELS}.regression.svr",
        word="svr",
        summary="A linear support vector regression whose weights have a posterior distribution: "
        "values inside a tube cost nothing, and outliers do little.",
        checks=f"{_MODELS}.regression.settings:check_svr_settings",
        **_REGRESSION,
    ),
    Model(
        name="BayesianQuantileRegressor",
        module=f"{_MODELS}.regression.quantiles",
        word="quantile",
        summary="A linear quantile regression whose weights have a posterior distribution: lines "
        "below which given shares of the values lie.",
        checks=f"{_MODELS}.regression.settings:check_quantile_settings",
        **_REGRESSION,
    ),
    Model(
        name="MedLDAClassifier",
        module=f"{_MODELS}.medlda.classifier",
        word="medlda",
        summary="A topic model that learns topics and a max-margin classifier on them together, "
        "so that topics are those that tell the classes apart.",
        report="topics",
        flags={**_USUAL, "sampler": "sampler", "topics": "n_topics"},
        checks=f"{_MODELS}.medlda.parameters:check_parameters",
        saved=f"{_SAVED}.medlda",
        sparse=True,
        counts=True,
    ),
    Model(
        name="InfiniteSVC",
        module=f"{_MODELS}.infinite_svc.classifier",
        word="infinite",
        summary="A mixture of linear max-margin experts, each responsible for a part of the "
        "feature space; the data choose how many there are.",
        report="infinite",
        flags={**_USUAL, "sampler": "sampler"},
        checks=f"{_MODELS}.infinite_svc.settings:check_settings",
        saved=f"{_SAVED}.infinite_svc",
    ),
    Model(
        name="DPMNLClassifier",
        module=f"{_MODELS}.dpmnl.classifier",
        word="dpmnl",
        summary="A mixture of multinomial logit models, each responsible for a part of the "
        "feature space; the data choose how many there are.",
        report="infinite",
        flags={"draws": "n_draws"},
        checks=f"{_MODELS}.dpmnl.settings:check_settings",
        saved=f"{_SAVED}.dpmnl",
    ),
    Model(
        name="MaxMarginVoting",
        module=f"{_MODELS}.crowd.voting",
        word="crowd",
        summary="A vote of many workers on the label of each item, with a weight for every "
        "worker, negative for those who are mostly wrong, and a table of what they confuse.",
        report="crowd",
        flags={**_USUAL, "sampler": "sampler"},
        checks=f"{_MODELS}.crowd.settings:check_settings",
        saved=f"{_SAVED}.crowd",
        answers="items",
    ),
    Model(
        name="MaxMarginFactorization",
        module=f"{_MODELS}.ratings.factorization",
        word="ratings",
        summary="A factorization of the ratings that users give to items: scores of biases and "
        "factors, and thresholds of every user between which a rating wants its score to be.",
        report="ratings",
        flags={**_USUAL, "sampler": "sampler", "factors": "n_factors"},
        checks=f"{_MODELS}.ratings.settings:check_settings",
        saved=f"{_SAVED}.ratings",
        answers="items",
    ),
    Model(
        name="MaxMarginLinks",
        module=f"{_MODELS}.links.estimator",
        word="links",
        summary="Links between entities, symmetric or directed, of one or several relations, by "
        "binary features that nobody has seen; the data choose how many there are.",
        report="links",
        flags={**_USUAL, "sampler": "sampler"},
        checks=f"{_MODELS}.links.settings:check_settings",
        saved=f"{_SAVED}.links",
        answers="items",
    ),
)

MODELS: dict[str, Model] = {model.name: model for model in _ENTRIES}
"""By the name of the class."""

WORDS: dict[str, Model] = {model.word: model for model in _ENTRIES if model.answers != "items"}
"""By the word of ``bayesmargin fit --model``; models of items have commands of their own."""


def model_of(estimator: Any) -> Model | None:
    """Entry of the model that an estimator is, or derives from; None where it is none of them.

    Examples
    --------
    >>> from bayesmargin import InfiniteSVC
    >>> from bayesmargin.models.registry import model_of
    >>> model_of(InfiniteSVC()).word
    'infinite'
    """
    for ancestor in type(estimator).__mro__:
        found = MODELS.get(ancestor.__name__)
        if found is not None and found.module == ancestor.__module__:
            return found
    return None
