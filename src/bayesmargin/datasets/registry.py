"""Which files make up each data set, and where the public ones come from.

``PARTS[name][part]`` lists the paths, relative to the data home, that can serve a part; the first
one found is read. A path that is also a key of ``SOURCES`` can be downloaded.

Every checksum says where it comes from:

``local``      computed from a copy of the file at hand. For the two GML sets the copy is the same
               text under another compression, so the checksum is of the text; its length equals
               that of the file in the repository.
``published``  stated by others for the same URL (named beside it), not computed here.
``none``       unknown. The download is not verified; its hash is logged and kept beside the file in
               ``NAME.sha256``. What is read is then checked against the known size of the set.
"""

from typing import Literal, NamedTuple

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
_TICK = "https://raw.githubusercontent.com/X-DataInitiative/tick-datasets/master/binary"
_BAYESPA = "https://raw.githubusercontent.com/strin/BayesPA"
_QWONE = "http://qwone.com/~jason/20Newsgroups"


class Source(NamedTuple):
    """A public address of one file and the SHA-256 it must have."""

    url: str
    sha256: str | None
    checksum_from: Literal["local", "published", "none"]


SOURCES: dict[str, Source] = {
    "20newsgroups/20news-bydate-matlab.tgz": Source(
        f"{_QWONE}/20news-bydate-matlab.tgz", None, "none"
    ),
    "20newsgroups/vocabulary.txt": Source(f"{_QWONE}/vocabulary.txt", None, "none"),
    # The address and checksum that scikit-learn's fetch_20newsgroups uses.
    "20newsgroups/20news-bydate.tar.gz": Source(
        "https://ndownloader.figshare.com/files/5975967",
        "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
        "published",
    ),
    "20newsgroups/binary_train.gml": Source(
        f"{_BAYESPA}/59c6235b41bb7787782372f9a906662fd3ca42e8/data/binary_train.gml",
        "4b4046d29c34086bc48ac61a80c6eda14c050511a333c50ba9a3f65ccf0e73b1",
        "local",
    ),
    "20newsgroups/binary_test.gml": Source(
        f"{_BAYESPA}/59c6235b41bb7787782372f9a906662fd3ca42e8/data/binary_test.gml",
        "a7e40c0492d41bbd0dcd9f623cd2c328877dfda49ba6abb6354cfcbc85271777",
        "local",
    ),
    "wiki_sample/wiki_test.gml": Source(
        f"{_BAYESPA}/2803baecd347cc61fe3408d316959aa2ee2e3b7b/data/wiki_test.gml",
        "49105c2107a48a49785cb45efced505c2a296d2915bd363adaa9491780053ac3",
        "local",
    ),
    # LIBSVM's ijcnn1.tr and ijcnn1.val joined; the tick project publishes the same hashes.
    "ijcnn1/ijcnn1.trn.bz2": Source(
        f"{_TICK}/ijcnn1/ijcnn1.trn.bz2",
        "b38a4198ce142d43e96fb86d17b87211feec1f909ac344fa057455c69de29de3",
        "local",
    ),
    "ijcnn1/ijcnn1.tst.bz2": Source(
        f"{_TICK}/ijcnn1/ijcnn1.tst.bz2",
        "acd1db430684fdd3f0c768ecc49aa8e749d0004fc117611220c2aa576a7b6a24",
        "local",
    ),
    # One public project states a hash for real-sim; without a second witness it is not enforced.
    "real-sim/real-sim.bz2": Source(f"{_LIBSVM}/real-sim.bz2", None, "none"),
    # Stated by several independent projects that download HIGGS from UCI (2,816,407,858 bytes).
    "higgs/HIGGS.csv.gz": Source(
        "https://archive.ics.uci.edu/ml/machine-learning-databases/00280/HIGGS.csv.gz",
        "ea302c18164d4e3d916a1e2e83a9a8d07069fa6ebc7771e4c0540d54e593b698",
        "published",
    ),
}


def _pair(folder: str, *patterns: tuple[str, str]) -> dict[str, tuple[str, ...]]:
    """Parts ``train`` and ``test`` from (train name, test name) pairs in order of preference."""
    return {
        "train": tuple(f"{folder}/{train}" for train, _ in patterns),
        "test": tuple(f"{folder}/{test}" for _, test in patterns),
    }


_VOCABULARY = ("20newsgroups/vocabulary.txt.xz", "20newsgroups/vocabulary.txt")

