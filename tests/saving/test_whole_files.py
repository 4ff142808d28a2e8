"""Files that take their name when they are whole, where the name is no file's."""

import os
import stat
import sys

import pytest

from bayesmargin.saving.files import whole_file


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
def test_what_is_written_to_a_pipe_goes_through_it(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with whole_file(pipe) as draft:
            draft.write_text("page")
        assert stat.S_ISFIFO(pipe.stat().st_mode)  # and not a file instead
        assert os.read(reader, 10) == b"page"
    finally:
        os.close(reader)
    assert [item.name for item in tmp_path.iterdir()] == ["pipe"]


def test_a_link_stays_a_link_to_the_new_file(tmp_path):
    (tmp_path / "page.html").write_text("old")
    (tmp_path / "link.html").symlink_to(tmp_path / "page.html")
    with whole_file(tmp_path / "link.html") as draft:
        draft.write_text("new")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "page.html").read_text() == "new"
