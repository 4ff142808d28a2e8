"""A posterior of two weights: the paper's samplers and ours against quadrature, at equal time."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from bayesmargin.errors import DivergenceError
from bayesmargin.experiments.clock import Stopwatch
from bayesmargin.experiments.curves import compiled, next_draws
from bayesmargin.experiments.drawing import COLOURS, OURS, panels
from bayesmargin.experiments.paper_samplers import thermostat
from bayesmargin.experiments.results import Result, Verdict
from bayesmargin.experiments.sizes import Setup
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.types import FloatArray
from bayesmargin.plots import ACCENT
from bayesmargin.samplers import SSGLD, AugmentationGibbs, Sampler
from bayesmargin.samplers.auto import Auto
from bayesmargin.targets.problem import Problem
from bayesmargin.validation.problems import synthetic_plane
from bayesmargin.validation.quadrature import Reference, quadrature

KEPT = 5000  # draws a run, as in the paper
STEPS = {"SSGLD": (0.001, 0.003, 0.01, 0.03, 0.1), "SSGNHT": (3e-4, 1e-3, 3e-3, 1e-2, 3e-2)}
BATCHES = (10, 100)
VISIBLE = 0.02  # of variance ratios: about their Monte Carlo error
ALIKE = (0.8, 1.25)  # variance ratios that panels do not show

TEXT = (
    "Two weights, {n_rows} rows uniform on the unit square. The paper shows grey-level panels of "
    "{paper_draws} draws of SSGLD, SSGNHT and augmentation Gibbs and calls them alike. Here every "
    "sampler "
    "has {budget:g} s of processor time, preparation included, and is compared with quadrature "
    "({n_seeds} seeds, root mean squares). The steps and batches of the paper's two samplers "
    "({ssgld_setting}; {ssgnht_setting}) are those that come closest to quadrature, "
    "which favours them. Energy distances (zero for equal laws; {floor:.1e} for {kept} "
    "independent exact "
    "draws): SSGLD {ssgld_distance:.1e}, SSGNHT {ssgnht_distance:.1e}, Gibbs "
    "{gibbs_distance:.1e}, ours with "
    "control variates {ours_distance:.1e}. Variances over the true ones: SSGLD {ssgld_ratio:.3f}, "
    "SSGNHT "
    "{ssgnht_ratio:.3f}, Gibbs {gibbs_ratio:.3f}, ours {ours_ratio:.3f}."
)


class Truth(NamedTuple):
    """The posterior by quadrature, and what the comparison with it needs."""

    reference: Reference
    points: FloatArray  # whitened
    probability: FloatArray
    spread: float  # mean distance between two draws
    whiten: Callable[[FloatArray], FloatArray]


def truth_of(problem: Problem) -> Truth:
    """Quadrature on a grid fine against the posterior, in whitened coordinates."""
    reference = quadrature(problem, 80)
    factor = np.linalg.cholesky(reference.covariance)
    centre = reference.mean

    def whiten(draws: FloatArray) -> FloatArray:
        return np.linalg.solve(factor, (draws - centre).T).T

    heavy = reference.probability > 1e-8
    probability = reference.probability[heavy] / reference.probability[heavy].sum()
    points = whiten(reference.points[heavy])
    spread = float(probability @ cdist(points, points) @ probability)
    return Truth(reference, points, probability, spread, whiten)


def energy_distance(truth: Truth, draws: FloatArray) -> float:
    r"""Energy distance :math:`2E|X-Y| - E|X-X'| - E|Y-Y'|` in whitened coordinates, unbiased."""
    white = truth.whiten(draws)
    cross = float(np.mean(cdist(white, truth.points) @ truth.probability))
    within = float(cdist(white, white).sum() / (len(white) * (len(white) - 1)))
    return 2.0 * cross - within - truth.spread


def errors(truth: Truth, draws: FloatArray) -> dict[str, float]:
    """Energy distance and errors of mean and covariance, in posterior standard deviations."""
    white = truth.whiten(draws)
    covariance = np.cov(white.T)
    return {
        "energy distance": energy_distance(truth, draws),
        "mean error": float(np.sqrt(np.mean(white.mean(axis=0) ** 2))),
        "covariance error": float(np.sqrt(np.mean((covariance - np.eye(2)) ** 2))),
        "variance ratio": float(np.trace(covariance) / 2.0),
    }


def timed_draws(sampler: Sampler, problem: Problem, seconds: float, seed: int) -> FloatArray:
    """About :data:`KEPT` draws spread over the later nine tenths of a run of some seconds."""
    watch = Stopwatch()
    with watch.running():
        ensemble = sampler.start(problem, spawn_generators(seed, 2))
        next_draws(ensemble, 20, 10)
    left, trial = seconds - watch.seconds, Stopwatch()
    with trial.running():
        next_draws(ensemble, 20, 50)
    iterations = max(1.0, (left - trial.seconds) / (trial.seconds / 1000.0))
    burn, thin = int(0.1 * iterations), max(1, int(0.9 * iterations / KEPT))
    with watch.running():
        next_draws(ensemble, 1, max(1, burn))
        kept = next_draws(ensemble, max(20, min(KEPT, int(0.9 * iterations))), thin)
    return kept


def tuned(
    name: str, problem: Problem, truth: Truth, seconds: float, seed: int
) -> tuple[Sampler, str, list[dict[str, Any]]]:
    """The paper's form of a sampler at the step and batch that come closest to the truth."""
    rows: list[dict[str, Any]] = []
    for batch in BATCHES:
        for step in STEPS[name]:
            sampler = paper_sampler(name, step, batch)
            try:
                found = errors(truth, timed_draws(sampler, problem, seconds, seed))
            except DivergenceError:
                continue
            rows.append({"sampler": name, "step": step, "batch": batch, **found})
    best = min(rows, key=lambda row: row["energy distance"])
    setting = f"{name} step {best['step']:g}, batch {best['batch']}"
    return paper_sampler(name, best["step"], best["batch"]), setting, rows


