"""Settings in objects: reached by paths, shared, cloned, and by the names they had before."""

import inspect

import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesmargin import (
    BayesianLinearSVC,
    Checkpoint,
    DPMNLClassifier,
    InfiniteSVC,
    MedLDAClassifier,
)
from bayesmargin.foundation.settings import MissingSettingError
from bayesmargin.models.dpmnl import HMC, MixtureGibbs
from bayesmargin.models.infinite_svc import GaussianComponents
from bayesmargin.models.medlda import SSGRLD, CollapsedGibbs, PassiveAggressive
from bayesmargin.models.medlda.parameters import check_parameters
from bayesmargin.models.registry import MODELS
from bayesmargin.samplers import SSGLD, SSGNHT, Sampler

each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@each_model
def test_no_estimator_has_more_than_fifteen_parameters(model):
    assert len(model.load()().get_params(deep=False)) <= 15


@each_model
def test_former_names_are_no_parameters_any_more(model):
    kind = model.load()
    assert not kind.former_names.keys() & kind().get_params().keys()


@each_model
def test_the_signature_holds_parameters_alone(model):
    """Tools of scikit-learn set whatever it names."""
    kind = model.load()
    assert set(inspect.signature(kind).parameters) == set(kind().get_params(deep=False))


def test_a_path_replaces_one_setting_of_an_object_or_a_short_form():
    model = DPMNLClassifier().set_params(sampler__weights__step=0.1, sampler__burn_in=3)
    assert model.sampler == MixtureGibbs(weights=HMC(step=0.1), burn_in=3)
    assert DPMNLClassifier(sampler__weights__step=0.1).sampler == MixtureGibbs(
        weights=HMC(step=0.1)
    )
    linear = BayesianLinearSVC(sampler="ssgnht").set_params(sampler__step=0.2)
    assert linear.sampler == SSGNHT(step=0.2)


def test_an_object_given_with_parts_of_it_is_the_one_that_is_changed():
    shared = MixtureGibbs(burn_in=2)
    model = DPMNLClassifier().set_params(sampler__burn_in=5, sampler=shared)
    assert model.sampler.burn_in == 5
    assert shared.burn_in == 2


def test_clones_and_grids_see_the_settings():
    model = DPMNLClassifier(sampler=MixtureGibbs(burn_in=1))
    assert clone(model).get_params() == model.get_params()
    assert model.get_params()["sampler__burn_in"] == 1
    grid = GridSearchCV(make_pipeline(StandardScaler(), model), {})
    grid.estimator.set_params(dpmnlclassifier__sampler__burn_in=7)
    assert grid.estimator[-1].sampler.burn_in == 7


