"""Sets of feature vectors in comma-separated tables."""

from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin.datasets.bunch import (
    DataHome,
    Subset,
    answer,
    check_subset,
    loader,
    parts_of,
    stacked,
)
from bayesmargin.datasets.cache import cached
from bayesmargin.datasets.formats import DataFormatError, read_numbers, read_table
from bayesmargin.datasets.home import find_path, locate
from bayesmargin.foundation.types import FloatArray, IntArray

_HIGGS_TEST_ROWS = 500_000
_AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
_N_FOLDS = 27
_HIGGS_FEATURES = (
    ["lepton_pT", "lepton_eta", "lepton_phi", "missing_energy_magnitude", "missing_energy_phi"]
    + [f"jet{jet}_{what}" for jet in range(1, 5) for what in ("pt", "eta", "phi", "btag")]
    + ["m_jj", "m_jjj", "m_lv", "m_jlv", "m_bb", "m_wbb", "m_wwbb"]
)


@loader
def fetch_higgs(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    full: bool = False,
) -> Any:
    """Load HIGGS: 28 features of simulated collisions, labels 0 (background) and 1 (signal).

    Parameters
    ----------
    full : bool, default=False
        False loads a sample of 20,970 training and 5,000 test rows. True loads the 11 million rows
        of UCI, the last 500,000 as the test part, as the data's authors do; that is a download of
        2.6 GB, about five minutes of reading the first time, 2.6 GB more in the cache folder, and
        twice that in memory while reading.

    Returns
    -------
    bunch : Bunch or tuple
        ``data``, ``target``, ``target_names``, ``feature_names``, ``DESCR``.

    Examples
    --------
    >>> from bayesmargin.datasets import available, fetch_higgs
    >>> if available("higgs"):
    ...     assert fetch_higgs(subset="test").data.shape == (5000, 28)
    """
    if full:
        check_subset(subset)
        table = _higgs_table(locate("higgs_full", "all", data_home, download_if_missing))
        split = max(len(table) - _HIGGS_TEST_ROWS, 0)
        rows = {"train": slice(split), "test": slice(split, None), "all": slice(None)}[subset]
        table = table[rows]
    else:
        paths = [locate("higgs", p, data_home, download_if_missing) for p in parts_of(subset)]
        table = stacked([_higgs_table(path) for path in paths])
    description = (
        "HIGGS (Baldi, Sadowski and Whiteson, 2014; UCI; CC BY 4.0), 21 low-level and 7 high-level "
        "features. In the sample, training rows 1 to 9,993 are rounded to 3 digits."
    )
    return answer(
        return_X_y,
        np.ascontiguousarray(table[:, 1:]),
        table[:, 0].astype(np.int64),
        target_names=["background", "signal"],
        feature_names=list(_HIGGS_FEATURES),
        DESCR=description,
    )


def _higgs_table(path: Path) -> FloatArray:
    header = ["label", *_HIGGS_FEATURES]
    arrays = cached(path, "higgs", lambda: read_numbers(path, header))
    table = np.asarray(arrays["table"], dtype=np.float64)
    wrong = np.flatnonzero(~np.isin(table[:, 0], (0.0, 1.0)))
    if wrong.size:
        row = int(wrong[0])
        problem = f"row {row + 1} below the header has label {table[row, 0]}, not 0 or 1"
        raise DataFormatError(path, None, problem)
    return table


@loader
def fetch_protein_folds(
    *,
    subset: Subset = "train",
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load protein folds: 311 training and 383 test proteins, 21 features, 27 folds.

    The features are the length and the percentage of each of the 20 amino acids. Fold 1 of the
    files is class 0.

    Returns
    -------
    bunch : Bunch or tuple
        ``data``, ``target``, ``target_names``, ``feature_names``, ``protein_ids``, ``DESCR``.
    """
    paths = [locate("protein_folds", p, data_home, download_if_missing) for p in parts_of(subset)]
    features = ["length", *(f"pct_{letter}" for letter in _AMINO_ACIDS)]
    loaded = [_protein_table(path, ["fold", "id", *features]) for path in paths]
    names_file = find_path("protein_fold/fold_names.txt", data_home)
    names = [f"fold {fold}" for fold in range(1, _N_FOLDS + 1)]
    if names_file is not None:
        names = [name for _, name in read_table(names_file, 2)]
    description = (
        "Protein fold recognition (Ding and Dubchak, 2001), the 694-protein version of Shen and "
        "Chou (2006). Features computed from PDB chain sequences, so they differ a little from "
        "the original feature files."
    )
    return answer(
        return_X_y,
        stacked([data for data, _, _ in loaded]),
        stacked([target for _, target, _ in loaded]),
        target_names=names,
        feature_names=features,
        protein_ids=stacked([ids for _, _, ids in loaded]),
        DESCR=description,
    )


def _protein_table(path: Path, header: list[str]) -> tuple[FloatArray, IntArray, list[str]]:
    rows = read_table(path, len(header), ",")
    if rows[:1] != [header]:
        raise DataFormatError(path, 1, f"the columns are not {','.join(header)}")
    del rows[0]
    data, target = np.empty((len(rows), len(header) - 2)), np.empty(len(rows), dtype=np.int64)
    for index, row in enumerate(rows):
        try:
            data[index] = [float(field) for field in row[2:]]
            target[index] = int(row[0]) - 1
        except ValueError as error:
            raise DataFormatError(path, index + 2, str(error)) from None
        if not 0 <= target[index] < _N_FOLDS:
            raise DataFormatError(path, index + 2, f"fold {row[0]} is not in 1..{_N_FOLDS}")
    return data, target, [row[1] for row in rows]
