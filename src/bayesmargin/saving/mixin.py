"""What all estimators share: saving, and the checkpoint around a fit."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bayesmargin.arguments import require_positive
from bayesmargin.saving.checkpoint import Checkpoint, NoCheckpoint
from bayesmargin.saving.fingerprint import data_fingerprint, settings_fingerprint


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
        from bayesmargin.saving.models import write_model

        write_model(self, path)

    @contextmanager
    def _checkpointing(self, *data: Any) -> Iterator[Checkpoint | NoCheckpoint]:
        """The checkpoint of a fit on ``data``, removed when the fit is complete."""
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
        if not checkpoint.stopped:
            checkpoint.remove()
