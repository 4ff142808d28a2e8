"""The sentence about trust: what one chain can show, and what only several can."""

from types import SimpleNamespace

import numpy as np

from bayesmargin.cli.trust import trust
from bayesmargin.models.mixtures.diagnostics import MixtureDiagnostics


def mixture(n_chains, r_hat):
    """What the sentence reads of a fitted mixture."""
    figures = {
        "components": {"mean": 4.0, "r_hat": 1.0, "effective_draws": 90.0},
        "partition": {"mean": -9.0, "r_hat": r_hat, "effective_draws": 90.0},
        "moved": 0.1,
    }
    return SimpleNamespace(diagnostics_=MixtureDiagnostics(figures, np.full((n_chains, 50), 4)))


def test_one_chain_is_not_said_to_agree_with_others():
    good, sentence = trust(mixture(1, 1.01))
    assert good
    assert sentence == (
        "The chain has settled; whether other starts arrive there, only several chains can tell "
        "(worst R-hat 1.010, of the partition; 4.0 components on average)."
    )


def test_several_chains_that_agree_can_be_trusted():
    good, sentence = trust(mixture(2, 1.01))
    assert good
    assert sentence.startswith("The chains can be trusted (worst R-hat 1.010")


def test_an_unsettled_partition_is_told_with_advice():
    for n_chains in (1, 2):
        good, sentence = trust(mixture(n_chains, 1.2))
        assert good is False
        assert sentence.startswith("The partition has NOT settled: increase n_sweeps (worst R-hat")
