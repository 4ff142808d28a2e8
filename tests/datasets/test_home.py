"""Where files are looked for, and what happens when they are missing: downloads and errors."""

import hashlib
import http.server
import logging
import re
import subprocess
import sys
import threading
from functools import partial

import pytest

from bayesmargin.datasets import (
    ChecksumError,
    DataNotFoundError,
    available,
    data_homes,
    fetch_a9a,
    fetch_higgs,
    fetch_realsim,
    fetch_wikipedia,
)
from bayesmargin.datasets import (
    home as home_module,
)
from bayesmargin.datasets.registry import ADVICE, PARTS, SOURCES, Source

WIKI = "wiki_sample/wiki_test.gml"
WIKI_TEXT = b"2\n1 1 3 5\n2 1 4 5 900\n"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Keep the test output clean."""


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Serve ``served/`` on the loopback and return its address."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "wiki.gml").write_bytes(WIKI_TEXT)
    handler = partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_the_argument_beats_the_environment(home, tmp_path):
    assert data_homes() == [home]
    assert data_homes(tmp_path) == [tmp_path]


def test_without_either_the_checkout_and_then_the_user_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("BAYESMARGIN_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    package = tmp_path / "trees" / "checkout" / "src" / "package" / "home.py"
    monkeypatch.setattr(home_module, "__file__", str(package))
    own = tmp_path / "user" / "bayesmargin_data"
    shared = tmp_path / "trees" / "shared" / "data"
    shared.mkdir(parents=True)
    assert data_homes() == [own], "no pyproject.toml above: an installed package, not a checkout"
    (tmp_path / "trees" / "checkout").mkdir()
    (tmp_path / "trees" / "checkout" / "pyproject.toml").touch()
    assert data_homes() == [shared, own]


def test_the_next_folder_is_searched_too(tmp_path, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"
    monkeypatch.setattr(home_module, "data_homes", lambda data_home: [first, second])
    (second / "wiki_sample").mkdir(parents=True)
    (second / WIKI).write_bytes(WIKI_TEXT)
    assert home_module.find_part("wikipedia", "all") == second / WIKI


def test_missing_without_a_public_source(home):
    with pytest.raises(DataNotFoundError) as caught:
        fetch_a9a()
    message = str(caught.value)
    for piece in ("a9a/a9a.train.svm.xz", str(home), "LIBSVM", "BAYESMARGIN_DATA", "data_home"):
        assert piece in message
    assert isinstance(caught.value, FileNotFoundError)


def test_missing_and_not_to_be_downloaded(home):
    with pytest.raises(DataNotFoundError, match=re.escape(SOURCES["real-sim/real-sim.bz2"].url)):
        fetch_realsim(download_if_missing=False)
    with pytest.raises(DataNotFoundError, match=r"fetch_higgs\(full=True\)"):
        fetch_higgs()
    with pytest.raises(DataNotFoundError, match=r"HIGGS\.csv\.gz"):
        fetch_higgs(full=True, download_if_missing=False)


def test_download_with_the_right_checksum(home, server, monkeypatch):
    digest = hashlib.sha256(WIKI_TEXT).hexdigest()
    monkeypatch.setitem(SOURCES, WIKI, Source(f"{server}/wiki.gml", digest, "local"))
    assert not available("wikipedia")
    assert fetch_wikipedia(subset="all").word_ids.tolist() == [5, 900]
    assert available("wikipedia")
    assert (home / WIKI).read_bytes() == WIKI_TEXT
    assert not (home / (WIKI + ".sha256")).exists()


def test_a_wrong_checksum_leaves_no_file(home, server, monkeypatch):
    monkeypatch.setitem(SOURCES, WIKI, Source(f"{server}/wiki.gml", "0" * 64, "local"))
    with pytest.raises(ChecksumError, match=f"{server}/wiki.gml is not the file on record"):
        fetch_wikipedia()
    assert [path for path in home.rglob("*") if path.is_file()] == []
    assert not (home / WIKI).parent.exists()


def test_an_unknown_checksum_is_logged_and_kept(home, server, monkeypatch, caplog):
    monkeypatch.setitem(SOURCES, WIKI, Source(f"{server}/wiki.gml", None, "none"))
    digest = hashlib.sha256(WIKI_TEXT).hexdigest()
    with caplog.at_level(logging.WARNING, logger="bayesmargin.datasets"):
        fetch_wikipedia()
    assert digest in caplog.text
    assert (home / (WIKI + ".sha256")).read_text() == f"{digest}  wiki_test.gml\n"


def test_a_source_that_does_not_answer(home, server, monkeypatch):
    monkeypatch.setitem(SOURCES, WIKI, Source(f"{server}/gone.gml", None, "none"))
    with pytest.raises(DataNotFoundError, match=r"gone\.gml could not be saved.*404"):
        fetch_wikipedia()
    assert not (home / WIKI).exists()
    assert not (home / WIKI).parent.exists()
    (home / WIKI).parent.mkdir(parents=True)
    with pytest.raises(DataNotFoundError):
        fetch_wikipedia()
    assert (home / WIKI).parent.exists()  # it was there before


def test_without_pooch_the_message_says_how_to_get_it(home, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DataNotFoundError, match=re.escape('pip install "bayesmargin[data]"')):
        fetch_wikipedia()


def test_available_knows_the_names(home):
    assert not any(available(name) for name in PARTS)
    assert available("fetch_ijcnn1") is available("ijcnn1")
    with pytest.raises(ValueError, match=r"no data set is called 'mnist'.*ijcnn1"):
        available("mnist")


def test_the_tables_fit_together():
    files = {path for parts in PARTS.values() for paths in parts.values() for path in paths}
    assert set(SOURCES) <= files
    for name, parts in PARTS.items():
        for paths in parts.values():
            assert name in ADVICE or any(path in SOURCES for path in paths)
    for source in SOURCES.values():
        assert (source.sha256 is None) == (source.checksum_from == "none")
        assert source.sha256 is None or re.fullmatch("[0-9a-f]{64}", source.sha256)


def test_the_import_is_light():
    code = (
        "import sys, bayesmargin.datasets; "
        "print([m for m in ('sklearn', 'scipy', 'numba', 'pooch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
