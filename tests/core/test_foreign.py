"""Code of ours compiled for a class from outside the package follows the files of that class."""

import os
import subprocess
import sys
import textwrap
from typing import NamedTuple

import numba
import pytest

from bayesmargin.foundation.foreign import modules_outside
from bayesmargin.targets.coordinates import Identity, fill_weights

PART = """
from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import implements
from bayesmargin.foundation.foreign import modules_outside
from bayesmargin.targets.coordinates import to_weights
from {package}factors import FACTOR


class Stretched(NamedTuple):
    offset: float


@implements(to_weights, Stretched, borrows=True)
def _weights(coordinates, position, out):
    for j in range(position.shape[0]):
        out[j] = coordinates.offset + FACTOR * position[j]
"""

ASK = """
import numpy as np
from {package}parts import Stretched
from bayesmargin.foundation.foreign import modules_outside
from bayesmargin.targets.coordinates import fill_weights
out = np.empty(2)
fill_weights(Stretched(0.5), np.array([1.0, 2.0]), out)
print(out.tolist(), len(fill_weights.stats.cache_hits))
"""

ANOTHER = """
import numpy as np
from bayesmargin.foundation.foreign import modules_outside
from bayesmargin.targets.coordinates import Identity, fill_weights
out = np.empty(2)
fill_weights(Identity(), np.array([1.0, 2.0]), out)
print(out.tolist())
"""


def ask(folder, program, package=""):
    found = subprocess.run(
        [sys.executable, "-B", "-W", "ignore", "-c", program.replace("{package}", package)],
        cwd=folder,
        env={**os.environ, "BAYESMARGIN_CACHE": str(folder / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


@pytest.mark.parametrize("package", ["", "mine.", "mine.relative."])
def test_a_part_from_outside_is_compiled_anew_when_its_files_change(package, tmp_path):
    home = tmp_path.joinpath(*package.split("."))
    home.mkdir(parents=True, exist_ok=True)
    within = "." if "relative" in package else package
    (home / "parts.py").write_text(PART.replace("{package}", within))
    (home / "factors.py").write_text("FACTOR = 1.0\n")
    assert ask(tmp_path, ASK, package) == "[1.5, 2.5] 0"
    assert ask(tmp_path, ASK, package) == "[1.5, 2.5] 1"
    (home / "factors.py").write_text("FACTOR = 10.0\n")
    assert ask(tmp_path, ASK, package) == "[10.5, 20.5] 0"
    (home / "parts.py").write_text(
        PART.replace("{package}", within).replace("offset +", "offset -")
    )
    assert ask(tmp_path, ASK, package) == "[-9.5, -19.5] 0"
    if package == "":  # a process that cannot import the part does not meet it
        (home / "parts.py").unlink()
        assert ask(tmp_path, ANOTHER) == "[1.0, 2.0]"


class _Own(NamedTuple):
    size: float


def test_nothing_is_kept_of_a_class_that_no_other_process_can_import():
    class Local(NamedTuple):
        size: float

    kernel = fill_weights.py_func
    for own, outside in ((_Own(1.0), {__name__}), (Local(1.0), None), (Identity(), set())):
        types = (numba.typeof((2, own)), numba.float64)
        assert modules_outside(kernel, types) == outside


def test_code_on_disk_is_read_from_a_folder_that_cannot_be_written_to(tmp_path):
    """A cache that was baked into an image belongs to somebody else."""
    (tmp_path / "parts.py").write_text(PART.replace("{package}", ""))
    (tmp_path / "factors.py").write_text("FACTOR = 1.0\n")
    refused = "import tempfile, numba.core.caching as c\n" + textwrap.dedent("""
        def refuse(*args, **kwargs):
            raise PermissionError("read only")
        c.tempfile.TemporaryFile = c.os.makedirs = c.IndexDataCacheFile._open_for_write = refuse
    """)
    assert ask(tmp_path, refused + ASK) == "[1.5, 2.5] 0"
    assert not (tmp_path / "cache").exists()
    assert ask(tmp_path, ASK) == "[1.5, 2.5] 0"
    assert ask(tmp_path, refused + ASK) == "[1.5, 2.5] 1"
