"""Where the time of ``make test`` goes: tests and compilation, by folder, from an empty cache.

    python benchmarks/suite_time.py [--share 1/4] [--workers 2] [-- tests/linear ...]

Runs the fast tests as ``make test`` does, with a compile cache that is empty at the start, and
adds up the processor seconds of every test and of the compiler. Kernels that two workers compiled
are told. ``--share 1/4`` takes every fourth folder, for machines where a run must be short.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from options import command_line
from reporting import finish

ROOT = Path(__file__).parents[1]
WISHED = 360.0  # seconds of the whole suite with an empty cache, two quiet cores
NOTES = "SUITE_TIME_NOTES"  # folder of what the workers note down


class Notes:
    """A pytest plugin: seconds of every test, and of every kernel that was compiled."""

    def __init__(self, folder):
        self.file = Path(folder) / f"{os.getpid()}.jsonl"
        self.begun, self.kernels, self.depth = {}, [], 0

    def on_start(self, event):
        self.depth += 1
        if self.depth == 1:
            self.start = time.thread_time()

    def on_end(self, event):
        self.depth -= 1
        if self.depth == 0:
            function = event.data["dispatcher"].py_func
            name = f"{function.__module__}.{function.__qualname__}"
            self.kernels.append((name, time.thread_time() - self.start))

    def pytest_runtest_logstart(self, nodeid, location):
        self.begun[nodeid] = (time.perf_counter(), processor_seconds())
        self.kernels = []

    def pytest_runtest_logfinish(self, nodeid, location):
        if nodeid not in self.begun:  # the process that hands the tests out
            return
        wall, processor = self.begun.pop(nodeid)
        note = {
            "test": nodeid,
            "seconds": time.perf_counter() - wall,
            "processor": processor_seconds() - processor,
            "kernels": self.kernels,
        }
        with self.file.open("a") as file:
            file.write(json.dumps(note) + "\n")


def processor_seconds():
    """Of this process and of those it has waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


def pytest_configure(config):
    """Notes are taken where tests run; the program is its own plugin."""
    if hasattr(config, "workerinput") or config.getoption("numprocesses", None) in (0, None):
        from numba.core import event

        notes = Notes(os.environ[NOTES])
        config.pluginmanager.register(notes, "notes")

        class Ear(event.Listener):
            def on_start(self, event):
                notes.on_start(event)

            def on_end(self, event):
                notes.on_end(event)

        event.register("numba:compile", Ear())


def main():
    options = command_line(__doc__)
    options.add_argument("--share", default="1/1")
    options.add_argument("--workers", default="2")
    options.add_argument("--kept", help="folder of a cache that is not empty")
    options.add_argument("tests", nargs="*")
    given = options.parse_args()
    part, parts = map(int, given.share.split("/"))
    folders = sorted(p.name for p in (ROOT / "tests").iterdir() if any(p.glob("test_*.py")))
    tests = given.tests or [f"tests/{name}" for name in folders[part - 1 :: parts]]
    with tempfile.TemporaryDirectory() as folder:
        cache, notes = given.kept or str(Path(folder) / "cache"), Path(folder) / "notes"
        notes.mkdir()
        found = {
            **os.environ,
            "OPENBLAS_NUM_THREADS": "1",
            "BAYESMARGIN_CACHE": cache,
            NOTES: str(notes),
            "PYTHONPATH": os.pathsep.join(
                [str(ROOT / "src"), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
            ),
        }
        spread = ["-n", given.workers, "--dist", "loadfile"]
        plugin = ["-p", "suite_time", "-p", "no:cacheprovider", "-m", "not slow"]
        command = [sys.executable, "-m", "pytest", *spread, *plugin, *tests]
        began, before = time.perf_counter(), processor_seconds()
        done = subprocess.run(command, cwd=ROOT, env=found, check=False)
        seconds, processor = time.perf_counter() - began, processor_seconds() - before
        told = [(file.stem, json.loads(line)) for file in notes.iterdir() for line in file.open()]
    report(given.share, told, seconds, processor, done.returncode)


def report(share, told, seconds, processor, code):
    """Tables by test, by kernel and by folder."""
    tests = [note for _, note in told]
    for note in sorted(tests, key=lambda one: -one["processor"])[:60]:
        compiling = sum(took for _, took in note["kernels"])
        print(f"{note['processor']:7.1f} s, {compiling:5.1f} compiling: {note['test']}")
    kernels, workers = defaultdict(float), defaultdict(set)
    for worker, note in told:
        for name, took in note["kernels"]:
            kernels[name] += took
            workers[name].add(worker)
    for name, took in sorted(kernels.items(), key=lambda one: -one[1])[:40]:
        print(f"{took:7.1f} s in {len(workers[name])} workers: {name}")
    compiling = sum(kernels.values())
    folders = defaultdict(lambda: [0, 0.0, 0.0])
    for note in tests:
        row = folders["/".join(note["test"].split("::")[0].split("/")[:2])]
        row[0] += 1
        row[1] += note["processor"]
        row[2] += sum(took for _, took in note["kernels"])
    rows = [[name, *row] for name, row in sorted(folders.items(), key=lambda one: -one[1][1])]
    rows.append(["all", len(tests), processor, compiling])
    bound = {
        "bound": f"the whole suite takes at most {WISHED:.0f} s",
        "measured": f"{share} of it took {seconds:.0f} s, exit status {code}",
        "met": code == 0 and share == "1/1" and seconds <= WISHED,
    }
    name = "suite_time" if share == "1/1" else f"suite_time_{share.replace('/', '_of_')}"
    finish(name, ["folder", "tests", "processor_s", "compiling_s"], rows, bound["met"], [bound])


if __name__ == "__main__":
    main()
