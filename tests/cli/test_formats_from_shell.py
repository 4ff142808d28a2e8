"""Every format, from the file to predictions."""

import os

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from bayesmargin import BayesianLinearSVC
from tests.cli.conftest import QUICK, answer, bayesmargin, failing


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((160, 4)) * [1.0, 5.0, 1.0, 1.0] + [0.0, 30.0, 0.0, 0.0]
    y = (X[:, 0] + 0.2 * (X[:, 1] - 30.0) + 0.3 * rng.standard_normal(160) > 0).astype(int)
    return X, y


def check(folder, data, *options):
    """Fit and evaluate; gives the documents of both."""
    fitted = answer("fit", data, "-o", folder / "model", "-q", *QUICK, *options)
    labels = options[options.index("--labels") :] if "--labels" in options else ()
    evaluated = answer("evaluate", folder / "model", data, *labels)
    assert evaluated["rows"] == 160
    assert evaluated["accuracy"] > 0.85
    return fitted


def test_npy_with_labels_beside_is_standardised(numbers, tmp_path):
    np.save(tmp_path / "rows.npy", numbers[0])
    np.save(tmp_path / "labels.npy", numbers[1])
    fitted = check(tmp_path, tmp_path / "rows.npy", "--labels", tmp_path / "labels.npy")
    assert fitted["preparation"]["standardised"] is True
    (tmp_path / "labels.txt").write_text("\n".join(map(str, numbers[1])) + "\n")
    check(tmp_path, tmp_path / "rows.npy", "--labels", tmp_path / "labels.txt")


def test_npz_stays_sparse_and_is_left_as_it_is(numbers, tmp_path):
    X = numbers[0] * [1.0, 0.2, 1.0, 1.0] - [0.0, 6.0, 0.0, 0.0]
    sparse.save_npz(tmp_path / "rows.npz", sparse.csr_array(X))
    np.save(tmp_path / "labels.npy", numbers[1])
    fitted = check(tmp_path, tmp_path / "rows.npz", "--labels", tmp_path / "labels.npy")
    assert fitted["preparation"]["standardised"] is False
    assert any("not standardised" in warning for warning in fitted["warnings"])


def test_svmlight_compressed(numbers, tmp_path):
    import bz2

    X = numbers[0] * [1.0, 0.2, 1.0, 1.0] - [0.0, 6.0, 0.0, 0.0]
    dump_svmlight_file(X, numbers[1], str(tmp_path / "rows.svm"), zero_based=False)
    packed = tmp_path / "rows.svm.bz2"
    packed.write_bytes(bz2.compress((tmp_path / "rows.svm").read_bytes()))
    fitted = check(tmp_path, packed)
    assert fitted["features"] == 4
    assert fitted["preparation"]["standardised"] is False


def test_sparse_rows_of_another_width_are_refused_unless_they_may_end_in_zeros(numbers, tmp_path):
    X, y = sparse.csr_array(numbers[0] * [1.0, 0.2, 1.0, 1.0] - [0.0, 6.0, 0.0, 0.0]), numbers[1]
    sparse.save_npz(tmp_path / "rows.npz", X)
    np.save(tmp_path / "labels.npy", y)
    check(tmp_path, tmp_path / "rows.npz", "--labels", tmp_path / "labels.npy")
    BayesianLinearSVC(n_draws=200, random_state=0).fit(X, y).save(tmp_path / "bare")
    sparse.save_npz(tmp_path / "narrow.npz", X[:, :3])
    dump_svmlight_file(X[:, :3], y, str(tmp_path / "narrow.svm"), zero_based=False)
    for model in ("model", "bare"):
        said = failing(3, "predict", tmp_path / model, tmp_path / "narrow.npz")
        assert said.endswith("narrow.npz has 3 columns, but the model was fitted on 4")
        found = answer("predict", tmp_path / model, tmp_path / "narrow.svm")
        assert found["rows"] == 160
    frame = pd.DataFrame(X.toarray(), columns=list("abcd"))
    frame.assign(hit=np.where(y, "yes", "no")).to_csv(tmp_path / "rows.csv", index=False)
    said = failing(3, "predict", tmp_path / "bare", tmp_path / "rows.csv")
    assert said.endswith("has 5 columns ('a', 'b', 'c', 'd', 'hit'), but the model was fitted on 4")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    assert answer("predict", tmp_path / "bare", tmp_path / "rows.csv")["rows"] == 160


