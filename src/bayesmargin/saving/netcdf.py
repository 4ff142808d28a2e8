"""Draws as a netCDF file that xarray and ArviZ open by themselves, written piece by piece.

The format is netCDF-3 with 64-bit offsets: a header with names and shapes, then the numbers as
they are, most significant byte first. It can be mapped into memory, needs no further library, and
SciPy reads it, hence ``xarray.open_dataset(path, engine="scipy")``. This file writes the format;
what is read back for a saved model is only a range of bytes whose checksum has been verified.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

PIECE = 1 << 24  # values converted at a time
_CODES = {"S1": 2, "i4": 4, "f4": 5, "f8": 6}
_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12
_WORD = 1 << 32


@dataclass(frozen=True)
class Variable:
    """One array of the file, given as blocks that lie along its leading axes.

    Parameters
    ----------
    name : str
    dims : tuple of str
        Names of the axes.
    shape : tuple of int
    blocks : sequence of array
        One for each index of the ``lead`` first axes, in order; cut, or filled up with ``fill``,
        to the shape of the other axes.
    lead : int
        Number of leading axes.
    """

    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    blocks: Sequence[np.ndarray]
    lead: int = 0
    fill: float = 0.0
    attrs: Mapping[str, str] = field(default_factory=dict)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values in memory."""
        return self.blocks[0].dtype

    @property
    def code(self) -> str:
        """Type of the values in the file: whole numbers take four bytes."""
        return "i4" if self.dtype.kind in "iu" else self.dtype.str[1:]

    @property
    def size(self) -> int:
        """Bytes in the file, without padding."""
        return int(np.prod(self.shape, dtype=object)) * np.dtype(self.code).itemsize

    def pieces(self) -> Iterator[bytes]:
        """The bytes of the file, in order."""
        kind = np.dtype(self.code).newbyteorder(">")
        inner = self.shape[self.lead :]
        for block in self.blocks:
            fitted = block if block.shape == inner else fit(block, inner, self.fill)
            if not inner:
                yield fitted.astype(kind).tobytes()
                continue
            rows = max(1, PIECE // max(1, int(np.prod(inner[1:]))))
            for start in range(0, inner[0], rows):
                yield fitted[start : start + rows].astype(kind).tobytes()


def fit(block: np.ndarray, shape: tuple[int, ...], fill: float = 0.0) -> np.ndarray:
    """The block cut, or filled up, to a shape."""
    result = np.full(shape, fill, dtype=block.dtype)
    region = tuple(slice(0, min(a, b)) for a, b in zip(shape, block.shape, strict=True))
    result[region] = block[region]
    return result


def labels_variable(name: str, labels: Sequence[Any]) -> Variable:
    """Coordinate of a dimension: whole numbers, numbers, or text in UTF-8."""
    values = np.asarray(labels)
    if values.dtype.kind in "iub" and np.all(np.abs(values.astype(float)) < 2.0**31):
        values = values.astype(np.int32)
    elif values.dtype.kind == "f":
        values = values.astype(float)
    else:
        texts = [str(label).encode() for label in labels]
        width = max(1, max(len(text) for text in texts))
        table = np.array(texts, dtype=f"S{width}").view("S1").reshape(len(texts), width)
        encoding = {"_Encoding": "utf-8"}
        return Variable(name, (name, f"{name}_text"), table.shape, [table], attrs=encoding)
    return Variable(name, (name,), values.shape, [values])


def storable(array: np.ndarray) -> bool:
    """Whether the format has a place for an array: a known type, and no empty axis."""
    return array.dtype in (np.float32, np.float64) and array.size > 0


def _text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack(">i", len(raw)) + raw + bytes(-len(raw) % 4)


def _attributes(attrs: Mapping[str, str]) -> bytes:
    if not attrs:
        return bytes(8)
    parts = [_text(name) + struct.pack(">i", 2) + _text(value) for name, value in attrs.items()]
    return struct.pack(">ii", _ATTRIBUTES, len(parts)) + b"".join(parts)


def _header(
    variables: Sequence[Variable], attrs: Mapping[str, str], offsets: Mapping[str, int]
) -> bytes:
    sizes: dict[str, int] = {}
    for variable in variables:
        for name, size in zip(variable.dims, variable.shape, strict=True):
            if sizes.setdefault(name, size) != size:
                raise ValueError(f"the axis {name} has the sizes {sizes[name]} and {size}")
    numbers = {name: number for number, name in enumerate(sizes)}
    dims = [_text(name) + struct.pack(">i", size) for name, size in sizes.items()]
    parts = []
    for variable in variables:
        padded = variable.size + -variable.size % 4
        parts.append(
            _text(variable.name)
            + struct.pack(">i", len(variable.dims))
            + b"".join(struct.pack(">i", numbers[name]) for name in variable.dims)
            + _attributes(variable.attrs)
            + struct.pack(">iI", _CODES[variable.code], min(padded, _WORD - 1))
            + struct.pack(">q", offsets.get(variable.name, 0))
        )
    return b"".join(
        (
            b"CDF\x02" + bytes(4),
            struct.pack(">ii", _DIMENSIONS, len(dims)) + b"".join(dims),
            _attributes(attrs),
            struct.pack(">ii", _VARIABLES, len(parts)) + b"".join(parts),
        )
    )


class Sink(Protocol):
    """A file to write to, or what stands before one."""

    def write(self, data: bytes, /) -> int:
        """Write all of ``data``; return how many bytes that are."""


def write_netcdf(
    file: Sink, variables: Sequence[Variable], attrs: Mapping[str, str]
) -> dict[str, int]:
    """Write the variables; return where in the file the values of each begin."""
    # Only the last variable may be larger than four gigabytes.
    variables = sorted(variables, key=lambda variable: variable.size)
    position = len(_header(variables, attrs, {}))
    offsets: dict[str, int] = {}
    for variable in variables:
        offsets[variable.name] = position
        position += variable.size + -variable.size % 4
    file.write(_header(variables, attrs, offsets))
    for variable in variables:
        for piece in variable.pieces():
            file.write(piece)
        file.write(bytes(-variable.size % 4))
    return offsets
