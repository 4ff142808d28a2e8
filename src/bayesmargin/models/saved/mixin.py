"""What all estimators share: saving, and the checkpoint around a fit."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar

from bayesmargin.foundation.settings import ShortForms
from bayesmargin.models.callbacks import CallbackSupportMixin
from bayesmargin.models.parameters import ParametersMixin
from bayesmargin.models.saved.checkpoint import checkpoint_of
from bayesmargin.running.checkpoint import Checkpoint, NoCheckpoint
from bayesmargin.saving.fingerprint import data_fingerprint, settings_fingerprint

_complete: ContextVar[list[Checkpoint] | None] = ContextVar("complete", default=None)


@contextmanager
def checkpoints_outlive_fits() -> Iterator[None]:
    """Keep the checkpoints of complete fits until the block has ended well.

    Whoever saves the model inside it loses nothing to a crash between the fit and the saved model.
    """
    before = _complete.set([])
    try:
        yield
        for checkpoint in _complete.get() or ():
            checkpoint.remove()
    finally:
        _complete.reset(before)


class SavedMixin(CallbackSupportMixin, ParametersMixin):
    """Estimators that can be saved without pickle, and go on after a crash."""

    checkpoint: Any
    random_state: Any
    short_forms: ClassVar[ShortForms] = {"checkpoint": checkpoint_of}
    former_names: ClassVar[Mapping[str, str]] = {"checkpoint_every": "checkpoint__every"}

    def save(self, path: Any) -> None:
        """Save the fitted model as a folder without pickle; :func:`bayesmargin.load` reads it.

        Parameters
        ----------
        path : path-like
            Folder to write. A saved model that is there is replaced when the new one is whole.
        """
        from bayesmargin.models.saved.folders import write_model

        write_model(self, path)

    @contextmanager
    def _checkpointing(self, *data: Any) -> Iterator[Checkpoint | NoCheckpoint]:
        """The checkpoint of a fit on ``data``, removed when the fit is complete.

        Or later, see :func:`checkpoints_outlive_fits`.
        """
        wanted = checkpoint_of(self.checkpoint)
        if wanted is None:
            yield NoCheckpoint(self.random_state)
            return
        checkpoint = Checkpoint(
            wanted.path,
            wanted.every,
            data_fingerprint(data),
            settings_fingerprint(self),
            self.random_state,
        )
        with checkpoint.watching():
            yield checkpoint
        if checkpoint.stopped:
            return
        waiting = _complete.get()
        if waiting is None:
            checkpoint.remove()
        else:
            waiting.append(checkpoint)