def test_parquet_folder_and_rows_as_they_are(numbers, tmp_path):
    frame = pd.DataFrame(numbers[0], columns=list("abcd")).assign(hit=numbers[1])
    folder = tmp_path / "parts"
    folder.mkdir()
    frame[:80].to_parquet(folder / "a.parquet")
    frame[80:].to_parquet(folder / "b.parquet")
    assert check(tmp_path, folder, "--target", "hit")["features"] == 4
    frame["b"] = frame["b"] * 0.2 - 6.0
    frame.to_parquet(tmp_path / "rows.parquet")
    fitted = check(tmp_path, tmp_path / "rows.parquet", "--target", "hit", "--as-is")
    assert fitted["preparation"] is None
    assert fitted["rows"] == {"training": 160, "validation": 0}
    new = tmp_path / "new.parquet"
    frame.drop(columns="hit").to_parquet(new)
    assert answer("predict", tmp_path / "model", new)["rows"] == 160


def test_classes_of_rows_as_they_are_look_like_those_of_prepared_ones(numbers, tmp_path):
    X, y = numbers
    path = tmp_path / "rows.svm"
    X = X * [1.0, 0.2, 1.0, 1.0] - [0.0, 6.0, 0.0, 0.0]
    dump_svmlight_file(X, y, str(path), zero_based=False)
    for option in ((), ("--as-is",)):
        assert check(tmp_path, path, *option)["classes"] == [0, 1]
        found = answer("predict", tmp_path / "model", path)["predictions"]
        assert {repr(row["predicted"]) for row in found} == {"0", "1"}


def test_rows_as_they_are_are_read_by_name(numbers, tmp_path):
    frame = pd.DataFrame(numbers[0], columns=list("abcd")).assign(hit=numbers[1])
    frame["b"] = frame["b"] * 0.2 - 6.0
    frame.to_parquet(tmp_path / "rows.parquet")
    check(tmp_path, tmp_path / "rows.parquet", "--target", "hit", "--as-is")
    straight = answer("evaluate", tmp_path / "model", tmp_path / "rows.parquet")
    frame[["d", "hit", "c", "b", "a"]].to_parquet(tmp_path / "turned.parquet")
    turned = answer("evaluate", tmp_path / "model", tmp_path / "turned.parquet")
    assert turned["accuracy"] == straight["accuracy"]
    renamed = tmp_path / "renamed.parquet"
    frame.rename(columns={"a": "A"}).to_parquet(renamed)
    for command in ("evaluate", "predict"):
        message = failing(3, command, tmp_path / "model", renamed)
        assert f"{renamed} lacks 'a' of the 4 columns" in message
        assert "it has 'A'" in message


def test_csv_with_semicolons(numbers, tmp_path):
    frame = pd.DataFrame(numbers[0], columns=list("abcd")).assign(hit=numbers[1])
    frame.to_csv(tmp_path / "rows.csv", sep=";", decimal=",", index=False)
    fitted = check(tmp_path, tmp_path / "rows.csv", "--target", "hit")
    assert fitted["preparation"]["numbers"] == 4
    frame.to_csv(tmp_path / "odd.csv", sep="~", index=False)
    new = (tmp_path / "model", tmp_path / "odd.csv", "--separator")
    assert answer("predict", *new, "~")["rows"] == 160
    assert "has no column 'hit'" in failing(3, "evaluate", *new, "tab")
    assert "is not one character" in failing(2, "evaluate", *new, "::")


def test_as_is_refuses_what_it_cannot_do(numbers, tmp_path):
    frame = pd.DataFrame(numbers[0], columns=list("abcd")).assign(hit=numbers[1])
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_csv(tmp_path / "rows.csv")
    rows = tmp_path / "rows.parquet"
    assert "--model linear" in failing(2, "fit", rows, "--as-is", "--target", "hit",
                                       "--model", "dpmnl")  # fmt: skip
    assert "only --target" in failing(2, "fit", rows, "--as-is", "--target", "hit", "--drop", "a")
    assert "holds no rows out" in failing(2, "fit", rows, "--as-is", "--validation", "0.2")
    assert "is csv" in failing(2, "fit", tmp_path / "rows.csv", "--as-is", "--target", "hit")
    assert "--target" in failing(3, "fit", rows, "--as-is")
    short = tmp_path / "short.txt"
    short.write_text("0\n1\n")
    message = failing(3, "fit", rows, "--as-is", "--labels", short)
    assert f"shape (2,), but {rows} has 160 rows" in message
    assert "no file of labels" in failing(3, "fit", rows, "--as-is", "--labels", "gone.txt")