PARTS: dict[str, dict[str, tuple[str, ...]]] = {
    "20newsgroups_counts": {
        **_pair(
            "20newsgroups",
            ("20news_matlab_train.svm.xz", "20news_matlab_test.svm.xz"),
            ("20news-bydate-matlab.tgz", "20news-bydate-matlab.tgz"),
        ),
        "vocabulary": _VOCABULARY,
    },
    "20newsgroups_raw": _pair(
        "20newsgroups",
        ("20news_bydate_train_raw.jsonl.xz", "20news_bydate_test_raw.jsonl.xz"),
        ("20news-bydate.tar.gz", "20news-bydate.tar.gz"),
    ),
    "20newsgroups_binary": _pair(
        "20newsgroups",
        ("20news_binary_train.gml.xz", "20news_binary_test.gml.xz"),
        ("binary_train.gml", "binary_test.gml"),
    ),
    "ijcnn1": _pair(
        "ijcnn1",
        ("ijcnn1.train.svm.bz2", "ijcnn1.test.svm.bz2"),
        ("ijcnn1.trn.bz2", "ijcnn1.tst.bz2"),
        ("ijcnn1.bz2", "ijcnn1.t.bz2"),
    ),
    "higgs": _pair("higgs", ("higgs_train.csv.xz", "higgs_test.csv.xz")),
    "higgs_full": {"all": ("higgs/HIGGS.csv.gz",)},
    "realsim": {"all": ("real-sim/real-sim.bz2", "real-sim/real-sim")},
    "protein_folds": _pair("protein_fold", ("dd_train.csv", "dd_test.csv")),
    "wikipedia": {"all": ("wiki_sample/wiki_test.gml.xz", "wiki_sample/wiki_test.gml")},
    "a9a": _pair("a9a", ("a9a.train.svm.xz", "a9a.test.svm.xz"), ("a9a", "a9a.t")),
    "imdb": _pair("imdb", ("imdb_train.tsv.xz", "imdb_test.tsv.xz")),
    "debian_sections": _pair("debian_sections", ("debian_train.tsv.xz", "debian_test.tsv.xz")),
    "dblp": {"all": ("dblp/dblp.tsv.xz",)},
    "dbpedia14": {"all": ("dbpedia14/dbpedia14_14k.tsv.xz",)},
    "stackoverflow": {"all": ("stackoverflow/stackoverflow.tsv.xz",)},
    "webkb": _pair("webkb", ("webkb_train.tsv.xz", "webkb_test.tsv.xz")),
    "reuters_moneyfx": _pair(
        "reuters_moneyfx",
        ("reuters.train.svm.bz2", "reuters.test.svm.bz2"),
        ("reuters.trn.bz2", "reuters.tst.bz2"),
    ),
    "sector": _pair(
        "sector",
        ("sector.scale.train.svm.xz", "sector.scale.test.svm.xz"),
        ("sector.scale.bz2", "sector.t.scale.bz2"),
    ),
    "pendigits": _pair(
        "pendigits",
        ("pendigits.train.svm.xz", "pendigits.test.svm.xz"),
        ("pendigits", "pendigits.t"),
    ),
}

# What to do when a file of a set that cannot be downloaded as it stands is missing.
ADVICE: dict[str, str] = {
    "higgs": "the 25,970-row sample is joined from three sources and has no address of its own; "
    "fetch_higgs(full=True) downloads all 11 million rows from UCI (2.6 GB)",
    "protein_folds": "the 21 features were computed from the sequences of the 694-protein set of "
    "Shen and Chou (2006); docs/datasets.md gives the columns",
    "a9a": "save a9a and a9a.t of the LIBSVM data page",
    "imdb": "make the tables from the Large Movie Review Dataset v1.0 "
    "(https://ai.stanford.edu/~amaas/data/sentiment/): label, stars, text",
    "debian_sections": "make the tables from a Debian package index: section, package, description",
    "dblp": "make the table from the DBLP set of https://github.com/MIND-Lab/OCTIS: text, part "
    "(train, val, test), label 0 to 3",
    "dbpedia14": "make the table from DBpedia-14: label 0 to 13, text",
    "stackoverflow": "make the table from the StackOverflow set of "
    "https://github.com/qiang2100/STTM: label 1 to 20, words",
    "webkb": "make the tables from the stemmed WebKB set of A. Cardoso-Cachopo: label, words",
    "reuters_moneyfx": "save binary/reuters/reuters.trn.bz2 and reuters.tst.bz2 of "
    "https://github.com/X-DataInitiative/tick-datasets",
    "sector": "save sector.scale.bz2 and sector.t.scale.bz2 of the LIBSVM data page",
    "pendigits": "save pendigits and pendigits.t of the LIBSVM data page",
}
