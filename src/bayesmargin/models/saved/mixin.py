"""What all estimators share: saving, and the checkpoint around a fit."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from bayesmargin.foundation.arguments import require_positive
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


class SavedMixin:
    """Estimators that can be saved without pickle, and go on after a crash."""

    checkpoint: Any
    checkpoint_every: float
    random_state: Any

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
        require_positive(checkpoint_every=self.checkpoint_every)
        if self.checkpoint is None:
            yield NoCheckpoint(self.random_state)
            return
        if not isinstance(self.checkpoint, str | os.PathLike):
            raise ValueError(
                f"checkpoint={self.checkpoint!r} is not allowed: it is the path of a folder"
            )
        if self.checkpoint_every is None:
            raise ValueError("checkpoint_every=None is not allowed: it is a number of seconds")
        checkpoint = Checkpoint(
            self.checkpoint,
            self.checkpoint_every,
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
