"""Parameters of estimators: settings objects, short forms of them, paths, and names of before."""

import inspect
import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from bayesmargin.foundation.settings import PATH, MissingSettingError, ShortForms, changed


class ParametersMixin(BaseEstimator):
    """Estimators whose settings stand in a few objects.

    ``set_params(components__scatter=1.0)``, a grid over ``components__scatter`` and
    ``InfiniteSVC(components__scatter=1.0)`` replace one setting of an object, whether the parameter
    holds the object or a short form of it.
    """

    short_forms: ClassVar[ShortForms] = {}
    """By the name of a parameter: what makes a settings object of what it holds."""

    former_names: ClassVar[Mapping[str, str]] = {}
    """Names that parameters had before, and the paths of these settings now."""

    __signature__: ClassVar[inspect.Signature]
    """What an estimator is made of. Programs that read it set every parameter that stands there:
    paths and names of before, which ``__init__`` takes beside these, are none."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        of_init = list(inspect.signature(cls.__init__).parameters.values())[1:]
        named = [one for one in of_init if one.kind is not one.VAR_KEYWORD]
        cls.__signature__ = inspect.Signature(named)

    def set_params(self, **params: Any) -> Self:
        """Change parameters, or settings inside them by paths such as ``sampler__step``."""
        self._set(params, stacklevel=3)
        return self

    def _take(self, more: Mapping[str, Any]) -> None:
        """Take what ``__init__`` was given beside its parameters: paths, and names of before."""
        for name in more:
            if name not in self.former_names and PATH not in name:
                kind = type(self).__name__
                raise TypeError(f"{kind}.__init__() got an unexpected keyword argument {name!r}")
        if more:
            self._set(more, stacklevel=4)

    def _set(self, params: Mapping[str, Any], stacklevel: int) -> None:
        former = {name: value for name, value in params.items() if name in self.former_names}
        now = {name: value for name, value in params.items() if name not in former}
        if former:
            told = ", ".join(f"{name} is {self.former_names[name]}" for name in former)
            warnings.warn(
                f"settings of {type(self).__name__} have other names: {told}; the former ones are "
                "taken until version 0.3",
                DeprecationWarning,
                stacklevel=stacklevel,
            )
        inside = {path: value for path, value in now.items() if PATH in path}
        self._put({name: value for name, value in now.items() if name not in inside})
        self._set_former(former)
        self._put(inside)

    def _set_former(self, former: Mapping[str, Any]) -> None:
        """Settings by the names of before; those that mean nothing to a sampler never did."""
        for name, path in self.former_names.items():
            if name not in former:
                continue
            with suppress(MissingSettingError):
                self._put({path: former[name]})

    def _put(self, params: Mapping[str, Any]) -> None:
        for name, value in changed(self, params).items():
            setattr(self, name, value)

    @classmethod
    def of_settings(cls, settings: Mapping[str, Any]) -> Self:
        """An estimator of stored settings, be their names those of now or of before."""
        former = {name: value for name, value in settings.items() if name in cls.former_names}
        made = cls(**{name: value for name, value in settings.items() if name not in former})
        made._set_former(former)
        return made
