"""scikit-learn's callbacks hear of a fit: each of its stages is a task, made of as many steps.

From scikit-learn 1.9 on ``model.set_callbacks(ProgressBar()).fit(X, y)`` shows our fits like those
of its own estimators, alone or inside a search. A callback's wish to stop is not heeded: Ctrl-C is
the way to stop a fit that keeps its draws.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from bayesmargin.running.progress import Progress, progress_for, watched_rows, watching

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback._callback_support import callback_management_context
except ImportError:  # before scikit-learn 1.9
    CallbackSupportMixin, callback_management_context = object, None

MOST_STEPS = 100  # of a stage: a bar need not know every draw

__all__ = ["CallbackSupportMixin", "telling_callbacks"]


@contextmanager
def telling_callbacks(model: Any) -> Iterator[None]:
    """Tell the callbacks of an estimator, if it has any, how the fit inside goes on."""
    if callback_management_context is None or not getattr(model, "_skl_callbacks", ()):
        yield
        return
    with callback_management_context(model):
        root = model._init_callback_context(max_subtasks=None)
        root.call_on_fit_task_begin(estimator=model)
        tasks = StagesAsTasks(model, root, progress_for(model.verbose))
        with watching(tasks, watched_rows()):
            yield
        tasks.end_stage()
        root.call_on_fit_task_end(estimator=model)


class StagesAsTasks:
    """A display that hands on to another, and makes tasks of the stages on the way."""

    shown = True

    def __init__(self, model: Any, root: Any, display: Progress) -> None:
        self._model, self._root, self._display = model, root, display
        self._name = ""
        self._stage: Any = None
        self._steps = self._told = 0

    def update(self, stage: str, done: int, total: int, detail: str) -> None:
        """Tell as many steps as are new."""
        self._display.update(stage, done, total, detail)
        if self._stage is None or stage != self._name:
            self.end_stage()
            self._name, self._told = stage, 0
            self._steps = max(1, min(total, MOST_STEPS))
            self._stage = self._root.subcontext(task_name=stage, max_subtasks=self._steps)
            self._stage.call_on_fit_task_begin(estimator=self._model)
        reached = min(self._steps, self._steps * done // max(1, total))
        for _ in range(self._told, reached):
            step = self._stage.subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=self._model)
            step.call_on_fit_task_end(estimator=self._model)
        self._told = max(self._told, reached)

    def end_stage(self) -> None:
        """Tell that the present stage is over."""
        if self._stage is not None:
            self._stage.call_on_fit_task_end(estimator=self._model)
            self._stage = None

    def __enter__(self) -> "StagesAsTasks":
        self._display.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._display.__exit__(kind, error, trace)
