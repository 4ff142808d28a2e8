"""Lines of svmlight text against scikit-learn's reader, and the lines that are left to Python."""

import io
import random

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from bayesmargin.errors import DataError
from bayesmargin.rows import open_rows, svmlight_text
from bayesmargin.rows.svmlight_text import read_lines

PLAIN = [repr, "{:.6g}".format, "{:.17g}".format, "{:.2e}".format, "{:.0f}".format]
UNUSUAL = ["1_000", "123456789012345678901234567890", "1e-300", "4e-320", "-0.0", "+.5E+1"]


def made_text(rng, numbers, n_lines):
    """Lines with blanks, comments and query numbers in many places."""
    lines = []
    for _ in range(n_lines):
        fields, index = [rng.choice(["1", "-1", "+1", "0.25", "3e0"])], 0
        if rng.random() < 0.2:
            fields.append(rng.choice(["qid:3", "qid:1:2", "qid:"]))
        for _ in range(rng.randint(0, 6)):
            index += rng.randint(1, 500)
            fields.append(f"{index}:{numbers(rng)}")
        line = rng.choice([" "] * 5 + ["  ", "\t", " \x0b"]).join(fields)
        lines.append(line + rng.choice([""] * 5 + ["\r", " ", "#c 1:2", " # remark"]))
        lines += rng.choice([[]] * 8 + [[""], ["# nothing 3:4"], ["\t\r"]])
    return "\n".join(lines).encode()


def plain(rng):
    return rng.choice(PLAIN)(rng.gauss(0.0, 1.0) * 10.0 ** rng.randint(-9, 9))


def assert_read_alike(text):
    rows = read_lines(text)
    matrix, labels = load_svmlight_file(io.BytesIO(text), n_features=2**31 - 1, zero_based=False)
    np.testing.assert_array_equal(rows.labels, labels)
    np.testing.assert_array_equal(rows.bounds, matrix.indptr)
    np.testing.assert_array_equal(rows.columns, matrix.indices)
    np.testing.assert_array_equal(rows.values.view(np.uint64), matrix.data.view(np.uint64))


def test_plain_lines_are_read_by_compiled_code_alone(monkeypatch):
    def refuse(*_):
        raise AssertionError("a plain line was left to Python")

    monkeypatch.setattr(svmlight_text, "read_line", refuse)
    for seed in range(5):
        assert_read_alike(made_text(random.Random(seed), plain, 300))


def test_unusual_numbers_between_plain_ones():
    def numbers(rng):
        return rng.choice(UNUSUAL) if rng.random() < 0.1 else plain(rng)

    for seed in range(5):
        assert_read_alike(made_text(random.Random(seed), numbers, 300))


@pytest.mark.parametrize("text", [b"", b"\n", b"# c", b" \t\r\n#\n"])
def test_text_without_rows(text):
    rows = read_lines(text)
    assert [len(part) for part in rows] == [0, 1, 0, 0]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("yes 1:1", "is not 'label index:value ...': it has 'yes'"),
        ("1,2 1:1", "is not 'label index:value ...': it has '1,2'"),
        ("nan 1:1", "has the label nan: labels are finite numbers"),
        ("1 1:1 2", "is not 'label index:value ...': it has '2'"),
        ("1 1:1 2:", "is not 'label index:value ...': it has '2:'"),
        ("1 :3", "is not 'label index:value ...': it has ':3'"),
        ("1 1:2:3", "is not 'label index:value ...': it has '1:2:3'"),
        ("1 1:0x10", "is not 'label index:value ...': it has '1:0x10'"),
        ("1 1.0:3", "is not 'label index:value ...': it has '1.0:3'"),
        ("1 qid 1:3", "is not 'label index:value ...': it has 'qid'"),
        ("1 1:3 qid:3", "is not 'label index:value ...': it has 'qid:3'"),
        ("1 1:3\0", "is not 'label index:value ...': it has '1:3\\x00'"),
        (f"1 {'9' * 50}x", f"is not 'label index:value ...': it has '{'9' * 40}...'"),
        ("1 0:1", "has the index 0, but indices start from 1"),
        ("1 2:1 2:1", "has the index 2 after 2: indices increase"),
        ("1 2147483648:1", "has the index 2147483648, beyond 2147483647"),
        ("1 99999999999999999999:1", "has the index 99999999999999999999, beyond 2147483647"),
        ("1 1:inf", "has the value inf: features are finite numbers"),
        ("1 1:1e400", "has the value inf: features are finite numbers"),
        ("1 1:1_000_000", "has the value 1e+06: features are at most 1000 in size"),
        ("1 1:-1001", "has the value -1001: features are at most 1000 in size"),
    ],
)
@pytest.mark.parametrize("end", ["", "\n", "\r\n1 3:2\n"])
def test_the_line_to_blame_is_told(line, told, end):
    text = f"1 1:1\r\n\n# c\n1 1:1_0\n{line}{end}".encode()
    with pytest.raises(DataError) as caught:
        read_lines(text, 100, 1000.0)
    assert str(caught.value).startswith(f"line 105 {told}")


def test_lines_are_counted_over_pieces_of_a_file(tmp_path):
    path = tmp_path / "long.svm"
    path.write_text("+1 1:0.5 2:0.25\n" * 20_000 + "-1 3:high\n")
    with pytest.raises(DataError, match=r"long\.svm: line 20001 is not .* it has '3:high'"):
        open_rows(path, memory=1 << 20)


def test_values_that_single_precision_rounds_to_infinity_are_refused(tmp_path):
    path = tmp_path / "large.svm"
    path.write_text("1 1:3.40282356e38\n")
    assert open_rows(path)[:].data.tolist() == [float(np.finfo(np.float32).max)]
    path.write_text("1 1:1\n1 1:3.40282357e38\n")
    with pytest.raises(DataError, match=r"line 2 has the value 3\.40282e\+38"):
        open_rows(path)
