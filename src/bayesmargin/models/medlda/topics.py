r"""Two ways to move the topics: Riemannian Langevin (SGRLD) and the exact CIR flow (SCIR).

Both work on the expanded mean :math:`\Phi_{kw} = \pi_{kw} / \sum_{w'} \pi_{kw'}` with prior
:math:`\pi_{kw} \sim \mathrm{Gamma}(\beta, 1)`, stored as ``topics[word, topic]``. ``counts`` are
integers added up over kept sweeps and threads; ``inflation`` turns them into an estimate for the
whole corpus, (D/B) / (number of kept sweeps).
"""

import numpy as np

from bayesmargin.compiling import jit
from bayesmargin.types import FloatArray, IntArray


@jit
def step_sgrld(
    rng: np.random.Generator,
    topics: FloatArray,
    counts: IntArray,
    pull: FloatArray,
    n_topics: int,
    beta: float,
    inflation: float,
    step: float,
    sums: FloatArray,
) -> None:
    r"""One mirrored step of Patterson and Teh's sampler for a block of words.

    .. math:: \pi_{kw} \leftarrow \Big| \pi_{kw} + \tfrac\epsilon2 \big[\beta - \pi_{kw} +
              \tfrac DB (\bar n_{kw} - \Phi_{kw} \bar n_{k\cdot})\big]
              + \sqrt{\epsilon\,\pi_{kw}}\,\nu \Big|

    ``pull`` is :math:`(D/B) \bar n_{k\cdot} / \sum_w \pi_{kw}`, by which :math:`\pi_{kw}` enters
    the last term. Leaves the new column sums in ``sums``.
    """
    real = topics.dtype.type
    half, root, prior, factor = real(0.5 * step), real(np.sqrt(step)), real(beta), real(inflation)
    noise = np.empty(n_topics, dtype=topics.dtype)
    rates = np.empty(n_topics, dtype=topics.dtype)
    for k in range(n_topics):
        rates[k] = 1.0 + pull[k]
    sums[:] = 0.0
    for word in range(topics.shape[0]):
        for k in range(n_topics):
            noise[k] = rng.standard_normal()
        for k in range(n_topics):
            count = counts[0, word, k]
            for thread in range(1, counts.shape[0]):
                count += counts[thread, word, k]
            present = topics[word, k]
            drift = prior - present * rates[k] + factor * real(count)
            moved = abs(present + half * drift + root * np.sqrt(present) * noise[k])
            topics[word, k] = moved
            sums[k] += moved


@jit
def step_scir(
    rng: np.random.Generator,
    topics: FloatArray,
    counts: IntArray,
    n_topics: int,
    beta: float,
    inflation: float,
    step: float,
    sums: FloatArray,
) -> None:
    r"""One transition of the Cox-Ingersoll-Ross flow for a block of words, without any step error.

    .. math:: \pi_{kw} \leftarrow \tfrac{1 - e^{-h}}2\,\chi'^2\!\Big(2 a_{kw},\,
              \tfrac{2 \pi_{kw} e^{-h}}{1 - e^{-h}}\Big), \qquad
              a_{kw} = \beta + \tfrac DB \bar n_{kw}

    The noncentral chi-square is twice a Gamma with a Poisson-shifted shape.
    """
    decay = np.exp(-step)
    spread = 1.0 - decay
    sums[:] = 0.0
    for word in range(topics.shape[0]):
        for k in range(n_topics):
            count = 0
            for thread in range(counts.shape[0]):
                count += counts[thread, word, k]
            jumps = rng.poisson(topics[word, k] * decay / spread)
            moved = spread * rng.standard_gamma(beta + inflation * count + jumps)
            topics[word, k] = moved
            sums[k] += moved
