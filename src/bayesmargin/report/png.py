"""A picture of coloured cells as a PNG within the page."""

import base64
import struct
import zlib

import numpy as np


def data_uri(pixels: "np.ndarray") -> str:
    """Pixels (row, column, RGBA), 8 bits each, as a data address.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.report.png import data_uri
    >>> data_uri(np.zeros((2, 2, 4), dtype=np.uint8))[:22]
    'data:image/png;base64,'
    """
    height, width, _ = pixels.shape
    lines = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    body = zlib.compress(lines.tobytes(), 9)
    content = b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(kind, data) for kind, data in ((b"IHDR", header), (b"IDAT", body), (b"IEND", b""))
    )
    return "data:image/png;base64," + base64.b64encode(content).decode("ascii")


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)
