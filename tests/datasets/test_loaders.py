"""Every loader on small files in its real format."""

import io
import json
import re
import tarfile

import numpy as np
import pytest

from bayesmargin import datasets
from bayesmargin.datasets import DataFormatError, newsgroups, svmlight, tabular

VOCABULARY = ("god", "the", "image", "graphics", "car")


def shares(bunch):
    return len(bunch.target), bunch.target.tolist()


@pytest.mark.parametrize(
    ("fetch", "folder", "train", "test", "n_features"),
    [
        ("ijcnn1", "ijcnn1", "ijcnn1.train.svm.bz2", "ijcnn1.test.svm.bz2", 22),
        ("ijcnn1", "ijcnn1", "ijcnn1.trn.bz2", "ijcnn1.tst.bz2", 22),
        ("a9a", "a9a", "a9a.train.svm.xz", "a9a.test.svm.xz", 123),
        ("a9a", "a9a", "a9a", "a9a.t", 123),
        (
            "reuters_moneyfx",
            "reuters_moneyfx",
            "reuters.train.svm.bz2",
            "reuters.test.svm.bz2",
            8315,
        ),
    ],
)
def test_binary_svmlight_sets(write, fetch, folder, train, test, n_features):
    write(f"{folder}/{train}", "+1 1:1 3:0.5\n-1 2:2\n")
    write(f"{folder}/{test}", "-1 1:4\n")
    load = getattr(datasets, f"fetch_{fetch}")
    whole = load(subset="all")
    assert shares(whole) == (3, [1, -1, -1])
    assert whole.data.shape == (3, n_features)
    assert whole.data[0, 2] == 0.5
    X, y = load(subset="test", return_X_y=True)
    assert X.shape == (1, n_features)
    assert X[0, 0] == 4
    assert y.tolist() == [-1]
    assert len(whole.target_names) == 2
    assert whole.DESCR


def test_ijcnn1_is_dense_unless_asked(write):
    write("ijcnn1/ijcnn1.train.svm.bz2", "+1 1:1\n")
    dense = datasets.fetch_ijcnn1()
    sparse = datasets.fetch_ijcnn1(as_sparse=True)
    assert isinstance(dense.data, np.ndarray)
    assert dense.data.dtype == np.float64
    assert sparse.data.format == "csr"
    assert sparse.data.indices.dtype == np.int32
    assert (sparse.data.toarray() == dense.data).all()


def test_multi_class_svmlight_sets(write):
    write("pendigits/pendigits.train.svm.xz", "8 1:88 16:100\n0 2:1\n")
    digits = datasets.fetch_pendigits()
    assert digits.data.shape == (2, 16)
    assert [digits.target_names[code] for code in digits.target] == ["8", "0"]
    write("sector/sector.scale.train.svm.xz", "105 55197:0.5\n1 1:1\n")
    sector = datasets.fetch_sector()
    assert sector.data.shape == (2, 55197)
    assert sector.target.tolist() == [104, 0]
    assert sector.target_names[104] == "105"


def test_joined_sparse_parts_keep_small_indices(write):
    write("a9a/a9a", "+1 1:1\n")
    write("a9a/a9a.t", "-1 123:1\n")
    joined = datasets.fetch_a9a(subset="all").data
    assert joined.indices.dtype == joined.indptr.dtype == np.int32


def test_realsim_takes_every_fifth_row_for_test(write, monkeypatch):
    write("real-sim/real-sim.bz2", "".join(f"+1 {row}:1\n" for row in range(1, 11)))
    with pytest.raises(DataFormatError, match="10 rows, 72309 expected"):
        datasets.fetch_realsim()
    monkeypatch.setattr(svmlight, "_REALSIM_ROWS", 10)
    assert datasets.fetch_realsim(subset="test").data.indices.tolist() == [4, 9]
    assert datasets.fetch_realsim().data.indices.tolist() == [0, 1, 2, 3, 5, 6, 7, 8]
    assert datasets.fetch_realsim(subset="all").data.shape == (10, 20958)


def _higgs_line(label, value):
    return ",".join([str(label)] + [str(value)] * 28) + "\n"


