"""20 Newsgroups, "bydate" version, as text: the groups, and the messages with their headers."""

import json
import tarfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin.datasets.bunch import DataHome, Subset, answer, loader, parts_of
from bayesmargin.datasets.formats import DataFormatError, lines
from bayesmargin.datasets.home import locate

GROUPS = (
    "alt.atheism",
    *("comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware"),
    *("comp.sys.mac.hardware", "comp.windows.x", "misc.forsale", "rec.autos", "rec.motorcycles"),
    *("rec.sport.baseball", "rec.sport.hockey", "sci.crypt", "sci.electronics", "sci.med"),
    *("sci.space", "soc.religion.christian", "talk.politics.guns", "talk.politics.mideast"),
    *("talk.politics.misc", "talk.religion.misc"),
)
#: What reading a damaged archive raises.
DAMAGE = (tarfile.TarError, EOFError, zlib.error)


@loader
def fetch_20newsgroups_raw(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load 20 Newsgroups as text: 11,314 training and 7,532 test messages, headers included.

    Returns
    -------
    bunch : Bunch or tuple
        ``data`` (list of str), ``target`` (0 to 19), ``target_names``, ``message_ids``, ``DESCR``.
    """
    messages: list[tuple[str, str, str]] = []
    for part in parts_of(subset):
        path = locate("20newsgroups_raw", part, data_home, download_if_missing)
        is_archive = path.name.endswith(".tar.gz")
        messages.extend(_raw_archive(path, part) if is_archive else _raw_lines(path))
    code = {group: index for index, group in enumerate(GROUPS)}
    description = (
        '20 Newsgroups, "bydate" version (K. Lang, 1995; J. Rennie), the messages themselves with '
        "their headers, decoded as Latin-1."
    )
    return answer(
        return_X_y,
        [text for _, _, text in messages],
        np.array([code[group] for group, _, _ in messages], dtype=np.int64),
        target_names=list(GROUPS),
        message_ids=[identifier for _, identifier, _ in messages],
        DESCR=description,
    )


def _raw_lines(path: Path) -> list[tuple[str, str, str]]:
    """Read JSON lines with ``group``, ``id`` and ``text``."""
    messages = []
    for number, line in lines(path):
        try:
            record = json.loads(line)
            message = (record["group"], record["id"], record["text"])
        except (ValueError, KeyError, TypeError) as error:
            problem = f"not a record with group, id and text ({error!r})"
            raise DataFormatError(path, number, problem) from None
        if message[0] not in GROUPS:
            raise DataFormatError(path, number, f"unknown group {message[0]!r}")
        messages.append(message)
    return messages


def _raw_archive(path: Path, part: str) -> list[tuple[str, str, str]]:
    """Read the messages ``20news-bydate-PART/GROUP/ID`` of the original archive."""
    messages = []
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                folder, _, rest = member.name.partition("/")
                group, _, identifier = rest.partition("/")
                if not member.isfile() or folder != f"20news-bydate-{part}" or group not in GROUPS:
                    continue
                stream = archive.extractfile(member)
                assert stream is not None
                messages.append((group, identifier, stream.read().decode("latin-1")))
    except DAMAGE as error:
        raise DataFormatError(
            path, None, f"damaged ({error}); delete and fetch it again"
        ) from error
    if not messages:
        raise DataFormatError(path, None, f"the archive has no messages of the {part} part")
    return sorted(messages, key=lambda message: (message[0], message[1]))