WORDS = {
    "moon": ["crater", "tide", "orbit", "lunar", "eclipse"],
    "soup": ["onion", "broth", "spoon", "noodle", "pepper"],
}


def documents(seed=0, count=60):
    rng = np.random.default_rng(seed)
    labels = rng.choice(sorted(WORDS), count)
    common = ["evening", "table", "people"]
    return labels, [
        " ".join([*rng.choice(WORDS[label], 6), *rng.choice(common, 3)]) for label in labels
    ]


SMALL = ["--vectorizer", "max_df=1.0", "--vectorizer", "stop_words=null"]
TOPICS = ["--model", "medlda", "--topics", "3", "--draws", "4", "--chains", "1"]


def test_folders_of_documents_to_topics(tmp_path):
    labels, texts = documents()
    for number, (label, text) in enumerate(zip(labels, texts, strict=True)):
        (tmp_path / "train" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "train" / label / f"{number}.txt").write_text(text)
    result = bayesmargin("fit", tmp_path / "train", "-o", tmp_path / "m", *TOPICS, *SMALL)
    assert result.code == 0, result.err
    assert "validation accuracy" in result.err
    assert "13 words counted" in result.out
    found = answer("topics", tmp_path / "m", "--words", "4")["topics"]
    assert len(found) == 3
    known = {word for words in WORDS.values() for word in words} | {"evening", "table", "people"}
    assert all(set(topic["words"]) <= known for topic in found)
    assert {one["class"] for topic in found for one in topic["classes"]} == {"moon", "soup"}
    assert "speaks for" in bayesmargin("topics", tmp_path / "m").out
    assert answer("evaluate", tmp_path / "m", tmp_path / "train")["accuracy"] > 0.9
    table = answer("predict", tmp_path / "m", tmp_path / "train")["predictions"]
    assert table[0]["file"].startswith("moon/")
    assert answer("report", tmp_path / "m")["rows"] == 12


def test_names_of_files_that_are_not_unicode_are_read_as_latin_1(tmp_path):
    labels, texts = documents()
    train = tmp_path / os.fsdecode(b"\xe9cole")
    try:
        train.mkdir()
    except OSError:
        pytest.skip("this file system has Unicode names only")
    for number, (label, text) in enumerate(zip(labels, texts, strict=True)):
        folder = train / os.fsdecode(label.encode() + b"\xe9")
        folder.mkdir(exist_ok=True)
        (folder / os.fsdecode(b"%d\xfc.txt" % number)).write_text(text)
    fitted = answer("fit", train, "-o", tmp_path / "m", "--quiet", *TOPICS, *SMALL)
    assert fitted["classes"] == ["moon\xe9", "soup\xe9"]
    bayesmargin("predict", tmp_path / "m", train, "-o", tmp_path / "found.csv")
    found = pd.read_csv(tmp_path / "found.csv")
    assert found["file"].str.fullmatch("(moon|soup)\xe9/[0-9]+\xfc.txt").all()
    assert answer("evaluate", tmp_path / "m", train)["accuracy"] > 0.9
    assert answer("report", tmp_path / "m")["rows"] == 12
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert "\\udce9cole" in page  # the path of the data, in which no letter is taken for another


def test_a_topic_of_one_class_does_not_speak_for_others(tmp_path):
    labels, texts = documents()
    labels = np.where(np.arange(60) % 3, labels, "neither")
    lines = [f"{label}\t{text}" for label, text in zip(labels, texts, strict=True)]
    (tmp_path / "train.txt").write_text("\n".join(lines) + "\n")
    answer("fit", tmp_path / "train.txt", "--label-first", "-o", tmp_path / "m", "--quiet",
           "--set", "multi_class=ovr", *TOPICS, *SMALL)  # fmt: skip
    found = answer("topics", tmp_path / "m")["topics"]
    spoken = [[one["class"] for one in topic["classes"]] for topic in found]
    assert spoken == [["moon"]] * 3 + [["neither"]] * 3 + [["soup"]] * 3


