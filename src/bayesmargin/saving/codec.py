"""Objects as JSON and arrays, and back: the one place that knows how values are written down.

A value becomes a JSON document in which everything that JSON lacks is a dictionary with one tag:

======================  ==========================================================
``{"array": name}``     an array of the table that goes with the document
``{"draws": name, …}``  an array, or a part of one, in the file of draws
``{"object": key, …}``  an instance of a class of :mod:`bayesmargin.saving.classes`
``{"same": number}``    the object with that number again, so that sharing survives
``{"generator": …}``    a NumPy generator with its state and its seed sequence
``{"dict": …}`` etc.    dictionaries, tuples, slices, scalars, numbers JSON cannot spell
======================  ==========================================================
"""

import dataclasses
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.saving.classes import CLASSES, Stored, key_of
from bayesmargin.saving.generators import generator_from_numbers, generator_to_numbers

ARRAY_KINDS = "biufcUSmM"


class Place(NamedTuple):
    """Where an array lies in the file of draws: variable, leading indices, shape to cut or pad."""

    name: str
    at: tuple[int, ...]
    shape: tuple[int, ...]


class Encoder:
    """Turns values into JSON; arrays go to ``arrays`` under names that tell where they belong.

    Parameters
    ----------
    places : mapping of id to Place
        Arrays that lie in the file of draws and are not to be stored again.
    """

    def __init__(self, places: Mapping[int, Place] | None = None) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._places = places or {}
        self._names: dict[int, str] = {}
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # ids are only unique among the living

    def encode(self, value: Any, path: str) -> Any:
        """JSON for a value; ``path`` names it in errors and arrays."""
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, np.generic):
            return {"scalar": self.encode(value.item(), path), "type": value.dtype.str}
        if isinstance(value, int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.ndarray):
            return self._array(value, path)
        if isinstance(value, list):
            return [self.encode(item, f"{path}.{k}") for k, item in enumerate(value)]
        if isinstance(value, dict):
            if all(isinstance(name, str) for name in value):
                return {"dict": self._fields(value, path)}
            pairs = [[name, self.encode(item, f"{path}.{name}")] for name, item in value.items()]
            return {"pairs": [[self.encode(name, path), item] for name, item in pairs]}
        if isinstance(value, slice):
            return {"slice": [value.start, value.stop, value.step]}
        if isinstance(value, Path):
            return {"path": str(value)}
        return self._object(value, path)

    def _fields(self, fields: Mapping[Any, Any], path: str) -> dict[str, Any]:
        for name in fields:
            if not isinstance(name, str):
                raise TypeError(f"{path} has the key {name!r}: only strings can be stored")
        return {name: self.encode(value, f"{path}.{name}") for name, value in fields.items()}

    def _array(self, value: np.ndarray, path: str) -> Any:
        if value.dtype == object:
            return {"objects": [self.encode(item, path) for item in value.ravel().tolist()],
                    "shape": list(value.shape)}  # fmt: skip
        place = self._places.get(id(value))
        if place is not None:
            return {"draws": place.name, "at": list(place.at), "shape": list(place.shape)}
        if value.dtype.kind not in ARRAY_KINDS:
            raise TypeError(f"{path} is an array of type {value.dtype}, which cannot be stored")
        if id(value) not in self._names:
            name = "".join(c if c.isalnum() or c in "._" else "_" for c in path)
            while name in self.arrays:
                name += "_"
            self._names[id(value)] = name
            self.arrays[name] = value
            self._alive.append(value)
        return {"array": self._names[id(value)]}

    def _object(self, value: Any, path: str) -> Any:
        if id(value) in self._numbers:
            return {"same": self._numbers[id(value)]}
        if type(value) is tuple:
            return {"tuple": [self.encode(item, f"{path}.{k}") for k, item in enumerate(value)]}
        number = self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)
        if isinstance(value, np.random.Generator):
            numbers = self.encode(generator_to_numbers(value, path), path)
            return {"generator": numbers, "number": number}
        if isinstance(value, np.random.RandomState):
            state = self.encode(value.get_state(legacy=False), path)
            return {"random_state": state, "number": number}
        key = key_of(type(value))
        if key is None:
            raise TypeError(
                f"{path} is of type {type(value).__name__}, which cannot be stored: only settings "
                "and parts of this library can"
            )
        fields = self._fields(parts_of(value, CLASSES[key]), path)
        return {"object": key, "fields": fields, "number": number}


def parts_of(value: Any, entry: Stored) -> dict[str, Any]:
    """Fields of an instance of a class that may be stored."""
    if dataclasses.is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if hasattr(value, "_asdict"):  # a NamedTuple
        return dict(value._asdict())
    held, known = set(vars(value)), {*entry.attributes, *entry.dropped}
    if held != known:
        raise TypeError(
            f"{entry.name} holds the attributes {sorted(held ^ known)}, about which "
            "its entry among the stored classes disagrees"
        )
    return {name: getattr(value, name) for name in entry.attributes}


