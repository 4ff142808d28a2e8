"""A notebook run from start to end: progress, cards of fitted parts, scikit-learn's own page."""

import sys
from importlib.util import find_spec

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

CELLS = (
    "from sklearn.datasets import load_iris\n"
    "from bayesmargin import BayesianLinearSVC, DPMNLClassifier\n"
    "X, y = load_iris(return_X_y=True)\n"
    "model = BayesianLinearSVC(n_draws=100, random_state=0, verbose=1).fit(X[:100], y[:100])",
    "model",
    "model.posterior_",
    "model.diagnostics_",
    "DPMNLClassifier(n_sweeps=40, n_draws=4, random_state=0).fit(X, y).diagnostics_",
)


class Watching(nbclient.NotebookClient):
    """Keeps what a cell shows while it runs: a bar is taken away at its end."""

    def process_message(self, msg, cell, cell_index):
        self.shown[cell_index] += html([msg["content"]])
        return super().process_message(msg, cell, cell_index)


@pytest.fixture(scope="module")
def notebook():
    """The client of a notebook that ran."""
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    kernel = {"name": "here", "display_name": "here", "language": "python"}
    notebook.metadata.kernelspec = kernel
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    class Here(AsyncKernelManager):
        @property
        def kernel_spec(self):
            words = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            return KernelSpec(argv=words, display_name="here", language="python")

    client = Watching(notebook, timeout=300, kernel_manager_class=Here)
    client.shown = [""] * len(CELLS)
    client.execute()
    return client


@pytest.fixture(scope="module")
def outputs(notebook):
    """What the cells show at the end, by cell."""
    return [cell.outputs for cell in notebook.nb.cells]


def html(shown):
    return "".join(one.get("data", {}).get("text/html", "") for one in shown)


def test_a_fit_shows_how_it_goes(notebook):
    assert "sampling" in notebook.shown[0]
    assert "R-hat" in notebook.shown[0]
    assert "UserWarning" not in notebook.shown[0]


def test_an_estimator_shows_its_settings_and_what_it_has_learned(outputs):
    assert "random_state" in html(outputs[1])
    assert "BayesianLinearSVC" in html(outputs[1])
    if find_spec("sklearn.callback"):  # from scikit-learn 1.9 on
        assert "posterior_" in html(outputs[1])


@pytest.mark.parametrize(("cell", "title"), [(2, "Posterior"), (3, "Diagnostics"), (4, "Mixture")])
def test_parts_of_a_model_are_cards_with_pictures(outputs, cell, title):
    assert f"<strong>{title}" in html(outputs[cell])
    assert "<svg" in html(outputs[cell])
