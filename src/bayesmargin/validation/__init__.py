"""Evidence that a sampler is right: references, tests and figures, for ours and for yours.

Every test takes a :class:`~bayesmargin.samplers.Sampler` or a *transition*: a function that, given
a :class:`~bayesmargin.targets.problem.Problem`, returns a kernel
``kernel(weights, rng) -> weights``.

* :func:`quadrature`: moments of a posterior in one to three dimensions, by integration.
* :func:`geweke_test`: joint draws of weights and labels from two simulators that must agree.
* :func:`calibration_ranks`: simulation-based calibration, with ranks.
* :func:`agreement`: two sets of draws of one posterior, coordinate by coordinate.
* :func:`bias_curve`: error against step, with the fitted order.
* :func:`kernel_stein_discrepancy`: finished draws against the gradient of the posterior.
"""

from bayesmargin.samplers import Sampler
from bayesmargin.validation.agreement import Agreement, agreement, moment_scores
from bayesmargin.validation.bias import BiasCurve, bias_curve
from bayesmargin.validation.calibration import CalibrationRanks, calibration_ranks
from bayesmargin.validation.geweke import GewekeResult, geweke_test
from bayesmargin.validation.joint import draw_joint, draw_labels, label_problems
from bayesmargin.validation.kernels import Kernel, Transition, as_transition, run_kernel
from bayesmargin.validation.quadrature import Reference, quadrature
from bayesmargin.validation.stein import SteinDiscrepancy, kernel_stein_discrepancy

__all__ = [
    "Agreement",
    "BiasCurve",
    "CalibrationRanks",
    "GewekeResult",
    "Kernel",
    "Reference",
    "Sampler",
    "SteinDiscrepancy",
    "Transition",
    "agreement",
    "as_transition",
    "bias_curve",
    "calibration_ranks",
    "draw_joint",
    "draw_labels",
    "geweke_test",
    "kernel_stein_discrepancy",
    "label_problems",
    "moment_scores",
    "quadrature",
    "run_kernel",
]
