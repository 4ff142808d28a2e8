"""Saved models come back whole, or not at all."""

import copy
import dataclasses
import errno
import json
import shutil
import subprocess
import sys

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import bayesmargin
from bayesmargin import BayesianLinearSVC, DPMNLClassifier
from bayesmargin.errors import SavedModelError
from bayesmargin.samplers import SSGLD, SSGNHT, AugmentationGibbs, SubgradientHMC
from bayesmargin.saving import read_model, write_model
from bayesmargin.saving.files import previous_of, sealed, unsealed, whole_file
from tests.saving import fitted


@pytest.mark.parametrize("name", fitted.MODELS)
def test_loaded_model_says_the_same_bit_by_bit(name, tmp_path):
    model = fitted.model(name)
    model.save(tmp_path / "model")
    loaded = bayesmargin.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    X = fitted.counts()[0] if name.startswith("medlda") else fitted.rows()[0]
    assert fitted.same(fitted.answers(model, X), fitted.answers(loaded, X))
    assert set(vars(loaded)) == set(vars(model))
    assert clone(loaded).get_params() == model.get_params()


def test_linear_posterior_and_diagnostics_survive(tmp_path):
    model = fitted.model("linear, three classes")
    model.save(tmp_path / "model")
    loaded = bayesmargin.load(tmp_path / "model")
    assert loaded.diagnostics_ == model.diagnostics_
    pandas.testing.assert_frame_equal(loaded.posterior_.summary(), model.posterior_.summary())
    ours, theirs = loaded.posterior_.to_arviz(), model.posterior_.to_arviz()
    # Of ArviZ 1 they are trees, whose nodes give data sets.
    ours, theirs = (getattr(one, "dataset", one) for one in (ours.posterior, theirs.posterior))
    assert ours.drop_attrs().equals(theirs.drop_attrs())
    assert loaded.posterior_.attrs == model.posterior_.attrs


def test_xarray_reads_the_draws_by_itself(tmp_path):
    import xarray

    from bayesmargin.posterior import import_arviz

    model = fitted.model("linear, three classes")
    model.save(tmp_path / "model")
    with xarray.open_dataset(tmp_path / "model" / "posterior.nc", engine="scipy") as data:
        assert data["coef"].dims == ("chain", "draw", "class", "feature")
        assert list(data["class"].values) == list(fitted.NAMES)
        np.testing.assert_array_equal(data["coef"].values, model.posterior_["coef"])
        arviz = import_arviz()
        ours = arviz.ess(data.load())["coef"]
        theirs = arviz.ess(model.posterior_.to_arviz())["coef"]
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", ["medlda", "medlda, one-vs-rest", "infinite", "dpmnl"])
def test_xarray_reads_the_draws_of_the_other_models(name, tmp_path):
    import xarray

    model = fitted.model(name)
    model.save(tmp_path / "model")
    with xarray.open_dataset(tmp_path / "model" / "posterior.nc", engine="scipy") as data:
        assert data.sizes["chain"] >= 1
        if name == "medlda":
            topics = data["topics"] / data["topics"].sum("word")
            mean = topics.isel(chain=0).mean("draw").transpose("topic", "word")
            ours = model.posterior_[0].mean_topics(data.sizes["draw"])
            np.testing.assert_allclose(mean, ours, rtol=1e-5)
        if "n_components" in data:
            np.testing.assert_array_equal(data["n_components"], np.atleast_2d(model.n_components_))


@pytest.mark.parametrize("name", ["linear", "medlda", "medlda, passive-aggressive"])
def test_partial_fit_goes_on_as_if_never_saved(name, tmp_path):
    model = fitted.MODELS[name]()
    model.save(tmp_path / "model")
    loaded = bayesmargin.load(tmp_path / "model")
    classes = 3 if "passive" in name else 2
    X, y = fitted.counts(classes) if name.startswith("medlda") else fitted.rows(classes)
    for one in (model, loaded):
        one.partial_fit(X[:40], np.array(fitted.NAMES)[y[:40]])
    assert fitted.same(fitted.answers(model, X), fitted.answers(loaded, X))


SAMPLERS = [
    SSGLD(step=0.1, schedule="polynomial", burn_in=5, thin=1),
    SubgradientHMC(mass=np.eye(4), burn_in=20, thin=1),
    AugmentationGibbs(form="coordinate", burn_in=0, thin=1),
]


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda s: type(s).__name__)
def test_sampler_objects_round_trip(sampler, tmp_path):
    model = fitted.linear(sampler=sampler, n_draws=10)
    model.save(tmp_path / "model")
    loaded = bayesmargin.load(tmp_path / "model").sampler
    assert type(loaded) is type(sampler)
    assert repr(loaded) == repr(sampler)


@pytest.mark.parametrize(
    "state",
    [
        np.random.default_rng(3),
        np.random.RandomState(3),
        np.random.Generator(np.random.MT19937(3)),
        np.random.Generator(np.random.Philox(3)),
        np.random.Generator(np.random.SFC64(3)),
        None,
    ],
)
def test_generators_are_kept_with_their_state(state, tmp_path):
    X, y = fitted.rows()
    model = DPMNLClassifier(n_sweeps=3, n_draws=2, random_state=state).fit(X, y)
    model.save(tmp_path / "model")
    loaded = bayesmargin.load(tmp_path / "model")
    if state is not None:
        again, model = loaded.fit(X, y), model.fit(X, y)
        assert fitted.same(fitted.answers(again, X), fitted.answers(model, X))