def test_higgs_sample(write):
    header = ",".join(["label", *tabular._HIGGS_FEATURES]) + "\n"
    path = write("higgs/higgs_train.csv.xz", header + _higgs_line(1, 0.5) + _higgs_line(0, -2))
    write("higgs/higgs_test.csv.xz", header + _higgs_line(1, 3))
    bunch = datasets.fetch_higgs(subset="all")
    assert bunch.data.shape == (3, 28)
    assert bunch.data[:, 7].tolist() == [0.5, -2, 3]
    assert shares(bunch) == (3, [1, 0, 1])
    assert len(bunch.feature_names) == 28
    assert bunch.data.flags.c_contiguous
    write("higgs/higgs_train.csv.xz", header + _higgs_line(0, 1) + _higgs_line(2, 1))
    with pytest.raises(DataFormatError, match=re.escape(f"{path}: row 2") + ".*label 2.0"):
        datasets.fetch_higgs()


def test_full_higgs_takes_the_last_rows_for_test(write, monkeypatch):
    monkeypatch.setattr(tabular, "_HIGGS_TEST_ROWS", 2)
    write("higgs/HIGGS.csv.gz", "".join(_higgs_line(row % 2, row) for row in range(5)))
    assert datasets.fetch_higgs(full=True).data[:, 0].tolist() == [0, 1, 2]
    assert datasets.fetch_higgs(full=True, subset="test").data[:, 0].tolist() == [3, 4]
    assert datasets.fetch_higgs(full=True, subset="all").target.tolist() == [0, 1, 0, 1, 0]


PROTEIN_HEADER = "fold,id,length," + ",".join(f"pct_{a}" for a in "ACDEFGHIKLMNPQRSTVWY") + "\n"


def test_protein_folds(write):
    row = "27,1HBG,147," + ",".join(["5.0"] * 20) + "\n"
    write("protein_fold/dd_train.csv", PROTEIN_HEADER + row)
    bunch = datasets.fetch_protein_folds()
    assert bunch.data.tolist() == [[147] + [5.0] * 20]
    assert bunch.target.tolist() == [26]
    assert bunch.target_names[26] == "fold 27"
    assert bunch.protein_ids == ["1HBG"]
    assert bunch.feature_names[:2] == ["length", "pct_A"]
    names = "".join(f"{fold}\tNAME {fold}\n" for fold in range(1, 28))
    write("protein_fold/fold_names.txt", names)
    assert datasets.fetch_protein_folds().target_names[26] == "NAME 27"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("fold,id\n", "line 1"),
        ("x" + PROTEIN_HEADER, "line 1: the columns are not"),
        (PROTEIN_HEADER + "28,A,1," + ",".join("1" * 20) + "\n", "line 2: fold 28 is not in 1..27"),
        (PROTEIN_HEADER + "1,A,1," + ",".join("x" * 20) + "\n", "line 2: could not convert"),
    ],
)
def test_protein_folds_names_the_bad_line(write, text, place):
    path = write("protein_fold/dd_train.csv", text)
    with pytest.raises(DataFormatError, match=re.escape(f"{path}, {place}")):
        datasets.fetch_protein_folds()


def test_wikipedia_compacts_columns_alike_in_every_part(write):
    write(
        "wiki_sample/wiki_test.gml.xz", "5\n" + "1 1 0 70\n" * 4 + "3 2 3 19 2000000 70 2000000\n"
    )
    train, test = datasets.fetch_wikipedia(), datasets.fetch_wikipedia(subset="test")
    assert train.word_ids.tolist() == test.word_ids.tolist() == [70, 2000000]
    assert test.feature_names.tolist() == ["70", "2000000"]
    assert train.data.toarray().tolist() == [[1, 0]] * 4
    assert test.data.toarray().tolist() == [[1, 2]]
    assert np.flatnonzero(test.target[0]).tolist() == [3, 19]
    assert train.target.shape == (4, 20)


@pytest.fixture
def news(write):
    write("20newsgroups/vocabulary.txt.xz", "\n".join(VOCABULARY) + "\n")
    write("20newsgroups/20news_matlab_train.svm.xz", "1 1:2 2:9\n20 2:5\n2 3:1 5:4\n")
    write("20newsgroups/20news_matlab_test.svm.xz", "3 1:1\n")


@pytest.mark.usefixtures("news")
def test_newsgroup_counts_keep_train_and_test_aligned(write):
    train, test = (datasets.fetch_20newsgroups_counts(subset=part) for part in ("train", "test"))
    assert train.feature_names.tolist() == ["god", "image", "graphics", "car"]
    assert test.feature_names.tolist() == train.feature_names.tolist()
    assert train.stop_words.tolist() == ["the"]
    assert train.data.toarray().tolist() == [[2, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 4]]
    assert test.data.shape == (1, 4)
    assert train.data.dtype == train.data.indices.dtype == np.int32
    assert train.target.tolist() == [0, 19, 1]
    assert train.target_names[19] == "talk.religion.misc"
    write("20newsgroups/stopwords_removed_in_binary.txt", "image\nthe\n")
    assert datasets.fetch_20newsgroups_counts().stop_words.tolist() == ["the", "image"]


