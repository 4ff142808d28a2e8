"""A fit that fails does not leave the halves of two models behind."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

from bayesmargin.models.callbacks import telling_callbacks

# What set_output, set_fit_request and set_callbacks leave on an estimator, and the meta-estimator
# around it, which takes its part away again when the fit has ended.
_SETTINGS = ("_sklearn", "_metadata", "_skl_callbacks", "_parent_callback_ctx")


@contextmanager
def all_or_nothing(model: Any) -> Iterator[Callable[[], None]]:
    """Take back what a fit that fails has begun to write down.

    Data or settings that are refused (ValueError, TypeError) leave the model as it was. A fit that
    ends in another way, by Ctrl-C for instance, leaves one that is not fitted: its settings may not
    be those of an earlier fit any more. Calling what ``with`` gives says that the model is whole:
    what fails from there on costs nothing. Callbacks of the model hear of the fit.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from bayesmargin.models.all_or_nothing import all_or_nothing
    >>> model = SimpleNamespace(C=1.0, classes_=["cat", "dog"])
    >>> with all_or_nothing(model):
    ...     model.classes_ = ["cat"]
    ...     raise ValueError("one class")
    Traceback (most recent call last):
        ...
    ValueError: one class
    >>> model
    namespace(C=1.0, classes_=['cat', 'dog'])
    """
    before, whole = dict(vars(model)), Event()
    try:
        with telling_callbacks(model):
            yield whole.set
    except BaseException as error:
        if not isinstance(error, ValueError | TypeError):
            before = {name: part for name, part in before.items() if not _is_learned(name)}
        if not whole.is_set():
            vars(model).clear()
            vars(model).update(before)
        raise


def _is_learned(name: str) -> bool:
    """Whether an attribute is of a fit, and neither a parameter nor a user's own."""
    return name.endswith("_") or (name.startswith("_") and not name.startswith(_SETTINGS))
