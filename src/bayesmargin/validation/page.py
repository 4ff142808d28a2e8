"""The validation page: every sampler against the truth, written by ``make validation``.

Run as ``python -m bayesmargin.validation.page docs``; with ``--real`` also on IJCNN1 and a9a, which
takes minutes.
"""

import argparse
import platform
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bayesmargin.validation import figures
from bayesmargin.validation.bias import BiasCurve
from bayesmargin.validation.measuring import (
    N_CHAINS,
    N_DRAWS,
    SAMPLERS,
    SCENES,
    Row,
    geweke_results,
    measure,
    orders,
    rank_results,
    real_data,
)
from bayesmargin.validation.quadrature import quadrature
from bayesmargin.validation.stein import kernel_stein_discrepancy


def table(rows: list[Row], curves: dict[str, BiasCurve]) -> Iterator[str]:
    """The table as lines of Markdown."""
    names = "mean error (sd) | variance ratio | order in h | µs per effective draw"
    yield f"| sampler | target | {names} |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in rows:
        family = row.sampler.rsplit(", h ", 1)[0]
        order = f"{curves[family].order:.2f}" if family in curves else "exact"
        if "epsilon 0.01" in row.sampler:
            order = "no step; test error"
        yield (
            f"| {row.sampler} | {row.scene} | {row.mean_error:.3f} ± {row.mean_noise:.3f} | "
            f"{row.variance_ratio:.3f} ± {row.variance_noise:.3f} | {order} | "
            f"{row.microseconds:.1f} |"
        )


HEAD = """# Validation

Written by `{command}`; no figure here was typed by hand. Machine: {machine}, one core.

Every sampler of the library meets posteriors whose moments are known by integration. The mean error
is the worst over the weights, in posterior standard deviations; the variance ratio is the mean over
the weights; both carry one Monte Carlo standard error ({n_chains} chains of {n_draws} draws). The
order is the exponent of the step that fits the bias of a second moment (figure below). The cost
counts all processor time of a run, preparation included, over the smallest effective sample size.

"""
GEWEKE = """
## Geweke tests

Weights and labels drawn jointly in two ways, by rejection and by a chain that alternates labels
given weights with one transition of the sampler (three rows, two weights). The scores are standard
normal for a kernel that is right; the last panel shows a step that is too large being caught.

![Quantiles of the two simulators](validation/geweke.png)

"""
RANKS = """
## Simulation-based calibration

Ranks of the true weights among {draws} draws, over {sets} simulated data sets; the band holds 99%
of the bars of a right sampler.

![Rank histograms](validation/ranks.png)
"""
BIAS = """
## Bias against step

Second moment of `U = x²/2 + 3 (1 - x)₊`, full gradients, mean over thirty independent copies of the
weight.

![Bias against step](validation/bias.png)

"""
PLANE = """
## A posterior in the plane

A thousand rows on the unit square with labels from the normalised pseudo-likelihood. Contours hold
50, 90 and 99% of the density by integration. The kernel Stein discrepancy compares 1000 draws of
each sampler with the gradient of the posterior; a small p-value is evidence against the draws.

![The same posterior from every sampler](validation/plane.png)

"""


def write(folder: Path, real: bool) -> None:
    """Compute everything and write the page with its figures."""
    pictures = folder / "validation"
    pictures.mkdir(parents=True, exist_ok=True)
    rows, plane_draws = [], {}
    for scene, make in SCENES.items():
        problem = make()
        truth = quadrature(problem, 300 if scene.startswith("plane") else None)
        for name in SAMPLERS:
            row, draws = measure(name, scene, problem, truth)
            rows.append(row)
            if scene.startswith("plane"):
                plane_draws[name] = draws
    curves, geweke = orders(), geweke_results()
    n_sets, n_draws = 300, 19
    ranks = rank_results(n_sets, n_draws)
    figures.quantile_plots(geweke, pictures / "geweke.png")
    figures.rank_histograms(ranks, pictures / "ranks.png")
    figures.bias_curves(curves, pictures / "bias.png")
    figures.plane_panels(truth, plane_draws, pictures / "plane.png")
    machine = f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}"
    command = "python -m bayesmargin.validation.page docs --real" if real else "make validation"
    parts = [HEAD.format(command=command, machine=machine, n_chains=N_CHAINS, n_draws=N_DRAWS)]
    parts += [line + "\n" for line in table(rows, curves)]
    parts += [GEWEKE, "| sampler | worst score | p-value |\n| --- | --- | --- |\n"]
    parts += [f"| {name} | {g.worst:.2f} | {g.p_value:.3g} |\n" for name, g in geweke.items()]
    parts += [RANKS.format(draws=n_draws, sets=n_sets), BIAS]
    parts += ["| sampler | order | standard error |\n| --- | --- | --- |\n"]
    parts += [f"| {n} | {c.order:.2f} | {c.order_error:.2f} |\n" for n, c in curves.items()]
    parts += [PLANE, "| sampler | squared discrepancy | p-value |\n| --- | --- | --- |\n"]
    for name, draws in plane_draws.items():
        flat = draws.reshape(-1, draws.shape[-1])
        chosen = flat[np.linspace(0, len(flat) - 1, 1000).astype(int)]
        stein = kernel_stein_discrepancy(problem, chosen)
        parts.append(f"| {name} | {stein.squared:.2e} | {stein.p_value:.3f} |\n")
    if real:
        parts += ["\n## Real data: exact Gibbs against HMC\n\n"]
        parts += [line + "\n" for line in real_data()]
    (folder / "validation.md").write_text("".join(parts), encoding="utf-8")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the page goes")
    parser.add_argument("--real", action="store_true", help="also compare on IJCNN1 and a9a")
    given = parser.parse_args()
    write(given.folder, given.real)


if __name__ == "__main__":
    main()
