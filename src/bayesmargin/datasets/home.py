"""Where data files lie: the data home, finding a file in it, fetching one that is missing."""

import contextlib
import logging
import os
from pathlib import Path

from bayesmargin.datasets.registry import ADVICE, PARTS, SOURCES, Source

_logger = logging.getLogger("bayesmargin.datasets")


class DataNotFoundError(FileNotFoundError):
    """A file of a data set is neither on this machine nor could it be downloaded."""


class ChecksumError(ValueError):
    """A downloaded file is not the one whose checksum is on record; it was not kept."""


def _shared_folder() -> Path | None:
    """Return ``shared/data`` of a source checkout or of a folder that holds it, if there is one.

    Looking above the checkout too lets linked work trees share one copy of the data.
    """
    above = Path(__file__).resolve().parents
    checkout = next((folder for folder in above if (folder / "pyproject.toml").is_file()), None)
    if checkout is None:
        return None
    candidates = (folder / "shared" / "data" for folder in (checkout, *checkout.parents))
    return next((folder for folder in candidates if folder.is_dir()), None)


def data_homes(data_home: str | os.PathLike[str] | None = None) -> list[Path]:
    """Folders searched for data, in order; downloads go to the last one.

    Parameters
    ----------
    data_home : path, optional
        The only folder to search. Without it the folder named by the environment variable
        ``BAYESMARGIN_DATA`` is the only one; without that, ``shared/data`` beside a source checkout
        (read only, nothing is ever downloaded there) and ``~/bayesmargin_data``.

    Examples
    --------
    >>> from bayesmargin.datasets import data_homes
    >>> [folder.name for folder in data_homes("my_data")]
    ['my_data']
    """
    chosen = data_home or os.environ.get("BAYESMARGIN_DATA")
    if chosen:
        return [Path(chosen).expanduser()]
    shared = _shared_folder()
    own = Path.home() / "bayesmargin_data"
    return [own] if shared is None else [shared, own]


def find_path(relative: str, data_home: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the first file ``relative`` in the data homes, or None."""
    paths = (home / relative for home in data_homes(data_home))
    return next((path for path in paths if path.is_file()), None)


def find_part(name: str, part: str, data_home: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the file that serves ``part`` of data set ``name``, or None; never downloads."""
    found = (find_path(relative, data_home) for relative in PARTS[name][part])
    return next((path for path in found if path is not None), None)


def available(name: str, *, data_home: str | os.PathLike[str] | None = None) -> bool:
    """Say whether every file of a data set is on this machine; never downloads.

    Parameters
    ----------
    name : str
        Name of the loader without ``fetch_``, or ``"higgs_full"`` for ``fetch_higgs(full=True)``.
    data_home : path, optional
        As in the loaders.

    Examples
    --------
    >>> from bayesmargin.datasets import available
    >>> available("ijcnn1", data_home="no/such/folder")
    False
    """
    key = name.removeprefix("fetch_")
    if key not in PARTS:
        raise ValueError(f"no data set is called {name!r}; there are {', '.join(sorted(PARTS))}")
    return all(find_part(key, part, data_home) is not None for part in PARTS[key])


def locate(
    name: str, part: str, data_home: str | os.PathLike[str] | None, download_if_missing: bool
) -> Path:
    """Return the file that serves ``part`` of ``name``, downloaded first when that is needed."""
    found = find_part(name, part, data_home)
    if found is not None:
        return found
    public = next((path for path in PARTS[name][part] if path in SOURCES), None)
    homes = data_homes(data_home)
    if public is None:
        raise _not_found(name, part, homes, ADVICE[name])
    source = SOURCES[public]
    if not download_if_missing:
        raise _not_found(
            name, part, homes, f"pass download_if_missing=True, or save {source.url} there"
        )
    target = homes[-1] / public
    try:
        return download(source, target)
    except ImportError as error:
        advice = f'pip install "bayesmargin[data]" (pooch), or save {source.url} as {target}'
        raise _not_found(name, part, homes, advice) from error
    except OSError as error:
        advice = f"{source.url} could not be saved as {target} ({error}); save it there yourself"
        raise _not_found(name, part, homes, advice) from error


def _not_found(name: str, part: str, homes: list[Path], advice: str) -> DataNotFoundError:
    files = " or ".join(PARTS[name][part])
    looked = ", ".join(str(home) for home in homes)
    return DataNotFoundError(
        f"data set {name!r}, part {part!r}: no file {files} in {looked}. What to do: {advice}. "
        "Another folder: the argument data_home or the environment variable BAYESMARGIN_DATA."
    )


def download(source: Source, target: Path) -> Path:
    """Download ``source`` to ``target``; a file with the wrong checksum is never left there.

    Without a checksum on record the hash of what came is logged and kept in ``NAME.sha256``, so
    that two machines can compare what they were given.
    """
    import pooch

    _logger.info("downloading %s to %s", source.url, target)
    known_hash = None if source.sha256 is None else f"sha256:{source.sha256}"
    new = [folder for folder in target.parents if not folder.exists()]
    try:
        pooch.retrieve(source.url, known_hash, fname=target.name, path=target.parent)
    except ValueError as error:
        raise ChecksumError(
            f"{source.url} is not the file on record (SHA-256 {source.sha256}) and was not kept: "
            f"{error}. It was changed at the source or damaged on the way; try again, or save a "
            f"copy you trust as {target}"
        ) from error
    finally:
        for folder in new:  # the innermost first; one that holds the file stays
            with contextlib.suppress(OSError):
                folder.rmdir()
    if source.sha256 is None:
        digest = pooch.file_hash(str(target), alg="sha256")
        _logger.warning("%s has no checksum on record; its SHA-256 is %s", source.url, digest)
        note = target.with_name(target.name + ".sha256")
        note.write_text(f"{digest}  {target.name}\n", encoding="utf-8")
    return target
