"""Rows in files: what is read equals what was written, and bad files are named."""

import bz2
import gzip
import itertools
import lzma

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from bayesmargin.rows import open_rows
from bayesmargin.rows.readahead import read_ahead

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

MEMORY = 1 << 20


@pytest.fixture
def table():
    rng = np.random.default_rng(1)
    return rng.standard_normal((5000, 7)).astype(np.float32), rng.integers(0, 2, 5000)


def write_parquet(path, values, label, **options):
    columns = {f"x{j}": values[:, j] for j in range(values.shape[1])}
    parquet.write_table(pyarrow.table({**columns, "y": label}), path, **options)


@pytest.fixture
def folder(tmp_path, table):
    values, label = table
    for k, part in enumerate(np.array_split(np.arange(5000), 3)):
        write_parquet(tmp_path / f"part{k}.parquet", values[part], label[part], row_group_size=400)
    return tmp_path


def whole(rows):
    parts = [part.toarray() if sparse.issparse(part) else part for part in rows.parts()]
    return np.concatenate(parts)


def test_a_parquet_folder_reads_back(folder, table):
    rows = open_rows(folder, label="y", memory=MEMORY)
    assert rows.shape == (5000, 7)
    np.testing.assert_array_equal(rows.labels, table[1])
    np.testing.assert_array_equal(whole(rows), table[0])
    index = np.random.default_rng(2).permutation(5000)[:700]
    np.testing.assert_array_equal(rows[index], table[0][index])


def test_blocks_of_a_file_cover_every_row_once_with_the_constant_column(folder, table):
    source = open_rows(folder, label="y", memory=MEMORY).source(intercept=True)
    spans, parts = zip(*source.blocks(), strict=True)
    assert spans[0].start == 0
    assert all(a.stop == b.start for a, b in itertools.pairwise(spans))
    design = np.concatenate(parts)
    np.testing.assert_array_equal(design, np.column_stack([table[0], np.ones(5000)]))


def test_an_npy_file_reads_back(tmp_path, table):
    np.save(tmp_path / "x.npy", table[0])
    np.save(tmp_path / "y.npy", table[1])
    rows = open_rows(tmp_path / "x.npy", labels=tmp_path / "y.npy", memory=MEMORY)
    np.testing.assert_array_equal(whole(rows), table[0])
    np.testing.assert_array_equal(rows.labels, table[1])


@pytest.mark.parametrize(
    ("suffix", "opener"),
    [(".svm", open), (".svm.gz", gzip.open), (".svm.bz2", bz2.open), (".svm.xz", lzma.open)],
)
def test_svmlight_files_read_back(tmp_path, suffix, opener):
    matrix = sparse.random_array((3000, 900), density=0.01, rng=3, format="csr")
    label = np.random.default_rng(3).integers(0, 3, 3000)
    path = tmp_path / f"rows{suffix}"
    with opener(path, "wb") as file:
        dump_svmlight_file(matrix, label, file, zero_based=False)
    rows = open_rows(path, n_features=900, memory=MEMORY)
    assert rows.shape == (3000, 900)
    np.testing.assert_array_equal(rows.labels, label)
    np.testing.assert_allclose(whole(rows), matrix.toarray(), rtol=1e-6)
    index = np.array([2999, 0, 17, 17])
    np.testing.assert_allclose(rows[index].toarray(), matrix.toarray()[index], rtol=1e-6)


def test_the_binary_copy_of_a_text_file_disappears(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:2.0\n-1 3:1.0\n")
    rows = open_rows(path)
    binary = rows.binary
    assert binary.exists()
    del rows
    assert not binary.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:2\n1 x:3\n", "line 2 is not"),
        ("1 1:2\n1 0:3\n", "line 2 has the index 0, but .* zero_based=False"),
        ("1 1:2\n1 -4:3\n", "line 2 has the index -4"),
        ("", "holds no rows"),
    ],
)
def test_bad_lines_are_named(tmp_path, text, message, monkeypatch):
    monkeypatch.setenv("BAYESMARGIN_DRAWS", str(tmp_path))
    path = tmp_path / "bad.svm"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        open_rows(path)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("suffix", "module"), [("gz", gzip), ("bz2", bz2), ("xz", lzma)])
def test_a_truncated_compressed_file_is_named(tmp_path, suffix, module):
    path = tmp_path / f"cut.svm.{suffix}"
    path.write_bytes(module.compress(b"1 1:2.5 7:3.25\n" * 5000)[:-20])
    with pytest.raises(ValueError, match=r"cut\.svm.*truncated or corrupt after"):
        open_rows(path)


def test_a_truncated_parquet_file_is_named(folder):
    path = folder / "part1.parquet"
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(ValueError, match=r"part1\.parquet \(2000 bytes\) is not a readable"):
        open_rows(folder, label="y")


def test_files_that_disagree_are_named(folder, table):
    write_parquet(folder / "part9.parquet", table[0][:10, :6], table[1][:10])
    with pytest.raises(ValueError, match=r"part9\.parquet and .*part0\.parquet disagree.*'x6'"):
        open_rows(folder, label="y")


def test_a_missing_label_column_is_named(folder):
    with pytest.raises(ValueError, match="no column 'target' for the labels; its columns are 'x0'"):
        open_rows(folder, label="target")


def test_missing_values_are_named(tmp_path):
    column = pyarrow.array([1.0, None, 2.0], pyarrow.float32())
    parquet.write_table(pyarrow.table({"a": column, "y": [0, 1, 0]}), tmp_path / "t.parquet")
    rows = open_rows(tmp_path / "t.parquet", label="y")
    with pytest.raises(ValueError, match="column 'a' has no value in row 1"):
        list(rows.parts())


def test_a_text_column_is_refused(tmp_path):
    parquet.write_table(pyarrow.table({"a": ["u", "v"], "y": [0, 1]}), tmp_path / "t.parquet")
    message = r"column 'a' .* features are numbers; .* --target in the shell"
    with pytest.raises(ValueError, match=message):
        open_rows(tmp_path / "t.parquet", label="y")


def test_unknown_files_and_memory_are_refused(tmp_path):
    (tmp_path / "x.csv").write_text("1")
    with pytest.raises(ValueError, match="kind of file is not known"):
        open_rows(tmp_path / "x.csv")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        open_rows(tmp_path / "none.npy")
    with pytest.raises(ValueError, match="memory=5"):
        open_rows(tmp_path / "x.csv", memory=5)


def test_an_error_of_the_reader_reaches_the_consumer():
    def pieces():
        yield 1
        raise OSError("disk gone")

    reader = read_ahead(pieces)
    assert next(reader) == 1
    with pytest.raises(OSError, match="disk gone"):
        next(reader)


def test_a_consumer_may_stop_early():
    assert next(read_ahead(lambda: iter(range(10**9)))) == 0


def test_damaged_compression_and_headers_are_named(tmp_path):
    import gzip

    path = tmp_path / "rows.svm.gz"
    raw = bytearray(gzip.compress(b"+1 1:0.5 3:1.25\n-1 2:2.0\n" * 50))
    raw[18] ^= 0xFF
    path.write_bytes(raw)
    with pytest.raises(ValueError, match="truncated or corrupt"):
        open_rows(path)
    path = tmp_path / "rows.npy"
    np.save(path, np.eye(3))
    path.write_bytes(path.read_bytes().replace(b"}", b" "))
    with pytest.raises(ValueError, match="not a readable"):
        open_rows(path)
