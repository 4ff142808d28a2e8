"""Settings that users write as objects: frozen, and set by paths such as ``sampler__step``."""

import copy
import dataclasses
import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

PATH = "__"

ShortForms = Mapping[str, Callable[[Any], Any]]


class MissingSettingError(ValueError):
    """A setting was named that is not there."""


class Settings:
    """Base of frozen dataclasses with the two methods that scikit-learn's tools ask for.

    An object never changes: ``set_params`` gives another one, which the estimator puts in its
    place. So an object may be shared by estimators, and is its own clone.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from bayesmargin.foundation.settings import Settings
    >>> @dataclass(frozen=True, kw_only=True, repr=False)
    ... class Walk(Settings):
    ...     step: float = 0.1
    ...     passes: int = 3
    >>> walk = Walk(passes=5)
    >>> walk.set_params(step=0.2)
    Walk(step=0.2, passes=5)
    >>> walk
    Walk(passes=5)
    """

    short_forms: ClassVar[ShortForms] = {}
    """By the name of a setting that holds settings: what makes an object of what was written."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Settings by name, and with ``deep`` those inside of them by paths."""
        if not dataclasses.is_dataclass(self):
            return {}
        found = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        inner = {name: value for name, value in found.items() if isinstance(value, Settings)}
        for name, value in inner.items() if deep else ():
            found |= {f"{name}{PATH}{key}": part for key, part in value.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """The same with some settings changed, by names or paths; this object stays as it is."""
        made: Any = dataclasses.replace(self, **changed(self, params))  # type: ignore[type-var]
        return made

    def __sklearn_clone__(self) -> Self:
        return self if dataclasses.is_dataclass(self) else copy.deepcopy(self)

    def __repr__(self) -> str:
        if not dataclasses.is_dataclass(self):
            return object.__repr__(self)
        told = {field.name: field for field in dataclasses.fields(self)}
        parts = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if told[name].default is not value and told[name].default != value
        ]
        return f"{type(self).__name__}({', '.join(parts)})"


def changed(owner: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """New values of parameters of ``owner``, where some are named and parts of others by paths.

    Raises
    ------
    MissingSettingError
        For a name that is not there.
    """
    known = owner.get_params(deep=False)
    values = {name: value for name, value in params.items() if PATH not in name}
    inside: dict[str, dict[str, Any]] = {}
    for path, value in params.items():
        name, separator, rest = path.partition(PATH)
        if separator:
            inside.setdefault(name, {})[rest] = value
    for name in [*values, *inside]:
        if name not in known:
            raise MissingSettingError(_unknown(owner, name, list(known)))
    for name, parts in inside.items():
        held = values.get(name, known[name])
        make = owner.short_forms.get(name)
        settings = make(held) if make is not None else held
        if not isinstance(settings, Settings):
            raise MissingSettingError(
                f"{name}={held!r} has no setting {next(iter(parts))!r}: set {name} to an object "
                "that has"
            )
        values[name] = settings.set_params(**parts)
    return values


def _unknown(owner: Any, name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    guess = f"did you mean {close[0]}?" if close else f"there are {', '.join(known) or 'none'}"
    return f"{type(owner).__name__} has no setting {name}: {guess}"


def require_only(settings: Settings, names: Sequence[str], reader: str) -> None:
    """Refuse settings that differ from their defaults and are none of those that are read.

    Examples
    --------
    >>> from bayesmargin.foundation.settings import require_only
    >>> from bayesmargin.samplers import SSGNHT
    >>> require_only(SSGNHT(step=0.1, diffusion=2.0), ["step"], "the weights of an expert")
    Traceback (most recent call last):
    ...
    ValueError: SSGNHT(diffusion=2.0) is not allowed here: the weights of an expert read step alone
    """
    kind: Any = type(settings)
    for field in dataclasses.fields(kind):
        value = getattr(settings, field.name)
        if field.name in names or value is field.default or value == field.default:
            continue
        raise ValueError(
            f"{kind.__name__}({field.name}={value!r}) is not allowed here: {reader} read "
            f"{', '.join(names) or 'none'} alone"
        )
