"""Fitted models as folders: writing, and reading with every doubt turned into one clear error."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import bayesmargin
from bayesmargin.errors import SavedModelError
from bayesmargin.foundation.storage import DRAW_TYPE, MEMORY_LIMIT, draw_array
from bayesmargin.models.registry import MODELS
from bayesmargin.models.saved.requiring import is_whole, require, require_array
from bayesmargin.saving.codec import Decoder, Encoder, Place, whole
from bayesmargin.saving.files import (
    checksum,
    hashing,
    previous_of,
    read_array,
    replacing,
    sealed,
    unsealed,
    write_array,
)
from bayesmargin.saving.netcdf import fit, write_netcdf
from bayesmargin.saving.places import MANIFEST, hindrance

FORMAT = 1
DRAWS = "posterior.nc"
MAX_MANIFEST = 1 << 28
MOST_JOBS = 4096
_NAME = re.compile(r"[A-Za-z0-9_.]{1,200}")
_EXTRA = re.compile(r"[a-z][a-z0-9_]{0,60}")
_ATTRIBUTE = re.compile(r"_?[a-zA-Z][a-zA-Z0-9_]*")
_NOT_KEPT = {"_metadata_request", "_skl_callbacks", "_parent_callback_ctx"}


def write_model(estimator: Any, path: Any, extras: Mapping[str, Any] | None = None) -> None:
    """Save a fitted estimator as a folder.

    Parameters
    ----------
    estimator : a fitted estimator of this library
    path : path-like
        Folder to write; a saved model that is there already is replaced when the new one is whole,
        unless other files lie beside it.
    extras : mapping of str to JSON document, optional
        Further documents to keep with the model.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bayesmargin import DPMNLClassifier
    >>> from bayesmargin.saving import read_model, write_model
    >>> model = DPMNLClassifier(n_sweeps=4, random_state=0).fit([[0.0], [1.0], [4.0]], [0, 0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_model(model, pathlib.Path(folder, "model"), {"note": {"rows": 3}})
    ...     again, extras = read_model(pathlib.Path(folder, "model"))
    >>> again.n_sweeps, extras
    (4, {'note': {'rows': 3}})
    """
    name = type(estimator).__name__
    model = MODELS.get(name)
    if model is None or model.module != type(estimator).__module__:
        raise TypeError(f"{name} cannot be saved: only {', '.join(MODELS)} can")
    check_is_fitted(estimator)
    path = Path(path).resolve()
    why = hindrance(path)
    if why is not None:
        raise ValueError(f"{path} {why}: choose another path")
    extras = dict(extras or {})
    for key in extras:
        if not _EXTRA.fullmatch(key):
            raise ValueError(f"extras has the key {key!r}: small letters, digits and _ are allowed")
    variables, places = model.saved_parts().layout(estimator)
    encoder = Encoder(places)
    parameters = estimator.get_params(deep=False)
    settings = {key: encoder.encode(value, key) for key, value in parameters.items()}
    left_out = {*parameters, *_NOT_KEPT}
    fitted = {key: value for key, value in vars(estimator).items() if key not in left_out}
    state = {key: encoder.encode(value, key) for key, value in fitted.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as draft:
        arrays = {
            key: write_array(draft / f"{key}.npy", array) for key, array in encoder.arrays.items()
        }
        files: dict[str, Any] = {}
        with hashing(draft / DRAWS) as file:
            told = json.dumps({key: str(value) for key, value in parameters.items()})
            attrs = {
                "library": f"bayesmargin {bayesmargin.__version__}",
                "estimator": name,
                "settings": told,
            }
            offsets = write_netcdf(file, variables, attrs)
        files[DRAWS] = file.facts()
        for key, document in extras.items():
            with hashing(draft / f"{key}.json") as file:
                file.write(json.dumps(document, allow_nan=False).encode())
            files[f"{key}.json"] = file.facts()
        manifest = {
            "format": FORMAT,
            "library": bayesmargin.__version__,
            "class": name,
            "settings": settings,
            "state": state,
            "arrays": arrays,
            "draws": {
                v.name: {
                    "dtype": v.dtype.str,
                    "stored": np.dtype(v.code).newbyteorder(">").str,
                    "shape": list(v.shape),
                    "offset": offsets[v.name],
                }
                for v in variables
            },
            "files": files,
            "extras": list(extras),
        }
        with hashing(draft / MANIFEST) as file:
            file.write(sealed(manifest, indent=1))


def read_model(path: Any) -> tuple[Any, dict[str, Any]]:
    """Read a saved model; returns the estimator and the further documents saved with it.

    Nothing in the folder is executed. Checksums, shapes and types are verified before anything is
    used.

    Raises
    ------
    FileNotFoundError
        When there is nothing at the path.
    SavedModelError
        When what is there cannot be trusted.
    """
    given = Path(path)
    folder = given.resolve()
    if not folder.exists() and previous_of(folder).is_dir():
        folder = previous_of(folder)
    if not folder.exists():
        raise FileNotFoundError(f"there is no saved model at {given}")
    if not (folder / MANIFEST).is_file():
        raise SavedModelError(f"{given} is not a saved model: it has no {MANIFEST}")
    manifest: dict[str, Any] = {}
    try:
        manifest = _manifest(folder)
        return _read(folder, manifest)
    except SavedModelError as error:
        raise SavedModelError(f"{given}: {error}") from error
    except OSError as error:
        raise SavedModelError(f"{given} cannot be read: {error}") from error
    except Exception as error:
        why, advice = "is damaged or was changed", "save it again, or take another copy"
        writer = str(manifest.get("library", bayesmargin.__version__))
        if writer != bayesmargin.__version__:
            why = f"was written by bayesmargin {writer:.20} and not by {bayesmargin.__version__}"
            advice = "read it with that version"
        raise SavedModelError(
            f"{given} {why} ({type(error).__name__}: {error}): {advice}"
        ) from error


def load(path: Any) -> Any:
    """Load a model that ``save`` wrote.

    Parameters
    ----------
    path : path-like
        Folder of the saved model.

    Returns
    -------
    The fitted estimator; it predicts what the saved one predicted, bit for bit.

    Raises
    ------
    bayesmargin.errors.SavedModelError
        When the folder is damaged, incomplete, from a newer library, or no saved model.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bayesmargin
    >>> model = bayesmargin.DPMNLClassifier(n_sweeps=4, random_state=0)
    >>> model = model.fit([[0.0], [1.0], [4.0]], [0, 0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(pathlib.Path(folder, "model"))
    ...     again = bayesmargin.load(pathlib.Path(folder, "model"))
    >>> bool((again.predict_proba([[2.0]]) == model.predict_proba([[2.0]])).all())
    True
    """
    return read_model(path)[0]


def _manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder, of a format that this library reads."""
    if (folder / MANIFEST).stat().st_size > MAX_MANIFEST:
        raise SavedModelError(f"its {MANIFEST} is larger than any that this library writes")
    try:
        manifest = unsealed((folder / MANIFEST).read_bytes())
    except ValueError as error:
        raise SavedModelError(f"its {MANIFEST} is damaged: {error}") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("format"), int):
        raise SavedModelError(f"its {MANIFEST} names no format")
    if manifest["format"] != FORMAT:
        raise SavedModelError(
            f"it has format {manifest['format']} and was written by bayesmargin "
            f"{manifest.get('library')!s:.20}; this is bayesmargin {bayesmargin.__version__}, "
            f"which reads format {FORMAT}: upgrade the library"
        )
    return manifest


def _read(folder: Path, manifest: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    name = manifest["class"]
    if not isinstance(name, str) or name not in MODELS:
        raise SavedModelError(
            f"it holds a {name!r:.60}, which is none of the models of this library"
        )
    arrays = {
        key: read_array(_verified(folder, f"{key}.npy", facts), facts)
        for key, facts in manifest["arrays"].items()
    }
    for file, facts in manifest["files"].items():
        _verified(folder, file, facts)
    draws = _Draws(folder / DRAWS, manifest["draws"], whole(manifest["files"][DRAWS]["size"]))
    decoder = Decoder(arrays, draws)
    kind = MODELS[name].load()
    settings = {key: decoder.decode(value) for key, value in manifest["settings"].items()}
    estimator = kind.of_settings(settings)
    parameters = {*settings, *estimator.get_params(deep=False)}
    for key, value in manifest["state"].items():
        fixed = hasattr(kind, key) and getattr(getattr(kind, key), "fset", None) is None
        if not _ATTRIBUTE.fullmatch(key) or key in parameters or fixed:
            raise SavedModelError(f"it has an attribute {key!r:.60} that no {name} has")
        setattr(estimator, key, decoder.decode(value))
    _check(estimator)
    extras = {}
    for key in manifest["extras"]:
        if f"{key}.json" not in manifest["files"]:
            raise SavedModelError(f"its document {key!r:.60} is missing")
        extras[key] = json.loads((folder / f"{key}.json").read_bytes())
    return estimator, extras


def _check(model: Any) -> None:
    """Raise :class:`SavedModelError` when shapes, types or numbers of parts disagree."""
    entry, features = MODELS[type(model).__name__], model.n_features_in_
    require(is_whole(features) and features > 0, "n_features_in_")
    if entry.answers == "classes":
        classes = model.classes_
        require(isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes), "classes_")
    if hasattr(model, "feature_names_in_"):
        require_array(model.feature_names_in_, [features], "OU", "feature_names_in_")
    jobs = getattr(model, "n_jobs", None)
    require(jobs is None or (is_whole(jobs) and abs(jobs) <= MOST_JOBS), "n_jobs")
    entry.saved_parts().check(model, features)


def _verified(folder: Path, name: str, facts: Mapping[str, Any]) -> Path:
    """Path of a file of the model whose size and checksum are as they should be."""
    if not _NAME.fullmatch(name) or name.startswith("."):
        raise SavedModelError(f"its {MANIFEST} names a file {name!r:.60} outside the folder")
    path = folder / name
    if path.is_symlink() or not path.is_file():
        raise SavedModelError(f"its file {name} is missing")
    if path.stat().st_size != facts["size"] or checksum(path) != facts["sha256"]:
        raise SavedModelError(f"its file {name} is damaged: size or checksum is wrong")
    return path


class _Draws:
    """Arrays of the file of draws, read when asked for, one whole variable or a part of it."""

    def __init__(self, path: Path, table: Mapping[str, Any], size: int) -> None:
        self._path, self._table, self._size = path, table, size
        self._mapped = np.memmap(path, dtype=np.uint8, mode="r") if size else np.empty(0, np.uint8)

    def __call__(self, place: Place) -> np.ndarray:
        facts = self._table[place.name]
        stored, dtype = np.dtype(facts["stored"]), np.dtype(facts["dtype"])
        if stored.str not in (">f4", ">f8", ">i4") or dtype.kind not in "iuf":
            raise ValueError(f"draws of {place.name} have the type {stored}")
        shape = tuple(whole(size) for size in facts["shape"])
        begin, count = whole(facts["offset"]), int(np.prod(shape, dtype=object))
        end = begin + count * stored.itemsize
        if end > self._size:
            raise ValueError(f"draws of {place.name} end beyond the end of the file")
        block = np.asarray(self._mapped[begin:end]).view(stored).reshape(shape)[place.at]
        wanted = np.prod(place.shape, dtype=object)
        if block.ndim != len(place.shape) or wanted > 4 * max(1024, block.size):
            raise ValueError(f"draws of {place.name} do not fit {place.shape}")
        if block.nbytes > MEMORY_LIMIT and dtype == DRAW_TYPE and block.shape == place.shape:
            large = draw_array(block.shape)  # mapped from a file, as after the fit
            for target, source in zip(large, block, strict=True):
                target[...] = source
            return large
        native = block.astype(dtype.newbyteorder("="))
        return native if native.shape == place.shape else fit(native, place.shape)