@pytest.mark.parametrize(
    "labels", [[False, True], [3, 7], ["a", "bé"], [1.0, 2.0], np.array(["x", "y"], dtype=object)]
)
def test_labels_of_every_type(labels, tmp_path):
    X, y = fitted.rows()
    model = DPMNLClassifier(n_sweeps=3, n_draws=2, random_state=0).fit(X, np.asarray(labels)[y])
    model.save(tmp_path / "model")
    loaded = bayesmargin.load(tmp_path / "model")
    assert fitted.same(loaded.predict(X), model.predict(X))


def test_feature_names_survive(tmp_path):
    X, y = fitted.rows()
    frame = pandas.DataFrame(X, columns=["länge", "b", "c"])
    model = fitted.fit(BayesianLinearSVC(n_chains=2, n_draws=20, random_state=0), frame, y)
    model.save(tmp_path / "model")
    loaded = bayesmargin.load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == ["länge", "b", "c"]
    assert fitted.same(loaded.predict_proba(frame), model.predict_proba(frame))
    import xarray

    with xarray.open_dataset(tmp_path / "model" / "posterior.nc", engine="scipy") as data:
        assert data["feature"].values.tolist() == ["länge", "b", "c"]


def test_extras_are_kept(tmp_path):
    extras = {"preparation": {"columns": ["a", 1, None]}, "command": ["fit", "x.csv"]}
    write_model(fitted.model("dpmnl"), tmp_path / "model", extras)
    assert read_model(tmp_path / "model")[1] == extras
    with pytest.raises(ValueError, match="key"):
        write_model(fitted.model("dpmnl"), tmp_path / "model", {"../x": 1})


def test_saving_again_replaces_a_model_and_nothing_else(tmp_path):
    path = tmp_path / "model"
    fitted.model("dpmnl").save(path)
    fitted.model("infinite").save(path)
    assert type(bayesmargin.load(path)).__name__ == "InfiniteSVC"
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("dear")
    with pytest.raises(ValueError, match="no saved model"):
        fitted.model("dpmnl").save(tmp_path / "other")
    with pytest.raises(ValueError, match="is a file"):
        fitted.model("dpmnl").save(tmp_path / "other" / "thesis.txt")


def test_files_of_others_beside_a_model_are_not_lost(tmp_path):
    path, site = tmp_path / "model", tmp_path / "site"
    write_model(fitted.model("dpmnl"), path, {"note": {}})
    (path / ".DS_Store").write_text("")  # nobody misses it
    write_model(fitted.model("dpmnl"), path, {"note": {}})
    (path / "report.html").write_text("mine")
    with pytest.raises(ValueError, match=r"holds 'report\.html' beside a saved model, which would"):
        fitted.model("infinite").save(path)
    (path / "later.npy").write_text("mine")
    with pytest.raises(ValueError, match=r"holds 'later\.npy' and 1 more beside a saved model"):
        fitted.model("infinite").save(path)
    assert (path / "report.html").read_text() == "mine"
    assert type(bayesmargin.load(path)).__name__ == "DPMNLClassifier"
    site.mkdir()
    (site / "manifest.json").write_text('{"name": "a page", "icons": []}')
    (site / "index.html").write_text("mine")
    with pytest.raises(ValueError, match=r"manifest\.json that is damaged or of another program"):
        fitted.model("dpmnl").save(site)
    assert len(list(site.iterdir())) == 2


