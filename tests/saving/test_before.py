"""Models that earlier versions have saved load, with their settings where these stand now.

The folders in ``before`` were written by the code as it was when settings had other names.
"""

from pathlib import Path

import numpy as np

import bayesmargin
from bayesmargin import Checkpoint
from bayesmargin.models.infinite_svc import GaussianComponents, MixtureGibbs
from bayesmargin.models.kernel.kernels import PolynomialKernel
from bayesmargin.models.medlda import SSGRLD
from bayesmargin.samplers import SSGLD, SSGNHT
from tests.saving import fitted

BEFORE = Path(__file__).parent / "before"


def test_infinite_svm():
    model = bayesmargin.load(BEFORE / "infinite")
    assert model.components == GaussianComponents(covariance="diag", scatter=0.4)
    assert model.sampler == MixtureGibbs(
        weights=SSGLD(step=0.15, batch_size=20), inner_steps=12, burn_in=3, joining=None,
        new_components="exact", split_merge=1,
    )  # fmt: skip
    rows = fitted.rows(2, 40)[0][:4]
    told = [0.9774307694301699, 0.0936193379770772, 0.06680206683728508, 0.8982621084298208]
    np.testing.assert_allclose(model.predict_proba(rows)[:, 1], told, rtol=1e-9)


def test_topic_model():
    model = bayesmargin.load(BEFORE / "medlda")
    assert model.sampler == SSGRLD(
        n_passes=2, batch_size=16, n_sweeps=4, topics="scir", topic_step=0.9,
        weights=SSGNHT(step=0.02), n_documents=500,
    )  # fmt: skip
    told = [0.7980253000773663, 0.7229020173535345, 0.7937024359286474, 0.8014312249316254]
    rows = fitted.counts(2, 40)[0][:4]
    np.testing.assert_allclose(model.predict_proba(rows)[:, 1], told, rtol=1e-4)


def test_kernel_model():
    model = bayesmargin.load(BEFORE / "kernel")
    assert model.kernel == PolynomialKernel(degree=2)
    told = [0.0439130969213886, 0.5126345090948999, 0.6570482803030521, 0.19047543141421813]
    rows = fitted.rows(2, 40)[0][:4]
    np.testing.assert_allclose(model.predict_proba(rows)[:, 1], told, rtol=1e-9)


def test_a_saved_model_has_its_settings_again(tmp_path):
    model = bayesmargin.load(BEFORE / "infinite")
    model.set_params(checkpoint=Checkpoint("fit.state", every=5.0))
    model.save(tmp_path / "again")
    again = bayesmargin.load(tmp_path / "again")
    assert again.get_params() == model.get_params()
