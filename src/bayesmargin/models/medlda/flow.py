r"""The exact flow of the topics (SCIR), word by word and only when a word is needed.

Topics are :math:`\Phi_{kw} = \pi_{kw} / \sum_{w'} \pi_{kw'}` with prior :math:`\pi_{kw} \sim
\mathrm{Gamma}(\beta, 1)`, stored as ``topics[word, topic]``. Over a time h every weight follows the
Cox-Ingersoll-Ross flow, which leaves :math:`\mathrm{Gamma}(a_{kw}, 1)` invariant and has no step
error:

.. math:: \pi_{kw} \leftarrow \tfrac{1 - e^{-h}}2\,\chi'^2\!\Big(2 a_{kw},\,
          \tfrac{2 \pi_{kw} e^{-h}}{1 - e^{-h}}\Big), \qquad a_{kw} = \beta + \tfrac DB \bar n_{kw}

A word that a minibatch lacks has :math:`a = \beta`, and such steps compose: g of them are one step
over the sum of their times. Words are therefore left where they are, with the time of their last
move, until a minibatch holds them (:func:`catch_up`); a step costs as much as the minibatch has
words, not the vocabulary. What a step needs of the words left behind is their sum, which is
replaced by its conditional mean: :math:`\mathrm{E}\,\pi - \beta` falls by :math:`e^{-h}` in a time
h, so that the sum of these deviations is kept by a few operations a topic.
"""

import math
from typing import Any

import numpy as np
from scipy.special import gammainccinv, gammaincinv

from bayesmargin.foundation.compiling import borrowing_jit, inner_borrowing_jit
from bayesmargin.foundation.streams import next_bits
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.medlda.exponential import exponential

_S31, _S32 = np.uint64(31), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_UNIT = np.float32(2.0**-32)
_MANY, _FEW = 10.0, 3
# Smallest weight, which single precision still holds. A small beta has smaller ones, and a word of
# which every topic had none would go to the first of them.
_LEAST = 1e-36
# The table of quantiles has 2^8 cells an octave, from 1/2 down to 2^-24 from either end.
_CELL_BITS, _OCTAVES = 8, 23
_CELLS = 1 << _CELL_BITS
_SHIFT = np.int32(23 - _CELL_BITS)
_MANTISSA, _ONE = np.int32((1 << 23) - 1), np.int32(127 << 23)
_FIRST = np.int32((126 - _OCTAVES) << _CELL_BITS)
_LAST = np.int32(_OCTAVES * _CELLS)


def quantile_table(shape: float) -> FloatArray:
    """Quantiles of the Gamma law at the cell edges: the lower half, then the upper half.

    Edges are geometric in the distance from the nearer end, where quantiles change by factors; the
    straight lines between them are within 2e-4 of the quantile for shapes of 0.1 or more.
    """
    powers = 2.0 ** -np.arange(_OCTAVES + 1.0, 1.0, -1.0)
    inside = 1.0 + np.arange(_CELLS) / _CELLS
    edges = np.append((powers[:, None] * inside).ravel(), 0.5)
    # One more number, which the middle of the law reads and multiplies by zero.
    quantiles = [gammaincinv(shape, edges), gammainccinv(shape, edges), [0.0]]
    return np.concatenate(quantiles).astype(np.float32)


@inner_borrowing_jit
def draw_quantile(table: FloatArray, bits: Any) -> float:
    """Gamma variate from the lower 32 of random bits."""
    upper = np.int64(bits >> _S31) & 1
    distance = np.int64(bits & _LOW) ^ (-upper & 0xFFFFFFFF)
    level = np.float32((np.float32(distance) + np.float32(0.5)) * _UNIT).view(np.int32)
    cell = min(max((level >> _SHIFT) - _FIRST, np.int32(0)), _LAST) + upper * (_LAST + 1)
    # The place in the cell as the mantissa of a number from 1 to 2: a product of small numbers with
    # it keeps its digits, where a compiler is free to multiply them by a unit of 2^-15 first.
    inside = np.int32(((level << _CELL_BITS) & _MANTISSA) | _ONE).view(np.float32) - np.float32(1.0)
    return table[cell] + inside * (table[cell + 1] - table[cell])


@inner_borrowing_jit
def large_poisson(rng: np.random.Generator, mean: float) -> int:
    """Poisson variate of mean 10 or more, by the transformed rejection of Hormann (1993).

    NumPy's own method in compiled code allocates memory at every call.
    """
    root = np.sqrt(mean)
    b = 0.931 + 2.53 * root
    a = 0.02483 * b - 0.059
    while True:
        u, v = rng.random() - 0.5, rng.random()
        near = 0.5 - abs(u)
        found = np.floor((2.0 * a / near + b) * u + mean + 0.43)
        if near >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2.0):
            return int(found)
        if found < 0.0 or (near < 0.013 and v > near):
            continue
        scaled = v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (near * near) + b)
        if math.log(scaled) <= found * math.log(mean) - mean - math.lgamma(found + 1.0):
            return int(found)


@inner_borrowing_jit
def draw_jumps(rng: np.random.Generator, bits: Any, mean: Any) -> int:
    """Poisson variate; a small one comes from the upper 32 of random bits."""
    if mean >= _MANY:
        return large_poisson(rng, mean)
    jumps = 0
    level = np.float32(bits >> _S32) * _UNIT
    term = exponential(np.float32(-mean))
    reached = term
    while level >= reached and jumps < 60:
        jumps += 1
        term *= np.float32(mean / jumps)
        reached += term
    return jumps