class Decoder:
    """Turns what :class:`Encoder` wrote back into values.

    Whatever is not exactly as an encoder writes it raises ``ValueError``, ``TypeError``,
    ``KeyError`` or another plain error, which the readers of files turn into their own.
    """

    def __init__(
        self,
        arrays: Mapping[str, np.ndarray],
        draws: Callable[[Place], np.ndarray] | None = None,
    ) -> None:
        self._arrays, self._draws = arrays, draws
        self._known: dict[int, Any] = {}

    def decode(self, document: Any) -> Any:
        """Value of a document."""
        if isinstance(document, list):
            return [self.decode(item) for item in document]
        if not isinstance(document, dict):
            return document
        for tag, method in _DECODERS.items():
            if tag in document:
                value = method(self, document)
                if "number" in document:
                    self._known[int(document["number"])] = value
                return value
        raise ValueError(f"nothing is known about the tags {sorted(document)[:4]}")

    def _fields(self, fields: Any) -> dict[str, Any]:
        if not isinstance(fields, dict):
            raise TypeError("fields must be a dictionary")
        return {name: self.decode(value) for name, value in fields.items()}

    def _decode_array(self, document: dict[str, Any]) -> Any:
        return self._arrays[document["array"]]

    def _decode_draws(self, document: dict[str, Any]) -> Any:
        if self._draws is None:
            raise ValueError("there is no file of draws")
        at, shape = (tuple(whole(i) for i in document[key]) for key in ("at", "shape"))
        return self._draws(Place(document["draws"], at, shape))

    def _decode_objects(self, document: dict[str, Any]) -> Any:
        items = document["objects"]
        array = np.empty(len(items), dtype=object)
        for k, item in enumerate(items):
            array[k] = self.decode(item)
        return array.reshape([whole(size) for size in document["shape"]])

    def _decode_scalar(self, document: dict[str, Any]) -> Any:
        kind = np.dtype(document["type"])
        if kind.kind not in ARRAY_KINDS:
            raise ValueError(f"{kind} is not the type of a number or a string")
        return kind.type(self.decode(document["scalar"]))

    def _decode_float(self, document: dict[str, Any]) -> float:
        if document["float"] not in ("nan", "inf", "-inf"):
            raise ValueError(f"{document['float']!r} is not a special number")
        return float(document["float"])

    def _decode_dict(self, document: dict[str, Any]) -> Any:
        return self._fields(document["dict"])

    def _decode_pairs(self, document: dict[str, Any]) -> Any:
        return {self.decode(name): self.decode(item) for name, item in document["pairs"]}

    def _decode_tuple(self, document: dict[str, Any]) -> Any:
        return tuple(self.decode(item) for item in document["tuple"])

    def _decode_slice(self, document: dict[str, Any]) -> slice:
        ends = [None if end is None else whole(end) for end in document["slice"]]
        return slice(ends[0], ends[1], ends[2])

    def _decode_path(self, document: dict[str, Any]) -> Path:
        return Path(document["path"])

    def _decode_same(self, document: dict[str, Any]) -> Any:
        return self._known[int(document["same"])]

    def _decode_random_state(self, document: dict[str, Any]) -> np.random.RandomState:
        state = np.random.RandomState(0)
        state.set_state(self.decode(document["random_state"]))
        return state

    def _decode_generator(self, document: dict[str, Any]) -> np.random.Generator:
        return generator_from_numbers(self.decode(document["generator"]))

    def _decode_object(self, document: dict[str, Any]) -> Any:
        entry = CLASSES[document["object"]]
        fields = self._fields(document["fields"])
        kind = entry.load()
        if not entry.attributes:
            return kind(**fields)
        names = {old: entry.former.get(old, old) for old in fields}
        fields = {**entry.later, **{new: fields[old] for old, new in names.items() if new}}
        if set(fields) != set(entry.attributes):
            raise ValueError(f"{entry.name} needs the attributes {entry.attributes}")
        value: Any = object.__new__(kind)
        vars(value).update(fields, **{k: _fresh(v) for k, v in entry.dropped.items()})
        return value


def _fresh(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value


def whole(value: Any) -> int:
    """A non-negative whole number, or an error."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is not a whole number of at least 0")
    return value


_DECODERS: dict[str, Callable[[Decoder, dict[str, Any]], Any]] = {
    "array": Decoder._decode_array,
    "draws": Decoder._decode_draws,
    "objects": Decoder._decode_objects,
    "scalar": Decoder._decode_scalar,
    "float": Decoder._decode_float,
    "dict": Decoder._decode_dict,
    "pairs": Decoder._decode_pairs,
    "tuple": Decoder._decode_tuple,
    "slice": Decoder._decode_slice,
    "path": Decoder._decode_path,
    "same": Decoder._decode_same,
    "random_state": Decoder._decode_random_state,
    "generator": Decoder._decode_generator,
    "object": Decoder._decode_object,
}
