import dataclasses

import numpy as np
import pytest

from bayesmargin.experiments import synthetic_posterior
from bayesmargin.experiments.results import read_rows
from bayesmargin.experiments.running import reproduce
from bayesmargin.experiments.sizes import Setup
from bayesmargin.validation.problems import synthetic_plane


def test_smoothing_is_written_and_its_claims_hold(tmp_path):
    lines = []
    page = reproduce(["smoothing"], Setup("quick"), tmp_path, lines.append)
    text = page.read_text()
    assert text.count("**Holds:**") == 2
    assert "Does not hold" not in text
    assert (tmp_path / "reproduction" / "smoothing.png").stat().st_size > 5000
    assert lines[0].startswith("smoothing: running at size quick")


def test_a_missing_data_set_costs_no_other_experiment(tmp_path, monkeypatch):
    """Those after it run as well, the page is written, and the error comes at the end."""
    from bayesmargin.datasets import DataNotFoundError
    from bayesmargin.experiments import adagrad

    def nothing_here(setup):
        raise DataNotFoundError("no file higgs.csv. What to do: save it")

    monkeypatch.setattr(adagrad, "run", nothing_here)
    lines = []
    with pytest.raises(DataNotFoundError, match=r"for want of data: adagrad\. no file higgs.csv"):
        reproduce(["adagrad", "smoothing"], Setup("quick"), tmp_path, lines.append)
    assert "adagrad: left out, its data are not here" in lines
    assert "## Polynomial smoothing" in (tmp_path / "reproduction.md").read_text()


def test_an_interrupt_leaves_a_page_of_what_is_done(tmp_path, monkeypatch):
    from bayesmargin.experiments import adagrad

    def interrupted(setup):
        raise KeyboardInterrupt

    monkeypatch.setattr(adagrad, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduce(["smoothing", "adagrad"], Setup("quick"), tmp_path, lambda line: None)
    assert "## Polynomial smoothing" in (tmp_path / "reproduction.md").read_text()


def test_verdicts_alone_are_a_page_too(tmp_path):
    """In a folder where nothing has run before there is no section and no cost to list."""
    page = reproduce(["smoothing"], Setup("quick", 3), tmp_path, lambda line: None, True)
    text = page.read_text()
    assert "| claim | seed 3, quick |" in text
    assert "What it cost" not in text
    assert "Not run yet: smoothing, " in text


def test_what_cannot_be_written_or_seeded_is_refused_before_anything_runs(tmp_path, monkeypatch):
    from bayesmargin.experiments import smoothing

    monkeypatch.setattr(smoothing, "run", lambda setup: pytest.fail("it ran"))
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="file/reproduction cannot be made: Not a directory"):
        reproduce(["smoothing"], Setup("quick"), tmp_path / "file")
    with pytest.raises(ValueError, match="seed=-1 is not allowed"):
        reproduce(["smoothing"], Setup("quick", -1), tmp_path)


@pytest.fixture(scope="module")
def truth():
    return synthetic_posterior.truth_of(synthetic_plane(n_rows=200))


def exact_draws(truth, n_draws, seed):
    rng = np.random.default_rng(seed)
    reference = truth.reference
    return reference.points[rng.choice(len(reference.points), n_draws, p=reference.probability)]


def test_energy_distance_is_small_for_exact_draws_and_grows_with_a_shift(truth):
    draws = exact_draws(truth, 3000, 1)
    sd = np.sqrt(np.diag(truth.reference.covariance))
    near = synthetic_posterior.energy_distance(truth, draws)
    far = synthetic_posterior.energy_distance(truth, draws + 0.3 * sd)
    wide = synthetic_posterior.energy_distance(
        truth, truth.reference.mean + 1.3 * (draws - truth.reference.mean)
    )
    assert abs(near) < 2e-3
    assert far > 10 * abs(near)
    assert wide > 5 * abs(near)


def test_errors_are_in_posterior_deviations(truth):
    found = synthetic_posterior.errors(truth, exact_draws(truth, 20_000, 2)[:8000])
    assert found["mean error"] < 0.05
    assert found["variance ratio"] == pytest.approx(1.0, abs=0.06)


def test_unknown_names_are_a_usage_error(capsys):
    from bayesmargin.cli.main import app

    assert app(["reproduce", "figure1"], standalone_mode=False) == 2
    assert "there are all, smoothing" in capsys.readouterr().err


@pytest.mark.parametrize(("lead", "holds"), [(0.5, True), (3.0, False)])
def test_accuracies_on_the_same_test_rows_differ_by_their_seeds_alone(lead, holds):
    """Three points are no noise where five seeds spread by one, however few test rows there are."""
    from bayesmargin.experiments.infinite_svm_table import _verdicts

    spread = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    rows = [
        {"data": "protein", "model": model, "accuracy": value, "weights": 1.0}
        for model, centre in (("Gibbs-iSVM", 48.0), ("SSGNHT-iSVM", 48.0 + lead))
        for value in centre + spread
    ]
    facts = {"protein_test_rows": 383}
    assert _verdicts("protein", rows, facts)[1].holds is holds
    assert facts["protein_error"] == pytest.approx(0.5)


def test_a_search_for_the_anchor_does_not_count_as_draws():
    """A mean that an optimiser found early gives no verdict about the sampler's draws."""
    from bayesmargin.experiments.convergence import _verdicts

    columns = ("sampler", "seconds to plateau", "preparation", "draws enter at")
    figures = [
        ("SSGLD", 4.0, 0.01, 0.02), ("SSGNHT", 0.5, 0.01, 0.02), ("SRWM", np.inf, 0.01, 0.02),
        ("Gibbs", np.inf, 20.0, 30.0), ("ours (auto)", 0.05, 0.7, 1.4),
    ]  # fmt: skip
    table = [
        {"data": "set", "accuracy at the end": 0.9} | dict(zip(columns, row, strict=True))
        for row in figures
    ]
    facts = {"text_name": "set", "text_budget": 6.0, "text_patience": 50.0}
    _, early, by_draws = _verdicts("text", facts, table)
    assert early.holds
    assert "from its search for the anchor on" in early.claim
    assert not by_draws.holds
    assert by_draws.evidence.format(**facts) == "1.4 s against 0.5 s of SSGNHT"
    figures[-1] = ("ours (auto)", 0.05, 0.7, 0.4)
    table[-1] |= dict(zip(columns, figures[-1], strict=True))
    assert _verdicts("text", facts, table)[2].holds


@pytest.mark.slow
def test_convergence_at_toy_size(tmp_path, monkeypatch):
    from bayesmargin.experiments import convergence
    from tests.experiments.test_shared_parts import small_set

    batches = {"SSGLD": 20, "SSGNHT": 20, "SRWM": 50}
    toys = {
        key: (dataclasses.replace(small_set(), name=key), batches, 0.3)
        for key in ("text", "higgs", "synthetic")
    }
    monkeypatch.setattr(convergence, "sets", lambda setup: toys)
    page = reproduce(["convergence"], Setup("quick"), tmp_path, lambda line: None).read_text()
    assert page.count("**Holds:**") + page.count("**Does not hold:**") == 9
    ends = [
        row["accuracy at the end"]
        for row in read_rows(tmp_path / "reproduction" / "convergence_table.csv")
        if row["sampler"] in ("Gibbs", "ours (auto)")
    ]
    assert min(ends) > 0.85