def paper_sampler(name: str, step: float, batch: int) -> Sampler:
    """Raw coordinates, no control variates, Euler steps."""
    if name == "SSGNHT":
        return thermostat(step, batch)
    return SSGLD(step=step, batch_size=batch, preconditioner=None, control_variates=False)


def run(setup: Setup) -> Result:
    """Tune, run every sampler from several seeds, compare, draw."""
    problem = synthetic_plane(seed=setup.seed)
    truth, seconds = truth_of(problem), setup.choose(1.0, 3.0)
    samplers: dict[str, Sampler] = {"Gibbs": AugmentationGibbs(), OURS: Auto()}
    for warm in (*samplers.values(), *(paper_sampler(name, 0.01, 10) for name in STEPS)):
        compiled(warm, problem)
    watch, settings = Stopwatch(), {}
    grid: list[dict[str, Any]] = []
    with watch.running():
        for name in STEPS:
            best, settings[name], rows = tuned(name, problem, truth, seconds, setup.seed + 100)
            samplers[name] = best
            grid += rows
    order = ("SSGLD", "SSGNHT", "Gibbs", OURS)
    n_seeds = setup.choose(3, 5)
    numbers: list[dict[str, Any]] = []
    shown: dict[str, FloatArray] = {}
    for name in order:
        for k in range(n_seeds):
            draws = timed_draws(samplers[name], problem, seconds, setup.seed + k)
            numbers.append({"sampler": name, "seed": setup.seed + k, "draws": len(draws),
                            **errors(truth, draws)})  # fmt: skip
            shown.setdefault(name, draws)
    table = [summary(name, numbers) for name in order]
    facts = _facts(table, settings, setup, truth)
    facts |= {"n_rows": problem.source.n_rows, "budget": seconds, "n_seeds": n_seeds,
              "search_seconds": watch.seconds}  # fmt: skip
    numbers += [{"sampler": f"{row['sampler']}, grid search", **row} for row in grid]
    return Result(
        title="A posterior of two weights",
        text=TEXT,
        figure=_draw(truth, shown),
        numbers=numbers,
        facts=facts,
        paper={"paper_draws": 5000},
        table=table,
        verdicts=_verdicts(facts),
    )


def summary(name: str, numbers: list[dict[str, Any]]) -> dict[str, Any]:
    """Root mean squares over seeds, and the mean ratio of variances."""
    own = [row for row in numbers if row["sampler"] == name]
    row: dict[str, Any] = {"sampler": name}
    for key in ("energy distance", "mean error", "covariance error"):
        row[key] = float(np.sqrt(np.mean([one[key] ** 2 for one in own])))
    row["variance ratio"] = float(np.mean([one["variance ratio"] for one in own]))
    return row


