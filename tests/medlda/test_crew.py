"""Threads that share work: every share once, errors reach the caller."""

import os
import threading

import pytest

from bayesmargin.foundation.threads import n_threads as threads_for
from bayesmargin.models.medlda.crew import N_SHARES, Crew, count_threads, cut


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="only Linux tells")
def test_every_core_is_every_core_that_the_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 2, 5, 7, 8})
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    for count in (count_threads, lambda n_jobs: threads_for(n_jobs, 100)):
        assert [count(n_jobs) for n_jobs in (-1, -2, -4, -9, 3)] == [5, 4, 2, 1, 3]


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
    with Crew(n_threads, lambda: next(numbers)) as crew:
        assert crew.tools == list(range(n_threads))
        crew.run(task, range(N_SHARES))
        crew.run(task, reversed(range(N_SHARES)))
    assert sorted(done) == sorted(2 * list(range(N_SHARES)))


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("error", [IndexError, ValueError])
def test_an_error_in_a_share_reaches_the_caller(n_threads, error):
    def task(share, tool):
        if share == 3:
            raise error("of the task")

    with Crew(n_threads, object) as crew, pytest.raises(error, match="of the task"):
        crew.run(task, range(N_SHARES))
