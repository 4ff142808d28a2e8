"""What all estimators share: saving."""

from typing import Any


class SavedMixin:
    """Estimators that can be saved without pickle."""

    def save(self, path: Any) -> None:
        """Save the fitted model as a folder without pickle; :func:`bayesmargin.load` reads it.

        Parameters
        ----------
        path : path-like
            Folder to write. A saved model that is there is replaced when the new one is whole.
        """
        from bayesmargin.saving.models import write_model

        write_model(self, path)