def _facts(table: list[dict[str, Any]], settings: Any, setup: Setup, truth: Truth) -> Any:
    (rng,) = spawn_generators(setup.seed + 500, 1)
    facts: dict[str, Any] = {"kept": KEPT}
    for row in table:
        key = "ours" if row["sampler"] == OURS else row["sampler"].lower()
        facts[f"{key}_distance"] = row["energy distance"]
        facts[f"{key}_mean"] = row["mean error"]
        facts[f"{key}_covariance"] = row["covariance error"]
        facts[f"{key}_ratio"] = row["variance ratio"]
    for name, setting in settings.items():
        facts[f"{name.lower()}_setting"] = setting
    exact = [
        energy_distance(truth, truth.reference.points[chosen])
        for chosen in rng.choice(
            len(truth.reference.points), (4, KEPT), p=truth.reference.probability
        )
    ]
    facts["floor"] = float(np.sqrt(np.mean(np.square(exact))))
    best = min(("ssgld", "ssgnht"), key=lambda one: facts[f"{one}_distance"])
    facts["best"] = best.upper()
    facts["best_distance"] = facts[f"{best}_distance"]
    facts["best_mean"], facts["best_covariance"] = (
        facts[f"{best}_mean"],
        facts[f"{best}_covariance"],
    )
    facts["gain"] = facts["best_distance"] / facts["ours_distance"]
    return facts


def _verdicts(facts: dict[str, Any]) -> list[Verdict]:
    ratios = {key: facts[f"{key}_ratio"] for key in ("ssgld", "ssgnht", "gibbs")}
    wider = min(ratios["ssgld"], ratios["ssgnht"]) > ratios["gibbs"] + VISIBLE
    return [
        Verdict(
            f"the panels of the paper's three samplers are alike (variances {ALIKE[0]} to "
            f"{ALIKE[1]} times the true ones)",
            all(ALIKE[0] < value < ALIKE[1] for value in ratios.values()),
            "Variances over the true ones {ssgld_ratio:.3f}, {ssgnht_ratio:.3f} and "
            "{gibbs_ratio:.3f}",
        ),
        Verdict(
            f"the stochastic samplers are slightly wider than Gibbs (both by {VISIBLE} of the true "
            "variance or more)",
            wider,
            "SSGLD {ssgld_ratio:.3f}, SSGNHT {ssgnht_ratio:.3f}, Gibbs {gibbs_ratio:.3f}"
            + ("" if wider else "; the search takes steps whose width is right on average, "
               "covariance errors remain: {ssgld_covariance:.3f}, {ssgnht_covariance:.3f}"),
        ),
        Verdict(
            "ours, untuned, is closer to the posterior at equal time than the paper's best sampler",
            facts["ours_distance"] < facts["best_distance"],
            "Energy distance {ours_distance:.1e} against {best_distance:.1e} of {best} "
            "({gain:.1f} times); "
            "mean error {ours_mean:.3f} against {best_mean:.3f}, covariance error "
            "{ours_covariance:.3f} against {best_covariance:.3f}",
        ),
    ]  # fmt: skip


def _draw(truth: Truth, shown: dict[str, FloatArray]) -> Any:
    figure, axes = panels(1, 1 + len(shown), 2.3, 2.5, sharex=True, sharey=True)
    reference = truth.reference
    grid = reference.points.reshape(*reference.shape, 2)
    density = reference.probability.reshape(reference.shape).T
    x, y = grid[:, 0, 0], grid[0, :, 1]
    ranked = np.sort(reference.probability)[::-1]
    levels = sorted(ranked[np.searchsorted(np.cumsum(ranked), share)] for share in (0.5, 0.9, 0.99))
    reach = 4.2 * np.sqrt(np.diag(reference.covariance))
    low, high = reference.mean - reach, reference.mean + reach
    edges = [np.linspace(low[j], high[j], 46) for j in range(2)]
    axes[0, 0].pcolormesh(x, y, density, cmap="Greys", shading="nearest", rasterized=True)
    axes[0, 0].set_title("quadrature", fontsize=9)
    for axis, (name, draws) in zip(axes[0, 1:], shown.items(), strict=True):
        counts, _, _ = np.histogram2d(draws[:, 0], draws[:, 1], bins=edges)
        axis.pcolormesh(*edges, counts.T, cmap="Greys", rasterized=True)
        axis.contour(x, y, density, levels=levels, colors=ACCENT, linewidths=0.7)
        axis.set_title(name, fontsize=9, color=COLOURS[name])
    axes[0, 0].set_xlim(low[0], high[0])
    axes[0, 0].set_ylim(low[1], high[1])
    figure.supxlabel("first weight", fontsize=9)
    axes[0, 0].set_ylabel("second weight", fontsize=9)
    return figure
