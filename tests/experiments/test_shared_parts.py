import string
import time

import numpy as np
import pytest

from bayesmargin.experiments import NAMES
from bayesmargin.experiments.clock import Stopwatch
from bayesmargin.experiments.curves import Curve, RunningMean, compiled, follow
from bayesmargin.experiments.linear_problems import LinearSet
from bayesmargin.experiments.page import write_page
from bayesmargin.experiments.results import (
    Result,
    Verdict,
    read_facts,
    read_rows,
    write_result,
    write_verdicts,
)
from bayesmargin.experiments.running import chosen
from bayesmargin.experiments.search import search
from bayesmargin.experiments.sizes import Setup
from bayesmargin.samplers import SSGLD, AugmentationGibbs

RUN = {"size": "quick", "seed": 3, "seconds": 1.5, "machine": "m", "cores": 2, "python": "3"}


def small_set():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3)).astype(np.float32)
    y = (X[:, 0] + 0.3 * rng.standard_normal(600) > 0).astype(np.int64)
    return LinearSet("toy", X[:500], y[:500], X[500:], y[500:], True)


def small_result():
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot([0, 1], [1, 0])
    return Result(
        title="Toy",
        text="It took {time:.2f} s, the paper says {printed:g}.",
        figure=figure,
        numbers=[{"x": 1, "y": np.float64(0.1)}, {"x": 2, "y": 0.2, "z": "word"}],
        facts={"time": np.float64(1.25), "search_seconds": 0.0},
        paper={"printed": 7},
        table=[{"name": "a", "value": 0.5}],
        verdicts=[Verdict("it is fast", False, "{time:.1f} s")],
    )


def test_the_stopwatch_stands_still_between_blocks():
    watch = Stopwatch()
    with watch.running():
        sum(range(10_000))
    first = watch.seconds
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass
    assert watch.seconds == first > 0.0
    with pytest.raises(ZeroDivisionError), watch.running():  # noqa: PT012
        end = time.process_time() + 0.01
        while time.process_time() < end:
            pass
        raise ZeroDivisionError
    assert watch.seconds >= first + 0.01


def test_files_and_text_come_from_the_facts(tmp_path):
    write_result("toy", small_result(), tmp_path, RUN)
    assert {p.suffix for p in tmp_path.iterdir()} == {".png", ".svg", ".csv", ".txt"}
    assert read_rows(tmp_path / "toy.csv")[1] == {"x": 2, "y": 0.2, "z": "word"}
    assert read_facts(tmp_path / "toy_facts.csv")["time"] == 1.25
    text = (tmp_path / "toy.txt").read_text()
    assert "It took 1.25 s, the paper says 7." in text
    assert "**Does not hold:** it is fast. 1.2 s." in text
    assert "| a | 0.5 |" in text


def test_equal_pictures_are_equal_files(tmp_path):
    for name in ("one", "two"):
        write_result("toy", small_result(), tmp_path / name, RUN)
    first, second = ((tmp_path / name / "toy.svg").read_bytes() for name in ("one", "two"))
    assert first == second


def test_the_page_names_what_is_absent(tmp_path):
    write_result("smoothing", small_result(), tmp_path / "reproduction", RUN)
    page = write_page(tmp_path).read_text()
    assert "## Toy" in page
    assert "| smoothing | quick | 3 | 1.5 |" in page
    assert "Not run yet: synthetic_posterior" in page


def test_other_seeds_stand_beside_the_first(tmp_path):
    folder, result = tmp_path / "reproduction", small_result()
    write_result("smoothing", result, folder, RUN)
    write_verdicts("smoothing", result, folder, RUN)
    assert "Other seeds" not in write_page(tmp_path).read_text()
    for _ in range(2):  # a run that is repeated replaces itself
        result.verdicts = [Verdict("it is fast", True, "{time:.1f} s")]
        write_verdicts("smoothing", result, folder, {**RUN, "seed": 4})
    assert [row["holds"] for row in read_rows(folder / "verdicts.csv")] == [False, True]
    page = write_page(tmp_path).read_text()
    assert "0 of the 1 claims run more than once" in page
    assert "| smoothing | it is fast | does not | holds |" in page


def test_the_running_mean_forgets_the_first_half():
    mean = RunningMean()
    mean.add(np.full((10, 2), 100.0), None)
    mean.add(np.full((20, 2), 1.0), None)
    np.testing.assert_allclose(mean.mean(), 1.0)
    weighted = RunningMean()
    weighted.add(np.array([[1.0], [4.0]]), np.array([3.0, 1.0]))
    np.testing.assert_allclose(weighted.mean(), 1.75)


def test_time_to_a_level_is_the_time_from_which_it_holds():
    curve = Curve([1.0, 2.0, 3.0, 4.0], [0.9, 0.5, 0.8, 0.8], [1, 2, 3, 4])
    assert curve.first_at(0.8) == 3.0
    assert curve.first_at(0.4) == 1.0
    assert curve.first_at(0.95) == np.inf


def test_following_a_chain_gives_growing_times_and_the_right_answer():
    data = small_set()
    compiled(AugmentationGibbs(), data.problem())
    curve = follow(AugmentationGibbs(), data.problem(), data.judge(), 0.3, 0, 1)
    assert curve.last > 0.85
    assert np.all(np.diff(curve.seconds) > 0)
    assert np.all(np.diff(curve.draws) > 0)


def test_the_search_takes_the_step_that_learns():
    def sampler(step):
        return SSGLD(step=step, batch_size=10, preconditioner=None, control_variates=False)

    compiled(sampler(0.03), small_set().problem())
    found = search([sampler(1e-6), sampler(0.03)], small_set(), 0.2, 0)
    assert found.best.step == 0.03
    assert len(found.scores) == 2
    assert found.seconds > 0.2


def test_names():
    assert chosen("all") == NAMES
    with pytest.raises(ValueError, match="no experiment is called 'figure1'"):
        chosen("figure1")
    assert Setup("full").choose(1, 2) == 2


@pytest.mark.parametrize("name", NAMES)
def test_paragraphs_hold_no_number_typed_by_hand(name):
    import importlib

    module = importlib.import_module(f"bayesmargin.experiments.{name}")
    text = module.TEXT
    for known in ("20 Newsgroups", "IJCNN1", "F1"):
        text = text.replace(known, "")
    typed = [part for part, _, _, _ in string.Formatter().parse(text)]
    assert not any(character.isdigit() for part in typed for character in part), typed
