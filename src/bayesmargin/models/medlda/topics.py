r"""Riemannian Langevin steps for the topics (SGRLD).

They work on the expanded mean :math:`\Phi_{kw} = \pi_{kw} / \sum_{w'} \pi_{kw'}` with prior
:math:`\pi_{kw} \sim \mathrm{Gamma}(\beta, 1)`, stored as ``topics[word, topic]``. ``counts`` are
integers added up over kept sweeps and threads; ``inflation`` turns them into an estimate for the
whole corpus, (D/B) / (number of kept sweeps). The flow without step error is in :mod:`.flow`.

The noise of an Euler step needs the right mean and variance only, to have the same order of error
(Kloeden and Platen, 1992, chapter 14), and at millions of weights a step it is what costs. Here it
is the sum of four random bytes, in units of its standard deviation: symmetric, with kurtosis 2.7,
made of whole vectors of generators, one a topic.
"""

from typing import Any

import numpy as np

from bayesmargin.foundation.compiling import borrowing_jit
from bayesmargin.foundation.types import FloatArray, IntArray

_S5, _S8, _S13, _S16, _S17 = (np.uint32(s) for s in (5, 8, 13, 16, 17))
_PAIRS, _LOW = np.uint32(0x00FF00FF), np.uint32(0xFFFF)
_MEAN, _UNIT = np.int32(510), 1.0 / np.sqrt(4.0 * (256.0**2 - 1.0) / 12.0)
_BLOCK = 128


@borrowing_jit
def step_sgrld(
    lanes: Any,
    topics: FloatArray,
    marks: IntArray,
    counts: IntArray,
    rates: FloatArray,
    priors: FloatArray,
    inflation: float,
    step: float,
    partial: FloatArray,
    sums: FloatArray,
) -> None:
    r"""One mirrored step of Patterson and Teh's sampler for a block of words.

    .. math:: \pi_{kw} \leftarrow \Big| \pi_{kw} + \tfrac\epsilon2 \big[\beta - \pi_{kw} +
              \tfrac DB (\bar n_{kw} - \Phi_{kw} \bar n_{k\cdot})\big]
              + \sqrt{\epsilon\,\pi_{kw}}\,\nu \Big|

    ``rates`` is :math:`1 + (D/B) \bar n_{k\cdot} / \sum_w \pi_{kw}`, the rate at which
    :math:`\pi_{kw}` falls; ``priors`` is :math:`\beta`, and 0 for topics that are padding. Words
    without ``marks`` have no ``counts``. ``lanes`` holds the state of a xorshift generator
    (Marsaglia, 2003) a topic. Leaves the new column sums in ``sums``; ``partial`` is work space.
    """
    real = topics.dtype.type
    half, spread = real(0.5 * step), real(np.sqrt(step) * _UNIT)
    factor = real(0.5 * step * inflation)
    sums[:] = 0.0
    for first in range(0, topics.shape[0], _BLOCK):
        partial[:] = 0
        for word in range(first, min(first + _BLOCK, topics.shape[0])):
            for k in range(topics.shape[1]):
                x = lanes[k]
                x = np.uint32(x ^ np.uint32(x << _S13))
                x = np.uint32(x ^ np.uint32(x >> _S17))
                x = np.uint32(x ^ np.uint32(x << _S5))
                lanes[k] = x
                pairs = np.uint32((x & _PAIRS) + (np.uint32(x >> _S8) & _PAIRS))
                noise = np.int32((pairs & _LOW) + np.uint32(pairs >> _S16)) - _MEAN
                old = topics[word, k]
                drift = half * (priors[k] - old * rates[k])
                topics[word, k] = old + drift + spread * np.sqrt(old) * real(np.int32(noise))
            if marks[word] != 0:
                for k in range(topics.shape[1]):
                    topics[word, k] += factor * real(counts[word, k])
            for k in range(topics.shape[1]):
                moved = abs(topics[word, k])
                topics[word, k] = moved
                partial[k] += moved
        for k in range(topics.shape[1]):
            sums[k] += partial[k]
