"""The table of models tells the truth about the classes, and nobody else keeps one."""

import inspect
import subprocess
import sys

import pytest

import bayesmargin
from bayesmargin.models.registry import MODELS, WORDS, model_of
from bayesmargin.saving.classes import CLASSES, Stored, key_of, register

each = pytest.mark.parametrize("entry", MODELS.values(), ids=MODELS)


def test_what_is_exported_are_the_models_and_load():
    assert {*MODELS, "Checkpoint", "load", "__version__"} == set(bayesmargin.__all__)
    assert len({entry.word for entry in MODELS.values()}) == len(MODELS)
    assert [*WORDS.values()] == [one for one in MODELS.values() if one.answers != "items"]


@each
def test_entry_is_that_of_its_class(entry):
    kind = entry.load()
    assert getattr(bayesmargin, entry.name) is kind
    assert model_of(kind()) is entry
    assert model_of(type("Own", (kind,), {})()) is entry
    assert set(entry.flags.values()) <= set(inspect.signature(kind).parameters)
    assert sorted(inspect.signature(kind).parameters) == sorted(kind().get_params(deep=False))
    assert hasattr(kind, "predict_proba") or entry.answers == "values"


@each
def test_settings_are_checked_by_the_function_that_is_named(entry):
    kind = entry.load()
    entry.check_settings(kind())
    wrong = next(name for name in ("n_draws", "n_chains") if name in entry.flags.values())
    with pytest.raises(ValueError, match=wrong):
        entry.check_settings(kind(**{wrong: -1}))


@each
def test_classes_that_a_saved_model_may_hold_are_there(entry):
    for key, stored in entry.saved_parts().CLASSES.items():
        assert key_of(stored.load()) == key


def test_other_estimators_are_no_models():
    impostor = type("InfiniteSVC", (), {})
    assert model_of(impostor()) is None


def test_a_key_cannot_be_taken_by_another_class():
    with pytest.raises(ValueError, match="'Posterior' names"):
        register({"Posterior": Stored("somewhere", "Else")})
    assert CLASSES["Posterior"].module == "bayesmargin.posterior"


def test_the_table_imports_no_model():
    code = (
        "import sys, bayesmargin.models.registry, bayesmargin.saving, bayesmargin.models.saved;"
        "print([name for name in sys.modules if name.startswith('bayesmargin.models')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    allowed = ("bayesmargin.models.registry", "bayesmargin.models.saved")
    names = [name.strip("'[], \n") for name in done.stdout.split(",")]
    extra = [n for n in names if n != "bayesmargin.models" and not n.startswith(allowed)]
    assert not extra
