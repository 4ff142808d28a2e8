"""A journal brings the draws of wide chains back, whatever room there is for them."""

from types import SimpleNamespace

import numpy as np
import pytest

from bayesmargin.foundation import storage
from bayesmargin.running.journal import Journal
from bayesmargin.samplers.wide import WideChain
from bayesmargin.samplers.wide_watch import Watch

N_DRAWS = 8


def counting_chain():
    """A chain whose draws are 1, 2, 3 and so on."""
    clock = np.zeros(1)

    def advance(positions, trace, thin):
        for position in positions:
            clock[0] += 1.0
            position[:] = clock[0]
        return len(positions)

    chain = WideChain(
        number=0,
        advance=advance,
        watch=Watch(np.array([0])),
        to_weights=lambda position: position,
        size=2,
        describe="counting",
        moving=((clock,), np.random.default_rng(0)),
    )
    chain.reserve(storage.DrawStore(1, N_DRAWS, 2), 2)
    return chain


def go_on(journal, chain, n_draws, stop):
    """A stretch of ``n_draws``, left after ``stop`` of them."""
    stretch = journal.stretch([chain], n_draws)
    if stretch.done < stop:
        with stretch.round(stop - stretch.done):
            chain.run(stop - stretch.done, 1)
    stretch.end()


def sampled(journal, stop):
    """Eight draws, of which every second stays, and four more, of which ``stop`` are made."""
    chain = counting_chain()
    go_on(journal, chain, N_DRAWS, N_DRAWS)
    chain.halve()
    go_on(journal, chain, N_DRAWS // 2, stop)
    return chain


@pytest.mark.parametrize("interval", [1, 2])
def test_draws_come_back_when_the_disk_has_more_or_less_room(monkeypatch, interval):
    undisturbed = sampled(Journal(), N_DRAWS // 2)
    checkpoint = SimpleNamespace(active=True, state=None)
    crashed = Journal(checkpoint)
    sampled(crashed, 2)
    checkpoint.state = crashed.records
    monkeypatch.setattr(storage, "draw_interval", lambda *_: interval)
    resumed = sampled(Journal(checkpoint), N_DRAWS // 2)
    assert resumed.made == undisturbed.made == N_DRAWS
    np.testing.assert_array_equal(resumed.store.array, undisturbed.store.array)
    np.testing.assert_array_equal(resumed.moments.mean, undisturbed.moments.mean)