def test_lines_with_labels_first_beside_and_in_a_table(tmp_path):
    labels, texts = documents()
    lines = [f"{label}\t{text}" for label, text in zip(labels, texts, strict=True)]
    (tmp_path / "first.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "plain.txt").write_text("\n".join(texts) + "\n")
    (tmp_path / "labels.txt").write_text("\n".join(labels) + "\n")
    pd.DataFrame({"group": labels, "body": texts, "n": range(60)}).to_csv(
        tmp_path / "table.tsv", sep="\t", index=False
    )
    common = ["-o", tmp_path / "m", "-q", *QUICK, *SMALL]
    one = answer("fit", tmp_path / "first.txt", "--label-first", *common)
    two = answer("fit", tmp_path / "plain.txt", "--labels", tmp_path / "labels.txt", *common)
    three = answer("fit", tmp_path / "table.tsv", "--text", "body", "--target", "group", *common)
    assert one["preparation"]["weighting"] == "tfidf"
    assert one["validation"] == two["validation"] == three["validation"]
    assert answer("predict", tmp_path / "m", tmp_path / "table.tsv")["rows"] == 60


def test_a_model_of_lines_reads_documents_in_a_table_as_well(tmp_path):
    labels, texts = documents()
    lines = [f"{label}\t{text}" for label, text in zip(labels, texts, strict=True)]
    (tmp_path / "first.txt").write_text("\n".join(lines) + "\n")
    table = tmp_path / "table.csv"
    pd.DataFrame({"group": labels, "body": texts, "n": range(60)}).to_csv(table, index=False)
    answer("fit", tmp_path / "first.txt", "--label-first", "-o", tmp_path / "m", "-q", *QUICK,
           *SMALL)  # fmt: skip
    assert "name their column with --text" in failing(3, "predict", tmp_path / "m", table)
    named = ("--text", "body", "--target", "group")
    usual = answer("evaluate", tmp_path / "m", tmp_path / "first.txt")
    assert answer("evaluate", tmp_path / "m", table, *named)["log_loss"] == usual["log_loss"]
    assert answer("predict", tmp_path / "m", table, "--text", "body")["rows"] == 60
    assert answer("report", tmp_path / "m", table, *named)["rows"] == 60


def test_a_model_of_a_table_reads_lines_with_labels_first_as_well(tmp_path):
    labels, texts = documents()
    table, first = tmp_path / "table.csv", tmp_path / "first.txt"
    pd.DataFrame({"group": labels, "body": texts}).to_csv(table, index=False)
    lines = [f"{label}\t{text}" for label, text in zip(labels, texts, strict=True)]
    first.write_text("\n".join(lines) + "\n")
    answer("fit", table, "--text", "body", "--target", "group", "-o", tmp_path / "m", "-q", *QUICK,
           *SMALL)  # fmt: skip
    usual = answer("evaluate", tmp_path / "m", table)
    assert "--label-first when lines are a label" in failing(3, "evaluate", tmp_path / "m", first)
    named = answer("evaluate", tmp_path / "m", first, "--label-first")
    assert named["log_loss"] == usual["log_loss"]
    assert answer("report", tmp_path / "m", first, "--label-first")["rows"] == 60
    found = answer("predict", tmp_path / "m", first, "--label-first")["predictions"]
    assert found == answer("predict", tmp_path / "m", table)["predictions"]


def test_words_that_only_training_knew_are_reported(tmp_path):
    labels, texts = documents()
    lines = [f"{label}\t{text}" for label, text in zip(labels, texts, strict=True)]
    (tmp_path / "first.txt").write_text("\n".join(lines) + "\n")
    answer("fit", tmp_path / "first.txt", "--label-first", "-o", tmp_path / "m", "-q", *QUICK,
           *SMALL)  # fmt: skip
    (tmp_path / "new.txt").write_text("lunar tide\nzebra giraffe\n")
    document = answer("predict", tmp_path / "m", tmp_path / "new.txt")
    assert document["warnings"] == ["1 document without a known word"]
    assert document["predictions"][0]["predicted"] == "moon"