def test_settings_that_are_not_there_are_named():
    with pytest.raises(MissingSettingError, match="did you mean n_leapfrog"):
        DPMNLClassifier(sampler__weights__n_leapfrogs=3)
    with pytest.raises(ValueError, match="DPMNLClassifier has no setting sampling"):
        DPMNLClassifier().set_params(sampling="hmc")
    with pytest.raises(ValueError, match="Auto has no setting step: there are none"):
        BayesianLinearSVC().set_params(sampler__step=0.1)
    with pytest.raises(ValueError, match="n_draws=25 has no setting 'step'"):
        DPMNLClassifier(n_draws__step=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'leaps'"):
        DPMNLClassifier(leaps=3)


def test_names_of_before_are_taken_with_a_warning():
    with pytest.warns(DeprecationWarning, match="step is sampler__weights__step") as told:
        model = DPMNLClassifier(step=0.3, n_auxiliary=4, n_clusters=6)
    assert told[0].filename == __file__
    asked = MixtureGibbs(weights=HMC(step=0.3), new_components=4, n_clusters=6)
    assert model.sampler == asked
    with pytest.warns(DeprecationWarning, match="burn_in is sampler__burn_in") as told:
        model.set_params(burn_in=9)
    assert told[0].filename == __file__
    assert model.sampler.burn_in == 9


def test_names_of_before_of_the_infinite_svm_stand_in_two_objects():
    with pytest.warns(DeprecationWarning, match="covariance_type is components__covariance"):
        model = InfiniteSVC(
            method="ssgld", step=0.3, batch_size=8, burn_in=2, joining=None, groups=3, scatter=0.5,
            covariance_type="diag",
        )  # fmt: skip
    weights = SSGLD(step=0.3, batch_size=8)
    assert model.sampler == MixtureGibbs(weights=weights, burn_in=2, joining=None, groups=3)
    assert model.components == GaussianComponents(covariance="diag", scatter=0.5)
    with pytest.warns(DeprecationWarning, match="method is sampler__weights"):
        model.set_params(method="gibbs", step=None)  # which means nothing to it, as ever
    assert model.sampler.weights == "gibbs"
    assert model.sampler.groups == 3


def test_names_of_before_of_topic_models_stand_in_the_sampler():
    with pytest.warns(DeprecationWarning, match="n_passes is sampler__n_passes"):
        model = MedLDAClassifier(n_passes=3, weight_step=0.04, topics="scir", n_documents=500)
    assert model.sampler == SSGRLD(
        n_passes=3, weights=SSGLD(step=0.2), topics="scir", n_documents=500
    )
    with pytest.warns(DeprecationWarning, match="weights is sampler__weights"):
        model.set_params(weights="ssgnht", weight_step=0.04)  # which was no square there
    assert model.sampler.weights == SSGNHT(step=0.04)
    with pytest.warns(DeprecationWarning, match="method is sampler"):
        model = MedLDAClassifier(method="gibbs", n_passes=9, batch_size=16, weight_step=None)
    assert model.sampler == CollapsedGibbs(n_passes=9)
    told = pytest.warns(DeprecationWarning, match="weight_step")
    with told, pytest.raises(ValueError, match="weight_step=-1 is not"):
        MedLDAClassifier(weight_step=-1)


def test_the_step_of_a_topic_models_weights_is_that_of_its_sampler():
    plan = check_parameters(MedLDAClassifier(sampler=SSGRLD(weights=SSGLD(step=0.1))))
    assert plan.weight_step == pytest.approx(0.01)  # the chain counts in squares
    plan = check_parameters(MedLDAClassifier(sampler=SSGRLD(weights=SSGNHT(step=0.1))))
    assert (plan.weights, plan.weight_step) == ("ssgnht", 0.1)
    assert check_parameters(MedLDAClassifier(sampler=PassiveAggressive(n_sweeps=7))).n_sweeps == 7
    with pytest.raises(ValueError, match="weights of a topic model read step alone"):
        SSGRLD(weights=SSGNHT(diffusion=3.0))


def test_a_grid_reaches_what_stands_in_objects():
    X, y = make_moons(60, noise=0.2, random_state=0)
    model = InfiniteSVC(n_sweeps=6, prediction="vote", random_state=0)
    paths = {"components__scatter": [0.2, 1.0], "sampler__weights__step": [0.1]}
    search = GridSearchCV(model, paths, cv=2).fit(X, y)
    best = search.best_estimator_
    assert best.components.scatter == search.best_params_["components__scatter"]
    assert best.sampler.weights == SSGNHT(step=0.1)
    assert model.components == "full"


def test_stored_settings_of_before_are_read_without_a_word(tmp_path):
    stored = {"n_sweeps": 7, "burn_in": None, "n_auxiliary": 5, "split_merge": 5, "step": 0.2,
              "n_leapfrog": 30, "n_clusters": "auto", "checkpoint": None,
              "checkpoint_every": 60.0}  # fmt: skip
    model = DPMNLClassifier.of_settings(stored)
    assert model.n_sweeps == 7
    assert model.sampler.weights == HMC(step=0.2, n_leapfrog=30)
    assert model.checkpoint is None
    kept = BayesianLinearSVC.of_settings({"checkpoint": tmp_path, "checkpoint_every": 5.0})
    assert kept.checkpoint == Checkpoint(tmp_path, every=5.0)


def test_a_sampler_of_ones_own_needs_no_settings():
    class Own(Sampler):
        def start(self, problem, generators):
            raise NotImplementedError

    own = Own()
    assert own.get_params() == {}
    assert isinstance(clone(BayesianLinearSVC(sampler=own)).sampler, Own)
    assert "Own" in repr(own)


def test_what_nobody_reads_is_refused():
    with pytest.raises(ValueError, match="dpMNL samples its logits by 'hmc'"):
        DPMNLClassifier(sampler=MixtureGibbs(weights=SSGLD())).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=r"joining='eager'.* sweeps of dpMNL read weights"):
        DPMNLClassifier(sampler=MixtureGibbs(joining="eager")).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="weights of an expert read step, batch_size alone"):
        InfiniteSVC(sampler__weights__diffusion=3.0).fit([[0.0], [1.0]], [0, 1])
