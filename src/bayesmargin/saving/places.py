"""What a path holds before a model is saved there: nothing but a saved model is replaced."""

import os
from pathlib import Path

from bayesmargin.saving.files import unsealed

MANIFEST = "manifest.json"
_LITTER = {".DS_Store", "Thumbs.db", "desktop.ini"}  # put into every folder by file managers


def hindrance(path: Path) -> str | None:
    """Why no model can be saved at a path, said in words; None where one can.

    A saved model gives way to another, but not what somebody else has put beside it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bayesmargin.saving.places import hindrance
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     free = hindrance(Path(folder))
    ...     _ = Path(folder, "notes.txt").write_text("mine")
    ...     free, hindrance(Path(folder))
    (None, 'holds other files and no saved model')
    """
    if not path.exists():
        return None
    if not path.is_dir():
        return "is a file, and a model is saved as a folder of its own"
    if os.path.ismount(path) or _is_present(path):
        place = "the present folder" if _is_present(path) else "the root of a mounted disk"
        return f"is {place}, in which a model needs a folder of its own"
    found = {item.name for item in path.iterdir()} - _LITTER
    own = _own_files(path)
    others = sorted(found - own)
    if not others:
        return None
    if MANIFEST not in found:
        return "holds other files and no saved model"
    if not own:
        return f"holds a {MANIFEST} that is damaged or of another program"
    more = f" and {len(others) - 1} more" if len(others) > 1 else ""
    return f"holds {others[0]!r}{more} beside a saved model, which would be lost with it"


def _is_present(path: Path) -> bool:
    """Whether programs are in the folder: they would be nowhere when another takes its place."""
    try:
        return path.samefile(os.curdir)
    except OSError:  # it was taken away before
        return False


def _own_files(path: Path) -> set[str]:
    """Names of the files of a saved model; none where there is no whole one."""
    try:
        manifest = unsealed((path / MANIFEST).read_bytes())
        return {MANIFEST, *manifest["files"], *(f"{name}.npy" for name in manifest["arrays"])}
    except (OSError, ValueError, KeyError, TypeError):
        return set()
