r"""The posterior of a kernel model as the Gaussian nearest to it, where that is near enough.

Under a kernel a score has a wide prior and many rows that know of it, so that the posterior of the
features is close to normal more often than that of a handful of weights. So the Gaussian is taken
that has the moments which rows give their scores (:mod:`bayesmargin.approximation.matching`). What
it cannot have is skewness, the third term of the energy along a direction, and that is measured, as
is whether its moments are those asked for, and whether gradients say that mean and width are quite
other ones. Where both are well independent draws of the Gaussian
stand for the posterior; where they are not, chains run.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.diagnostics.convergence import Diagnostics
from bayesmargin.diagnostics.gaussian import Gaps, gaps
from bayesmargin.models.linear.fitting import LinearData
from bayesmargin.models.linear.gaussian import GaussianFits, gaussian_fits, matched_fits
from bayesmargin.running.run import Run

SKEWED = 0.3  # skewness along a direction, in root mean square over directions, that is too much
FAR, OTHERWISE = 1.0, 2.0  # deviations of the mean, and times a variance, likewise
UNSETTLED = 0.05  # disagreement of moments with those asked for that is too much
CLOSE_ENOUGH = 0.1  # deviations of the posterior by which least divergence is told
LOOKED_AT, FEWEST, READ = 200, 50, 2e8  # draws at which gradients are; of very many rows fewer
MATCHED = 100_000  # rows, at most, whose moments are matched: more have them anyway


@dataclass(frozen=True)
class GaussianDiagnostics(Diagnostics):
    """Figures of independent draws of a Gaussian near the posterior.

    ``bias`` is the mean relative disagreement between variances of scores and those that their own
    rows ask for.

    Attributes
    ----------
    skewness : float
        That of the posterior along the directions of the Gaussian, in root mean square; of several
        classes the largest. Draws have none.
    """

    skewness: float = 0.0

    def __str__(self) -> str:
        return (
            "The posterior can be trusted: it is near to a Gaussian (skewness of its directions "
            f"{self.skewness:.2f}, variances met to {abs(self.bias):.1%}), of which "
            f"{self.n_iterations} independent draws were made, in {self.seconds:.1f} s."
        )


def _far(found: Gaps) -> bool:
    """Whether the posterior is elsewhere than the Gaussian."""
    alike = 1.0 / OTHERWISE < found.variance_ratio < OTHERWISE
    return found.mean_off > FAR or not alike


def gaussian_run(
    data: LinearData,
    scale: float,
    settings: Any,
    generators: Sequence[np.random.Generator],
) -> tuple[Run, GaussianFits] | None:
    """Draws of the Gaussians of all classes; None where the posterior is not like that.

    One chain is made for each generator but the last.
    """
    began = time.perf_counter()
    facts = (data, settings.C, settings.margin, scale)
    wider = 0.0
    if len(data.label) > MATCHED:
        fits = gaussian_fits(*facts, tolerance=CLOSE_ENOUGH)
    else:
        fits = matched_fits(*facts)
        assert fits.matches is not None
        if max(max(one.rest, abs(one.wider)) for one in fits.matches) > UNSETTLED:
            return None
        wider = float(np.mean([one.wider for one in fits.matches]))
    spawned = [rng.spawn(1)[0] for rng in generators]
    size = fits.parts[0].rows.shape[1]
    found, count = [], LOOKED_AT  # with half as many a skewness of 0.05 was told as 3.5
    if fits.matches is None:
        count = int(np.clip(READ / (len(data.label) * size), FEWEST, LOOKED_AT))
    for k, (part, anchor) in enumerate(zip(fits.parts, fits.anchors, strict=True)):
        draws = spawned[-1].standard_normal((count, size))
        matches = fits.matches
        slopes = part.gradients(anchor, draws) if matches is None else matches[k].gradients(draws)
        found.append(gaps(draws, slopes))
    skewness = max(one.skewness for one in found)
    if skewness > SKEWED or any(_far(one) for one in found):
        return None
    shape = (settings.n_draws, size)
    draws = np.stack(
        [
            np.concatenate(
                [one.mean + rng.standard_normal(shape) @ one.factor.T for one in fits.anchors],
                axis=1,
            )
            for rng in spawned[:-1]
        ]
    )
    count = len(draws) * settings.n_draws
    diagnostics = GaussianDiagnostics(
        max_rhat=1.0,
        min_bulk_ess=float(count),
        min_tail_ess=float(count),
        temperature=1.0,
        thermostat_shift=0.0,
        bias=wider,
        divergences=0,
        n_iterations=count,
        seconds=time.perf_counter() - began,
        converged=True,
        trustworthy=True,
        skewness=skewness,
    )
    info = {
        "sampler": "Anchor",
        "step": 0.0,
        "rows_in_reach": len(data.label),
        "anchor_passes": max(one.iterations for one in fits.anchors),
        "mean_off": max(one.mean_off for one in found),
        "variance_ratio": float(np.mean([one.variance_ratio for one in found])),
        "skewness": skewness,
        "gradient_noise": 0.0,
        "notes": "",
    }
    mean = np.concatenate([one.mean for one in fits.anchors])
    variance = np.concatenate([one.variances() for one in fits.anchors])
    return Run(draws, diagnostics, info, (mean, variance)), fits
