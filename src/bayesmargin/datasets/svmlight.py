"""Sets of feature vectors in svmlight files."""

from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin.datasets.bunch import (
    DataHome,
    Subset,
    answer,
    check_subset,
    every_fifth,
    loader,
    parts_of,
    stacked,
)
from bayesmargin.datasets.cache import cached
from bayesmargin.datasets.formats import DataFormatError, read_svmlight, to_csr
from bayesmargin.datasets.home import locate
from bayesmargin.foundation.types import IntArray

_SIGNS = (-1, 1)
_SIGN_NAMES = ("-1", "+1")
# The public file has no checksum on record.
_REALSIM_ROWS = 72_309


def _svmlight(path: Path, n_features: int, labels: range | tuple[int, ...]) -> tuple[Any, IntArray]:
    purpose = f"svmlight {n_features} {labels}"
    arrays = cached(path, purpose, lambda: read_svmlight(path, n_features, labels))
    return to_csr(arrays), np.asarray(arrays["target"], dtype=np.int64)


def _svmlight_parts(
    name: str,
    n_features: int,
    labels: range | tuple[int, ...],
    subset: str,
    data_home: DataHome,
    download_if_missing: bool,
) -> tuple[Any, IntArray]:
    """Read and join the training and test files that ``subset`` asks for."""
    loaded = [
        _svmlight(locate(name, part, data_home, download_if_missing), n_features, labels)
        for part in parts_of(subset)
    ]
    return stacked([data for data, _ in loaded]), stacked([target for _, target in loaded])


@loader
def fetch_ijcnn1(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_sparse: bool = False,
) -> Any:
    """Load IJCNN1: 49,990 training and 91,701 test rows, 22 features, labels -1 and +1.

    Parameters
    ----------
    as_sparse : bool, default=False
        Whether ``data`` is a CSR matrix (41% of the entries are not zero) instead of an array.

    Returns
    -------
    bunch : Bunch or tuple
        ``data``, ``target``, ``target_names``, ``DESCR``.

    Examples
    --------
    >>> from bayesmargin.datasets import available, fetch_ijcnn1
    >>> if available("ijcnn1"):
    ...     assert fetch_ijcnn1(subset="test").data.shape == (91701, 22)
    """
    args = (subset, data_home, download_if_missing)
    data, target = _svmlight_parts("ijcnn1", 22, _SIGNS, *args)
    description = (
        "IJCNN 2001 challenge (D. Prokhorov), coded by the winners (Chang and Lin, 2001). Training "
        "rows are the official parts tr (35,000) and val (14,990); 9.7% are +1, of the test 9.5%."
    )
    return answer(
        return_X_y,
        data if as_sparse else data.toarray(),
        target,
        target_names=list(_SIGN_NAMES),
        DESCR=description,
    )


@loader
def fetch_realsim(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load real-sim: 72,309 documents as 20,958 tf-idf features (CSR), labels -1 and +1.

    The set has no split of its own: every fifth row (the 5th, 10th, ...) is a test row.

    Returns
    -------
    bunch : Bunch or tuple
        ``data``, ``target``, ``target_names``, ``DESCR``.
    """
    check_subset(subset)
    path = locate("realsim", "all", data_home, download_if_missing)
    data, target = _svmlight(path, 20_958, _SIGNS)
    if len(target) != _REALSIM_ROWS:
        raise DataFormatError(path, None, f"{len(target)} rows, {_REALSIM_ROWS} expected")
    rows = every_fifth(len(target), subset)
    description = (
        "real-sim (A. McCallum; LIBSVM data page): UseNet articles on real and simulated racing "
        "cars and aircraft. Every fifth row is a test row."
    )
    names = list(_SIGN_NAMES)
    return answer(return_X_y, data[rows], target[rows], target_names=names, DESCR=description)


@loader
def fetch_a9a(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load a9a: 32,561 training and 16,281 test rows, 123 binary features (CSR), labels -1, +1.

    Returns
    -------
    bunch : Bunch or tuple
        ``data``, ``target``, ``target_names``, ``DESCR``.
    """
    data, target = _svmlight_parts("a9a", 123, _SIGNS, subset, data_home, download_if_missing)
    description = "Adult (UCI; CC BY 4.0) in the a9a coding of the LIBSVM data page; +1: over 50K."
    return answer(return_X_y, data, target, target_names=list(_SIGN_NAMES), DESCR=description)


@loader
def fetch_reuters_moneyfx(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load Reuters money-fx: 7,770 and 3,299 documents, 8,315 tf-idf features (CSR), -1 and +1.

    Returns
    -------
    bunch : Bunch or tuple
        ``data``, ``target``, ``target_names``, ``DESCR``.
    """
    args = (subset, data_home, download_if_missing)
    data, target = _svmlight_parts("reuters_moneyfx", 8_315, _SIGNS, *args)
    description = (
        "Reuters-21578, ModApte split, topic money-fx (+1) against the rest, as in the LASVM paper "
        "(Bordes et al., 2005)."
    )
    return answer(return_X_y, data, target, target_names=["other", "money-fx"], DESCR=description)


@loader
def fetch_sector(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load sector: 6,412 and 3,207 web pages, 55,197 features (CSR, unit rows), 105 classes.

    Label 1 of the files is class 0.

    Returns
    -------
    bunch : Bunch or tuple
        ``data``, ``target``, ``target_names``, ``DESCR``.
    """
    args = (subset, data_home, download_if_missing)
    data, target = _svmlight_parts("sector", 55_197, range(1, 106), *args)
    names = [str(label) for label in range(1, 106)]
    description = (
        "Industry sector web pages (McCallum and Nigam, 1998), scaled version of the LIBSVM data "
        "page; target_names are the labels of the file."
    )
    return answer(return_X_y, data, target - 1, target_names=names, DESCR=description)


@loader
def fetch_pendigits(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load pendigits: 7,494 training and 3,498 test rows, 16 features in 0..100, 10 digits.

    Returns
    -------
    bunch : Bunch or tuple
        ``data``, ``target``, ``target_names``, ``DESCR``.
    """
    args = (subset, data_home, download_if_missing)
    data, target = _svmlight_parts("pendigits", 16, range(10), *args)
    names = [str(digit) for digit in range(10)]
    description = "Pen-based recognition of handwritten digits (UCI; CC BY 4.0); not scaled."
    return answer(return_X_y, data.toarray(), target, target_names=names, DESCR=description)
