r"""The law by which a hinge becomes Gaussian, for the weights of linear models and of topics.

As a function of one score a term is :math:`(\zeta)_+` with :math:`\zeta = b(\rho - f)`, side
:math:`b = \pm 1` and level :math:`\rho`, but for a constant. Given
:math:`1/\lambda \sim IG(2/(c|\zeta|), 1)`
(:func:`~bayesmargin.foundation.random.augmentation_precision`) it is the exponent of a Gaussian,

.. math::

   e^{-c(\zeta)_+} \to \exp\big(-\tfrac{\omega}{2} f^2 + t f\big), \qquad
   \omega = \frac{c^2}{4\lambda}, \qquad t = \frac c2 b + \omega\rho .
"""

from bayesmargin.foundation.compiling import inner_borrowing_jit, inner_jit


def gaussian_terms(half, side, level, mixing):  # type: ignore[no-untyped-def]
    r"""Precision :math:`\omega` and pull :math:`t` of scores; ``half`` is :math:`c/2`.

    ``mixing`` is :math:`1/\lambda`. Numbers or arrays; kernels call :data:`gaussian_term`.

    Examples
    --------
    >>> from bayesmargin.augmentation.law import gaussian_terms
    >>> gaussian_terms(0.5, -1.0, 2.0, 4.0)
    (1.0, 1.5)
    """
    precision = half * half * mixing
    return precision, half * side + precision * level


gaussian_term = inner_jit(gaussian_terms)


@inner_borrowing_jit
def seen_by_class(is_own, own, rival, margin):  # type: ignore[no-untyped-def]
    r"""Side and level of a row's hinge as the weights of one class see it, the others fixed.

    Of a row of that class it is :math:`(\ell + r - f)_+`, and :math:`r`, the ``rival``, is the
    largest other score. Of another class's row, whose ``own`` score is :math:`s`, it is a constant
    plus :math:`(f - \rho)_+` with :math:`\rho = s - \ell + (\ell + r - s)_+`; the rival is
    neither of the two.
    """
    if is_own:
        return 1.0, margin + rival
    return -1.0, own - margin + max(0.0, margin + rival - own)
