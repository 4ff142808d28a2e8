"""Inner products side by side: one at a time each addition would wait for the one before."""

from bayesmargin.foundation.compiling import inner_borrowing_jit


@inner_borrowing_jit
def four_products(first, second, third, fourth, vector, zero):  # type: ignore[no-untyped-def]
    """Inner products of four vectors with one, in the precision of ``zero``."""
    one, two, three, four = zero, zero, zero, zero
    for j in range(vector.shape[0]):
        value = vector[j]
        one += first[j] * value
        two += second[j] * value
        three += third[j] * value
        four += fourth[j] * value
    return one, two, three, four


@inner_borrowing_jit
def eight_products(first, second, third, fourth, vector, other, zero):  # type: ignore[no-untyped-def]
    """Inner products of four vectors with two, in the precision of ``zero``."""
    one, two, three, four = zero, zero, zero, zero
    five, six, seven, eight = zero, zero, zero, zero
    for j in range(vector.shape[0]):
        a, b, c, d = first[j], second[j], third[j], fourth[j]
        value, more = vector[j], other[j]
        one += a * value
        two += b * value
        three += c * value
        four += d * value
        five += a * more
        six += b * more
        seven += c * more
        eight += d * more
    return one, two, three, four, five, six, seven, eight
