"""Files of labels, one a line or .npy, read alike wherever they are named."""

import numpy as np
import pytest

from bayesmargin.cli.as_is import open_as_is
from bayesmargin.errors import DataError
from bayesmargin.tables import Reading, read_table
from bayesmargin.tables.labels import look_alikes, unwatched

WORDS = ["New York", "Bern", "New York", "Zürich"]


@pytest.fixture(params=["prepared", "as it is"])
def read(request, tmp_path):
    """Labels of four rows, from a file with the content that is given."""
    np.save(tmp_path / "rows.npy", np.arange(8.0).reshape(4, 2))

    def labels(content, name="labels.txt"):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            np.save(path, content)
        reading = Reading(labels=str(path))
        if request.param == "prepared":
            return read_table(tmp_path / "rows.npy", reading).labels
        return open_as_is(tmp_path / "rows.npy", reading, needed=True).labels

    return labels


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_words_with_blanks_marks_and_line_ends(read, encoding, end):
    content = "".join(word + end for word in WORDS).encode(encoding)
    assert read(content).tolist() == WORDS
    open_ended = end.join(WORDS).encode(encoding)
    assert read(open_ended).tolist() == WORDS


def test_numbers(read):
    assert read("\ufeff1\n0\n1\n1\n".encode()).tolist() == [1, 0, 1, 1]
    assert read(np.array([1.0, 0.0, 1.0, 2.0]), "labels.npy").tolist() == [1, 0, 1, 2]


def test_what_is_wrong_is_said(read):
    for content, expected in (
        (b"a\nb\nc\n", r"(has 3 labels|have the shape \(3,\)), but .* has 4 rows"),
        (b"a\n\nb\nc\n", "has no label in line 2"),
        (b"a\nb\xff\nb\nc\n", "is not UTF-8 text"),
    ):
        with pytest.raises(DataError, match=expected):
            read(content)
    with pytest.raises(DataError, match=r"has the shape \(2, 2\)"):
        read(np.ones((2, 2)), "labels.npy")
    with pytest.raises(DataError, match=r"is not a readable \.npy file"):
        read(b"nothing", "labels.npy")


def test_fractions_are_words(read):
    assert read(np.array([1.5, 2.5, 1.5, 3.0]), "labels.npy").tolist() == ["1.5", "2.5", "1.5", "3"]


def test_labels_that_look_alike_are_told():
    (remark,) = look_alikes(np.array(["yes", "no", "yes ", "Yes", "no"]))
    assert remark == (
        "classes that differ in blanks or capitals only: 'Yes', 'yes', 'yes '; if they are one, "
        "mend the labels"
    )
    assert look_alikes(np.array(["yes", "no"])) == []
    assert look_alikes(np.array([1, 2, 1])) == []
    assert look_alikes(np.array([True, False])) == []


def test_classes_of_which_no_row_is_held_out():
    labels = np.array(["sky", "sea", "rare"])[[0] * 20 + [1] * 20 + [2]]
    assert unwatched(labels, labels[:1]) == [
        "no rows of the classes 'rare' (1), 'sea' (20) are held out: the accuracy tells nothing of "
        "them"
    ]
    assert unwatched(labels, labels) == []
    (remark,) = unwatched(labels, labels[:0])
    assert remark.startswith("no rows are held out: ")