@pytest.mark.usefixtures("news")
def test_newsgroup_stop_words_can_be_chosen():
    load = datasets.fetch_20newsgroups_counts
    assert load(remove_stop_words=False).data.shape == (3, 5)
    assert load(remove_stop_words=["car"]).feature_names.tolist() == list(VOCABULARY[:4])
    with pytest.raises(ValueError, match="remove_stop_words='english' is not allowed"):
        load(remove_stop_words="english")


def _archive(path, files):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            content = text.encode("latin-1")
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


MATLAB = {
    "20news-bydate/matlab/train.label": "1\n20\n2\n",
    "20news-bydate/matlab/train.data": "1 1 2\n1 2 9\n2 2 5\n3 3 1\n3 5 4\n",
}


@pytest.mark.usefixtures("news")
def test_the_matlab_archive_gives_the_same_counts(home, monkeypatch):
    folder = home / "20newsgroups"
    before = datasets.fetch_20newsgroups_counts(remove_stop_words=False)
    (folder / "20news_matlab_train.svm.xz").unlink()
    path = _archive(folder / "20news-bydate-matlab.tgz", MATLAB)
    with pytest.raises(DataFormatError, match=r"\(3, 5, 21\), but \(11269, 1467345, 2765300\)"):
        datasets.fetch_20newsgroups_counts()
    monkeypatch.setitem(newsgroups._SIZES, "train", (3, 5, 21))
    after = datasets.fetch_20newsgroups_counts(remove_stop_words=False)
    assert after.data.toarray().tolist() == before.data.toarray().tolist()
    assert after.target.tolist() == before.target.tolist()
    assert after.data.dtype == after.data.indices.dtype == np.int32
    assert path.exists()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"train.data": "1 1 2\n1 x 2\n"}, "line 2: train.data: '1 x 2' is not 3 integers"),
        ({"train.data": "1 9 2\n"}, "train.data: "),
        ({"train.label": "21\n"}, "labels outside 1..20"),
        ({"train.label": None}, "the archive has no file train.label"),
    ],
)
@pytest.mark.usefixtures("news")
def test_a_wrong_matlab_archive(home, change, problem):
    (home / "20newsgroups" / "20news_matlab_train.svm.xz").unlink()
    files = {**MATLAB, **{f"20news-bydate/matlab/{name}": text for name, text in change.items()}}
    files = {name: text for name, text in files.items() if text is not None}
    _archive(home / "20newsgroups" / "20news-bydate-matlab.tgz", files)
    with pytest.raises(DataFormatError, match=re.escape(problem)):
        datasets.fetch_20newsgroups_counts()


def test_raw_messages_from_lines_and_from_the_archive(write, home):
    records = [("alt.atheism", "12", "caf\xe9"), ("sci.med", "3", "line\nline")]
    rows = [json.dumps(dict(zip(("group", "id", "text"), r, strict=True))) for r in records]
    path = write("20newsgroups/20news_bydate_train_raw.jsonl.xz", "\n".join(rows) + "\n")
    from_lines = datasets.fetch_20newsgroups_raw()
    path.unlink()
    files = {f"20news-bydate-train/{group}/{name}": text for group, name, text in records[::-1]}
    files["20news-bydate-test/sci.med/9"] = "other part"
    _archive(home / "20newsgroups" / "20news-bydate.tar.gz", files)
    from_archive = datasets.fetch_20newsgroups_raw()
    for bunch in (from_lines, from_archive):
        assert bunch.data == ["caf\xe9", "line\nline"]
        assert bunch.target.tolist() == [0, 13]
        assert bunch.message_ids == ["12", "3"]
    assert datasets.fetch_20newsgroups_raw(subset="test").data == ["other part"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "not a record"),
        ('{"group": "sci.med", "id": "1"}', "not a record with group, id and text"),
        ('{"group": "sci.fi", "id": "1", "text": ""}', "unknown group 'sci.fi'"),
        ("[1]", "not a record"),
    ],
)
def test_raw_messages_name_the_bad_line(write, line, problem):
    good = '{"group": "sci.med", "id": "1", "text": ""}'
    path = write("20newsgroups/20news_bydate_train_raw.jsonl.xz", f"{good}\n{line}\n")
    with pytest.raises(DataFormatError, match=re.escape(f"{path}, line 2: {problem}")):
        datasets.fetch_20newsgroups_raw()


