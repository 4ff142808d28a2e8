"""Threads that share work: every share once, errors reach the caller."""

import os
import threading

import pytest
from joblib import Parallel, delayed

from bayesmargin.foundation.threads import N_SHARES, ThreadPool, cut
from bayesmargin.foundation.threads import n_threads as threads_for


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="only Linux tells")
def test_every_core_is_every_core_that_the_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 2, 5, 7, 8})
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    for n_parts in (None, 100):
        wanted = (None, -1, -2, -4, -9, 3)
        assert [threads_for(n_jobs, n_parts) for n_jobs in wanted] == [5, 5, 4, 2, 1, 3]
    assert [threads_for(n_jobs, 3) for n_jobs in (None, -2, 2)] == [3, 3, 2]


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_task_that_joblib_runs_beside_others_takes_one_core(backend):
    tasks = [delayed(threads_for)(n_jobs) for n_jobs in (None, 3)]
    assert Parallel(n_jobs=2, backend=backend)(tasks) == [1, 3]
    assert Parallel(n_jobs=1)(tasks) == [threads_for(-1), 3]  # no others are beside it


def test_shares_cover_everything_once():
    found = [place for share in cut(101) for place in range(share.start, share.stop)]
    assert found == list(range(101))


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_every_share_is_done_once_and_tools_are_not_shared(n_threads):
    done, held, guard = [], set(), threading.Lock()

    def task(share, tool):
        with guard:
            assert tool not in held
            held.add(tool)
            done.append(share)
        with guard:
            held.remove(tool)

    numbers = iter(range(n_threads))
    with ThreadPool(n_threads, lambda: next(numbers)) as pool:
        assert pool.tools == list(range(n_threads))
        pool.run(task, range(N_SHARES))
        pool.run(task, reversed(range(N_SHARES)))
    assert sorted(done) == sorted(2 * list(range(N_SHARES)))


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("error", [IndexError, ValueError])
def test_an_error_in_a_share_reaches_the_caller(n_threads, error):
    def task(share, tool):
        if share == 3:
            raise error("of the task")

    with ThreadPool(n_threads, object) as pool, pytest.raises(error, match="of the task"):
        pool.run(task, range(N_SHARES))


def test_no_share_is_begun_after_an_error():
    done = []

    def task(share, tool):
        if share == 3:
            raise ValueError("of the task")
        done.append(share)

    with ThreadPool(1) as pool, pytest.raises(ValueError, match="of the task"):
        pool.run(task, range(N_SHARES))
    assert done == [0, 1, 2]