def test_a_full_disk_is_told_with_the_path_of_the_model(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("bayesmargin.models.saved.folders.write_netcdf", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*model'") as caught:
        fitted.model("dpmnl").save(tmp_path / "model")
    assert caught.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_with_the_path_of_a_file(tmp_path):
    def write():
        with whole_file(tmp_path / "page.html") as draft:
            draft.write_text("half of it")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"No space left on device: '.*page\.html'"):
        write()
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_leaves_the_old_model(tmp_path, monkeypatch):
    path = tmp_path / "model"
    fitted.model("dpmnl").save(path)
    monkeypatch.setattr("bayesmargin.models.saved.folders.sealed", lambda document, indent: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        fitted.model("infinite").save(path)
    assert type(bayesmargin.load(path)).__name__ == "DPMNLClassifier"
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_a_model_between_two_renames_is_found(tmp_path):
    path = tmp_path / "model"
    fitted.model("dpmnl").save(path)
    path.rename(previous_of(path))
    assert type(bayesmargin.load(path)).__name__ == "DPMNLClassifier"


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError):
        DPMNLClassifier().save(tmp_path / "model")
    with pytest.raises(FileNotFoundError, match="no saved model"):
        bayesmargin.load(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SavedModelError, match="not a saved model"):
        bayesmargin.load(tmp_path / "empty")


def _edit(folder, change):
    """Change the manifest and seal it again, as a forger would."""
    manifest = unsealed((folder / "manifest.json").read_bytes())
    change(manifest)
    (folder / "manifest.json").write_bytes(sealed(manifest))


def _forge(key, value):
    return lambda manifest: manifest.__setitem__(key, value)


def _forge_state(key, value):
    return lambda manifest: manifest["state"].__setitem__(key, value)


def _outside(manifest):
    facts = manifest["arrays"].popitem()[1]
    manifest["arrays"]["../x"] = facts


FORGERIES = {
    "newer format": (_forge("format", 99), "upgrade"),
    "foreign class": (_forge("class", "os.system"), "none of the models"),
    "path outside": (_outside, "outside the folder"),
    "method replaced": (_forge_state("predict", "x"), "attribute"),
    "unknown object": (_forge_state("_draws", {"object": "os.system", "fields": {}}), "damaged"),
    "settings not allowed": (_forge("settings", {"n_sweeps": {"float": "nan"}}), "damaged"),
    "missing part": (lambda m: m["state"].pop("_draws"), "damaged"),
    "other shape": (_forge_state("n_features_in_", 7), "fit each other"),
    "huge array": (lambda m: m["draws"]["mean"].update(shape=[1 << 40, 1, 1, 1]), "beyond the end"),
    "not JSON objects": (_forge("arrays", [1, 2]), "damaged"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_manifests_are_refused(name, tmp_path):
    change, message = FORGERIES[name]
    fitted.model("dpmnl").save(tmp_path / "model")
    _edit(tmp_path / "model", change)
    with pytest.raises(SavedModelError, match=message):
        bayesmargin.load(tmp_path / "model")


def test_every_file_is_needed_and_checked(tmp_path):
    fitted.model("dpmnl").save(tmp_path / "model")
    for file in (tmp_path / "model").iterdir():
        for damage in ("flip", "cut", "gone"):
            copy = tmp_path / "copy"
            shutil.copytree(tmp_path / "model", copy)
            raw = bytearray((copy / file.name).read_bytes())
            if damage == "flip":
                raw[len(raw) // 2] ^= 1
            if damage == "gone":
                (copy / file.name).unlink()
            else:
                (copy / file.name).write_bytes(raw[: -1 if damage == "cut" else None])
            with pytest.raises(SavedModelError):
                bayesmargin.load(copy)
            shutil.rmtree(copy)


def test_a_file_may_not_be_a_link_to_elsewhere(tmp_path):
    fitted.model("dpmnl").save(tmp_path / "model")
    file = tmp_path / "model" / "posterior.nc"
    file.rename(tmp_path / "elsewhere.nc")
    file.symlink_to(tmp_path / "elsewhere.nc")
    with pytest.raises(SavedModelError, match="missing"):
        bayesmargin.load(tmp_path / "model")


def test_manifest_is_plain_json(tmp_path):
    fitted.model("linear").save(tmp_path / "model")
    manifest = json.loads((tmp_path / "model" / "manifest.json").read_text())["document"]
    assert manifest["class"] == "BayesianLinearSVC"
    assert manifest["library"] == bayesmargin.__version__
    assert manifest["settings"]["n_draws"] == 30


def test_loads_in_another_process(tmp_path):
    model = fitted.model("dpmnl")
    model.save(tmp_path / "model")
    X = fitted.rows()[0]
    np.save(tmp_path / "X.npy", X)
    code = (
        "import sys, numpy, bayesmargin; m = bayesmargin.load(sys.argv[1]); "
        "numpy.save(sys.argv[3], m.predict_proba(numpy.load(sys.argv[2])))"
    )
    paths = [str(tmp_path / name) for name in ("model", "X.npy", "P.npy")]
    subprocess.run([sys.executable, "-c", code, *paths], check=True)
    assert fitted.same(np.load(paths[2]), model.predict_proba(X))


def test_large_draws_are_mapped_from_a_file_again(tmp_path, monkeypatch):
    X, y = fitted.wide()
    sampler = SSGNHT(burn_in=2, thin=1)
    model = fitted.fit(BayesianLinearSVC(n_draws=6, n_chains=2, sampler=sampler), X, y)
    assert model.posterior_["coef"].dtype == np.float32
    model.save(tmp_path / "model")
    monkeypatch.setattr("bayesmargin.models.saved.folders.MEMORY_LIMIT", 100)
    monkeypatch.setattr("bayesmargin.foundation.storage.MEMORY_LIMIT", 100)
    loaded = bayesmargin.load(tmp_path / "model")
    assert isinstance(loaded.posterior_["coef"], np.memmap)
    assert fitted.same(np.array(loaded.posterior_["coef"]), np.array(model.posterior_["coef"]))
    assert fitted.same(loaded.predict_votes(X), model.predict_votes(X))


def test_a_link_of_another_size_is_refused(tmp_path):
    model = copy.copy(fitted.model("linear"))
    model.link_ = dataclasses.replace(model.link_, precision=np.eye(3))
    model.save(tmp_path / "model")
    with pytest.raises(SavedModelError, match="precision of the link"):
        bayesmargin.load(tmp_path / "model")
