"""The arrays of a checkpoint: files in which they lie one after another, with a checksum."""

from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin.saving.codec import ARRAY_KINDS, whole
from bayesmargin.saving.files import checksum, hashing

SUFFIX = ".part"


def write_part(
    path: Path, arrays: dict[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Write arrays one after another; returns checksum and size, and where each array lies."""
    places: dict[str, dict[str, Any]] = {}
    path.unlink(missing_ok=True)
    try:
        with hashing(path) as file:
            for name, array in arrays.items():
                places[name] = {
                    "part": path.name,
                    "offset": file.size,
                    "dtype": array.dtype.str,
                    "shape": list(array.shape),
                }
                if array.size:
                    file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    except OSError:
        path.unlink(missing_ok=True)
        raise
    return file.facts(), places


def read_parts(folder: Path, table: dict[str, dict[str, Any]]) -> dict[str, np.ndarray]:
    """All arrays of a checkpoint, after a look at the checksums of their files."""
    verified: dict[str, int] = {}
    arrays = {}
    for name, facts in table.items():
        part = facts["part"]
        if Path(part).name != part or not part.endswith(SUFFIX):
            raise ValueError(f"{part!r:.60} is not the name of a part")
        if part not in verified:
            path = folder / part
            if path.stat().st_size != facts["size"] or checksum(path) != facts["sha256"]:
                raise ValueError(f"size or checksum of {part} is wrong")
            verified[part] = path.stat().st_size
        dtype, shape = np.dtype(facts["dtype"]), tuple(whole(n) for n in facts["shape"])
        count, offset = int(np.prod(shape, dtype=object)), whole(facts["offset"])
        if dtype.kind not in ARRAY_KINDS or dtype.hasobject:
            raise ValueError(f"{name} has the type {dtype}")
        if offset + count * dtype.itemsize > verified[part]:
            raise ValueError(f"{name} ends beyond the end of {part}")
        values = np.empty(0, dtype)
        if count:
            values = np.fromfile(folder / part, dtype=dtype, count=count, offset=offset)
        arrays[name] = values.reshape(shape)
    return arrays
