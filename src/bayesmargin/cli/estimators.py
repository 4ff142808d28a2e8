"""An estimator from flags: the model, its common options, and every other one by ``--set``."""

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bayesmargin.cli.failures import usage_error
from bayesmargin.foundation.settings import PATH
from bayesmargin.models.registry import MODELS, WORDS

OURS = {  # settings that have a flag of their own because the command needs to know them
    "random_state": "--seed",
    "checkpoint": "--checkpoint",
    "checkpoint_every": "--checkpoint-every",
    "checkpoint__every": "--checkpoint-every",
    "verbose": "--quiet",
}


@dataclass(frozen=True)
class ModelFlags:
    """What the command line says about the model."""

    model: str
    seed: int
    flags: dict[str, Any]
    settings: tuple[str, ...] = ()


def make_estimator(asked: ModelFlags, checkpoint: str | None, every: float | None) -> Any:
    """The estimator that was asked for, not yet fitted.

    Examples
    --------
    >>> from bayesmargin.cli.estimators import ModelFlags, make_estimator
    >>> asked = ModelFlags("linear", 0, {"C": 2.0}, ('prior=laplace', "n_draws=50"))
    >>> make_estimator(asked, None, None)
    BayesianLinearSVC(C=2.0, n_draws=50, prior='laplace', random_state=0)
    """
    if asked.model not in WORDS:
        raise usage_error(f"--model {asked.model} is not known: choose one of {', '.join(WORDS)}")
    kind, words = WORDS[asked.model].load(), WORDS[asked.model].flags
    known = kind().get_params(deep=False)
    settings: dict[str, Any] = {"random_state": asked.seed}
    for flag, value in asked.flags.items():
        if value is None:
            continue
        if flag not in words:
            raise usage_error(f"--{flag} means nothing to --model {asked.model}")
        settings[words[flag]] = value
    chosen = parse_settings(asked.settings, [*known, *kind.former_names], asked.model)
    for flag, name in words.items():
        if name in chosen and asked.flags.get(flag) is not None:
            raise usage_error(f"--{flag} and --set {name} are the same setting: leave one out")
    settings |= chosen
    if checkpoint is not None:
        settings["checkpoint"] = checkpoint
        if every is not None:
            settings["checkpoint__every"] = every
    paths = dict(pair for name, value in settings.items() for pair in _paths(name, value))
    try:
        return kind(**paths)
    except (TypeError, ValueError) as error:
        raise usage_error(f"--model {asked.model}: {error}") from error


def require_allowed(estimator: Any) -> None:
    """Refuse values that the estimator would refuse, before data are read for it."""
    try:
        MODELS[type(estimator).__name__].check_settings(estimator)
    except ValueError as error:
        raise usage_error(" ".join(str(error).split())) from error


def parse_settings(given: Sequence[str], known: Sequence[str], model: str) -> dict[str, Any]:
    """Settings from words such as ``prior=laplace``; values are JSON, or else words."""
    settings: dict[str, Any] = {}
    for word in given:
        name, equals, text = word.partition("=")
        name = name.strip()
        if not equals or not name:
            raise usage_error(f"--set {word} is not NAME=VALUE")
        if name.partition(PATH)[0] not in known:
            close = difflib.get_close_matches(name, known, 1)
            guess = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(known)}"
            raise usage_error(f"--set {name}: --model {model} has no such setting{guess}")
        if name in OURS:
            raise usage_error(f"--set {name}: use {OURS[name]} instead")
        if name in settings:
            raise usage_error(f"--set {name} is given twice: leave one out")
        settings[name] = value_of(text)
    return settings


def value_of(text: str) -> Any:
    """A JSON value, or the text itself when it is none."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _paths(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A setting by its path, and of an object in JSON all those inside of it.

    ``{"name": "ssgld", "step": 0.1}`` is the object that "ssgld" stands for with another step.
    """
    if not isinstance(value, dict):
        yield name, value
        return
    for key, part in value.items():
        if key == "name":
            yield name, part
        else:
            yield from _paths(f"{name}{PATH}{key}", part)
