"""The real files, where they are present: the sizes that their sources state."""

import hashlib
import lzma

import numpy as np
import pytest

from bayesmargin import datasets
from bayesmargin.datasets.home import find_path
from bayesmargin.datasets.registry import PARTS, SOURCES

# name: (training rows, test rows, columns or None, classes)
SIZES = {
    "20newsgroups_raw": (11_314, 7_532, None, 20),
    "20newsgroups_binary": (856, 569, 61_188, 2),
    "ijcnn1": (49_990, 91_701, 22, 2),
    "higgs": (20_970, 5_000, 28, 2),
    "realsim": (57_848, 14_461, 20_958, 2),
    "protein_folds": (311, 383, 21, 27),
    "a9a": (32_561, 16_281, 123, 2),
    "imdb": (25_000, 25_000, None, 2),
    "debian_sections": (39_731, 10_149, None, 20),
    "dbpedia14": (11_200, 2_800, None, 14),
    "stackoverflow": (13_126, 3_281, None, 20),
    "webkb": (2_803, 1_396, None, 4),
    "reuters_moneyfx": (7_770, 3_299, 8_315, 2),
    "sector": (6_412, 3_207, 55_197, 105),
    "pendigits": (7_494, 3_498, 16, 10),
}


# For each checksum computed from a copy: the copy, compressed or not compressed otherwise.
COPIES = {
    "20newsgroups/binary_train.gml": "20newsgroups/20news_binary_train.gml.xz",
    "20newsgroups/binary_test.gml": "20newsgroups/20news_binary_test.gml.xz",
    "wiki_sample/wiki_test.gml": "wiki_sample/wiki_test.gml.xz",
    "ijcnn1/ijcnn1.trn.bz2": "ijcnn1/ijcnn1.train.svm.bz2",
    "ijcnn1/ijcnn1.tst.bz2": "ijcnn1/ijcnn1.test.svm.bz2",
}


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    """Let the tests of this file share what was parsed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BAYESMARGIN_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def need(name):
    if not datasets.available(name):
        pytest.skip(f"the files of {name} are not in {datasets.data_homes()}")


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name):
    need(name)
    n_train, n_test, n_columns, n_classes = SIZES[name]
    load = getattr(datasets, f"fetch_{name}")
    for subset, rows in (("train", n_train), ("test", n_test)):
        bunch = load(subset=subset)
        assert len(bunch.target) == rows
        assert len(bunch.target_names) == len(np.unique(bunch.target)) == n_classes
        if n_columns is None:
            assert len(bunch.data) == rows
            assert all(isinstance(text, str) for text in bunch.data)
        else:
            assert bunch.data.shape == (rows, n_columns)


def test_newsgroup_counts():
    need("20newsgroups_counts")
    per_class = {
        "train": "480 581 572 587 575 592 582 592 596 594 598 594 591 594 593 599 545 564 464 376",
        "test": "318 389 391 392 383 390 382 395 397 397 399 395 393 393 392 398 364 376 310 251",
    }
    tokens = {"train": 2_765_300, "test": 1_796_919}
    for subset, counts in per_class.items():
        bunch = datasets.fetch_20newsgroups_counts(subset=subset, remove_stop_words=False)
        assert bunch.data.shape[1] == len(bunch.feature_names) == 61_188
        assert np.bincount(bunch.target).tolist() == [int(count) for count in counts.split()]
        assert bunch.data.sum() == tokens[subset]
    content = datasets.fetch_20newsgroups_counts()
    assert "the" not in content.feature_names
    assert len(content.feature_names) + len(content.stop_words) == 61_188


def test_the_binary_set_is_two_classes_of_the_counts():
    """Same documents, word by word, once the publishers' stop words are left out."""
    need("20newsgroups_counts")
    need("20newsgroups_binary")
    stop_words = find_path("20newsgroups/stopwords_removed_in_binary.txt")
    if stop_words is None:
        pytest.skip("the list of stop words of the binary set is not in the data home")
    words = stop_words.read_text().split()
    assert len(words) == 481
    for subset in ("train", "test"):
        binary = datasets.fetch_20newsgroups_binary(subset=subset)
        counts = datasets.fetch_20newsgroups_counts(subset=subset, remove_stop_words=words)
        kept = np.isin(binary.feature_names, counts.feature_names)
        classes = np.isin(counts.target, (0, 19))
        assert binary.data[:, ~kept].nnz == 0
        assert (binary.data[:, kept] != counts.data[classes]).nnz == 0
        assert ((counts.target[classes] == 19) == binary.target).all()