@inner_borrowing_jit
def flow_of_shape(
    rng: np.random.Generator, bits: Any, mean: Any, shape: float, spread: float
) -> float:
    """One weight after the flow: a Gamma variate whose shape has a Poisson part, times ``spread``.

    ``mean`` is that of the Poisson part, ``shape`` the rest. Above a shape of 1/2 the noncentral
    chi-square is a shifted normal, squared, and a Gamma.
    """
    if shape > 0.5:
        shifted = rng.standard_normal() + np.sqrt(2.0 * mean)
        return spread * (rng.standard_gamma(shape - 0.5) + 0.5 * shifted * shifted)
    return spread * rng.standard_gamma(shape + draw_jumps(rng, bits, mean))


@inner_borrowing_jit
def flow(
    rng: np.random.Generator,
    stream: Any,
    table: FloatArray,
    bits: Any,
    mean: Any,
    shape: float,
    spread: float,
) -> float:
    """:func:`flow_of_shape` with the ``table`` of that very shape, up to 1/2.

    A small whole number in the shape adds as many exponential variates.
    """
    if shape > 0.5 or mean >= _MANY:
        return flow_of_shape(rng, bits, mean, shape, spread)
    jumps = draw_jumps(rng, bits, mean)
    if jumps > _FEW:
        return spread * rng.standard_gamma(shape + jumps)
    product = np.float32(1.0)
    for _ in range(jumps):
        product *= (np.float32(next_bits(stream) >> _S32) + np.float32(0.5)) * _UNIT
    return spread * (draw_quantile(table, bits) - np.log(product))


@borrowing_jit
def catch_up(
    rng: np.random.Generator,
    stream: Any,
    table: FloatArray,
    topics: FloatArray,
    moved: FloatArray,
    words: IntArray,
    n_topics: int,
    beta: float,
    clock: float,
    change: FloatArray,
) -> None:
    """Bring ``words`` to the time ``clock`` under the prior.

    ``moved[word]`` holds two times: of the weights, and of those that :func:`absorb` moved since,
    which have a minus sign. ``change`` receives what this adds to the sums over words, beyond the
    expected.
    """
    for i in range(words.shape[0]):
        word = words[i]
        if not clock > moved[word, 0]:
            continue
        decay, late = np.exp(moved[word, 0] - clock), np.exp(moved[word, 1] - clock)
        spread, late_spread = 1.0 - decay, 1.0 - late
        ratio, late_ratio = decay / spread, late / max(late_spread, 1e-300)
        plain = beta <= 0.5
        for k in range(n_topics):
            old = topics[word, k]
            mean, bits = np.float32(old * ratio), next_bits(stream)
            # Most weights are small and most Poisson numbers zero: then one look-up does.
            level = np.float32(bits >> _S32) * _UNIT
            if plain and old >= 0.0 and level < np.float32(1.0) - mean:
                new = max(spread * draw_quantile(table, bits), _LEAST)
                topics[word, k] = new
                change[k] += new - beta - (old - beta) * decay
            elif old >= 0.0:
                new = max(flow(rng, stream, table, bits, mean, beta, spread), _LEAST)
                topics[word, k] = new
                change[k] += new - beta - (old - beta) * decay
            elif late_spread > 0.0:
                mean = np.float32(-old * late_ratio)
                new = max(flow(rng, stream, table, bits, mean, beta, late_spread), _LEAST)
                topics[word, k] = new
                change[k] += new - beta + (old + beta) * late
            else:
                topics[word, k] = -old
        moved[word, 0] = clock
        moved[word, 1] = clock


@borrowing_jit
def absorb(
    rng: np.random.Generator,
    stream: Any,
    topics: FloatArray,
    moved: FloatArray,
    words: IntArray,
    counts: IntArray,
    n_topics: int,
    beta: float,
    inflation: float,
    step: float,
    clock: float,
    change: FloatArray,
) -> None:
    """One step of the weights that have ``counts``, which are set to zero; the others wait.

    ``clock`` is the time after the step; ``inflation`` turns counts into an estimate for the whole
    corpus. The words are up to date before.
    """
    decay = np.exp(-step)
    spread = 1.0 - decay
    ratio = decay / spread
    for i in range(words.shape[0]):
        word = words[i]
        for k in range(n_topics):
            count = counts[word, k]
            if count > 0:
                counts[word, k] = 0
                old, shape = topics[word, k], beta + inflation * count
                mean, bits = np.float32(old * ratio), next_bits(stream)
                new = flow_of_shape(rng, bits, mean, shape, spread)
                topics[word, k] = -new
                change[k] += new - beta - (old - beta) * decay
        moved[word, 1] = clock


@borrowing_jit
def list_words(
    words: IntArray, offsets: IntArray, chosen: IntArray, marks: IntArray, found: IntArray
) -> int:
    """Write every word of the chosen documents once into ``found``; return their number.

    ``marks`` (vocabulary) is all zero before and after.
    """
    n_found = 0
    for position in range(chosen.shape[0]):
        d = chosen[position]
        for n in range(offsets[d], offsets[d + 1]):
            word = words[n]
            if marks[word] == 0:
                marks[word] = 1
                found[n_found] = word
                n_found += 1
    for i in range(n_found):
        marks[found[i]] = 0
    return n_found


@borrowing_jit
def merge_counts(target: IntArray, other: IntArray, words: IntArray) -> None:
    """Add the counts of another thread for these words, and set them to zero there."""
    for i in range(words.shape[0]):
        word = words[i]
        for k in range(target.shape[1]):
            target[word, k] += other[word, k]
            other[word, k] = 0


@borrowing_jit
def clear_counts(counts: IntArray, words: IntArray) -> None:
    """Set the counts of these words to zero."""
    for i in range(words.shape[0]):
        for k in range(counts.shape[1]):
            counts[words[i], k] = 0