def test_a_cut_archive_is_damaged(home):
    text = {f"20news-bydate-train/sci.med/{i}": str(i) * 500 for i in range(200)}
    path = _archive(home / "20newsgroups" / "20news-bydate.tar.gz", text)
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(DataFormatError, match="damaged"):
        datasets.fetch_20newsgroups_raw()


def test_binary_newsgroups_with_and_without_vocabulary(write):
    path = write("20newsgroups/20news_binary_train.gml.xz", "2\n2 0 4 4\n1 1 0\n")
    without = datasets.fetch_20newsgroups_binary()
    assert without.data.shape == (2, 61188)
    assert without.feature_names is None
    write("20newsgroups/vocabulary.txt.xz", "\n".join(VOCABULARY) + "\n")
    bunch = datasets.fetch_20newsgroups_binary()
    assert bunch.data.toarray().tolist() == [[0, 0, 0, 0, 2], [1, 0, 0, 0, 0]]
    assert bunch.feature_names[4] == "car"
    assert [bunch.target_names[code] for code in bunch.target] == [
        "alt.atheism",
        "talk.religion.misc",
    ]
    write("20newsgroups/vocabulary.txt.xz", "god\n")
    with pytest.raises(DataFormatError, match=re.escape(f"{path}: word id 4 is outside")):
        datasets.fetch_20newsgroups_binary()


def test_imdb(write):
    write("imdb/imdb_train.tsv.xz", '0\t3\tSo "bad"\n1\t10\tGood\n')
    bunch = datasets.fetch_imdb()
    assert bunch.data == ['So "bad"', "Good"]
    assert bunch.stars.tolist() == [3, 10]
    assert [bunch.target_names[code] for code in bunch.target] == ["negative", "positive"]


def test_debian_and_webkb(write):
    write("debian_sections/debian_train.tsv.xz", "x11\tpkg\tA window manager\n")
    write("debian_sections/debian_test.tsv.xz", "admin\tother\tA tool\n")
    debian = datasets.fetch_debian_sections(subset="all")
    assert [debian.target_names[code] for code in debian.target] == ["x11", "admin"]
    assert debian.packages == ["pkg", "other"]
    write("webkb/webkb_test.tsv.xz", "student\thome page\n")
    webkb = datasets.fetch_webkb(subset="test")
    assert webkb.target_names[webkb.target[0]] == "student"


def test_dblp_has_three_parts(write):
    write("dblp/dblp.tsv.xz", "a\ttest\t3\nb\ttrain\t0\nc\tval\t1\nd\ttrain\t2\n")
    found = {s: datasets.fetch_dblp(subset=s) for s in ("train", "validation", "test", "all")}
    assert {subset: bunch.data for subset, bunch in found.items()} == {
        "train": ["b", "d"],
        "validation": ["c"],
        "test": ["a"],
        "all": ["b", "d", "c", "a"],
    }
    assert found["all"].target.tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize(
    ("fetch", "file", "first", "name"),
    [
        ("dbpedia14", "dbpedia14/dbpedia14_14k.tsv.xz", 0, "company"),
        ("stackoverflow", "stackoverflow/stackoverflow.tsv.xz", 1, "wordpress"),
    ],
)
def test_text_without_split(write, fetch, file, first, name):
    write(file, "".join(f"{first}\ttext {row}\n" for row in range(7)))
    load = getattr(datasets, f"fetch_{fetch}")
    assert load(subset="test").data == ["text 4"]
    assert load().data == [f"text {row}" for row in (0, 1, 2, 3, 5, 6)]
    whole = load(subset="all")
    assert shares(whole) == (7, [0] * 7)
    assert whole.target_names[0] == name


def test_a_bad_label_in_a_table_names_file_and_line(write):
    write("webkb/webkb_train.tsv.xz", "student\ta\n")
    path = write("webkb/webkb_test.tsv.xz", "student\ta\nstuden\tb\n")
    with pytest.raises(DataFormatError, match=re.escape(f"{path}, line 2: label 'studen'")):
        datasets.fetch_webkb(subset="all")


@pytest.mark.parametrize("name", [n for n in datasets.__all__ if n.startswith("fetch_")])
def test_every_loader_checks_subset_and_documents_its_parameters(home, name):
    load = getattr(datasets, name)
    with pytest.raises(ValueError, match="subset='dev' is not allowed"):
        load(subset="dev")
    for word in ("subset :", "data_home :", "download_if_missing :", "return_X_y :", "Returns"):
        assert load.__doc__.count(word) == 1