def test_wikipedia():
    need("wikipedia")
    whole = datasets.fetch_wikipedia(subset="all")
    assert whole.data.shape == (5_000, 34_007)
    assert whole.data.sum() == 305_643
    assert (whole.word_ids[0], whole.word_ids[-1]) == (35, 2_085_161)
    per_document = np.bincount(whole.target.sum(axis=1))
    assert per_document.tolist() == [0, 3_019, 1_353, 450, 140, 34, 3, 1]
    train, test = datasets.fetch_wikipedia(), datasets.fetch_wikipedia(subset="test")
    assert (len(train.target), len(test.target)) == (4_000, 1_000)
    assert train.data.shape[1] == test.data.shape[1] == 34_007
    assert train.data.sum() + test.data.sum() == 305_643
    assert test.target.sum(axis=0).min() > 0


@pytest.mark.parametrize(
    ("name", "train", "test"),
    [
        ("ijcnn1", 4_853, 8_712),
        ("a9a", 7_841, 3_846),
        ("reuters_moneyfx", 538, 179),
        ("imdb", 12_500, 12_500),
    ],
)
def test_positive_rows(name, train, test):
    need(name)
    for subset, count in (("train", train), ("test", test)):
        _, y = getattr(datasets, f"fetch_{name}")(subset=subset, return_X_y=True)
        assert (y == 1).sum() == count


def test_protein_folds_per_class():
    need("protein_folds")
    train = "13 7 12 7 9 6 30 9 16 7 8 13 8 9 9 29 11 11 13 10 9 10 11 11 7 13 13"
    test = "6 9 20 8 9 9 44 12 13 6 8 19 4 4 7 48 12 13 27 12 8 12 7 4 8 27 27"
    for subset, counts in (("train", train), ("test", test)):
        bunch = datasets.fetch_protein_folds(subset=subset)
        assert np.bincount(bunch.target).tolist() == [int(count) for count in counts.split()]
        # Percentages: residues that are none of the twenty count in the length only.
        assert (bunch.data[:, 1:].sum(axis=1) < 100.01).all()
        assert np.median(bunch.data[:, 1:].sum(axis=1)) > 99.99


def test_dblp():
    need("dblp")
    whole = datasets.fetch_dblp(subset="all")
    assert np.bincount(whole.target).tolist() == [11_981, 20_890, 16_961, 4_763]
    for subset, rows in (("train", 38_215), ("validation", 8_190), ("test", 8_190)):
        assert len(datasets.fetch_dblp(subset=subset).data) == rows
    assert len({word for text in whole.data for word in text.split()}) == 1_513


def test_stackoverflow_tags_are_in_the_order_of_the_labels():
    need("stackoverflow")
    bunch = datasets.fetch_stackoverflow(subset="all")
    for code, tag in enumerate(bunch.target_names):
        if tag in ("visual-studio", "qt", "osx"):
            continue
        texts = [t.split() for t, c in zip(bunch.data, bunch.target, strict=True) if c == code]
        other = [t.split() for t, c in zip(bunch.data, bunch.target, strict=True) if c != code]
        inside = np.mean([tag in words for words in texts])
        outside = np.mean([tag in words for words in other])
        assert inside > 10 * outside, tag


def test_webkb_classes():
    need("webkb")
    for subset, counts in (("train", [620, 750, 336, 1_097]), ("test", [310, 374, 168, 544])):
        assert np.bincount(datasets.fetch_webkb(subset=subset).target).tolist() == counts


def test_higgs_share_of_signal():
    need("higgs")
    assert abs(datasets.fetch_higgs().target.mean() - 0.530) < 0.0005
    assert abs(datasets.fetch_higgs(subset="test").target.mean() - 0.537) < 0.0005


@pytest.mark.parametrize("public", COPIES)
def test_checksums_marked_local_are_those_of_the_copies(public):
    copy = find_path(COPIES[public])
    if copy is None:
        pytest.skip(f"{COPIES[public]} is not in {datasets.data_homes()}")
    content = copy.read_bytes()
    if copy.suffix == ".xz":
        content = lzma.decompress(content)
    assert hashlib.sha256(content).hexdigest() == SOURCES[public].sha256


def test_every_local_checksum_has_a_copy():
    assert {path for path, s in SOURCES.items() if s.checksum_from == "local"} == set(COPIES)


def test_every_set_is_checked():
    checked = {*SIZES, "20newsgroups_counts", "wikipedia", "dblp", "higgs_full"}
    assert checked == set(PARTS)
