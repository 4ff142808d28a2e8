"""What another version of the library wrote is called that, and not damaged."""

import json

import pytest

import bayesmargin
from bayesmargin.cli.failures import CommandError
from bayesmargin.cli.request import FitRequest, command_file, read_command, write_command
from bayesmargin.errors import SavedModelError
from bayesmargin.saving.files import sealed, unsealed
from tests.saving import fitted


def test_a_model_with_settings_of_another_version(tmp_path):
    fitted.model("linear").save(tmp_path / "model")
    path = tmp_path / "model" / "manifest.json"
    manifest = unsealed(path.read_bytes())
    manifest["settings"]["temper"] = 3
    path.write_bytes(sealed(manifest))
    with pytest.raises(SavedModelError, match=r"is damaged or was changed .*'temper'"):
        bayesmargin.load(tmp_path / "model")
    path.write_bytes(sealed({**manifest, "library": "9.1"}))
    with pytest.raises(
        SavedModelError, match=r"was written by bayesmargin 9\.1 and not .*'temper'"
    ):
        bayesmargin.load(tmp_path / "model")


def test_a_model_of_before_there_were_adjustments(tmp_path):
    fitted.model("linear").save(tmp_path / "model")
    path = tmp_path / "model" / "manifest.json"
    manifest = unsealed(path.read_bytes())
    del manifest["state"]["posterior_"]["fields"]["adjustment"]
    del manifest["state"]["posterior_"]["fields"]["statistics"]
    path.write_bytes(sealed(manifest))
    with pytest.raises(ValueError, match="there is no adjustment"):
        bayesmargin.load(tmp_path / "model").posterior_.robust()


def test_a_command_of_another_version(tmp_path):
    checkpoint = tmp_path / "fit.checkpoint"
    request = FitRequest("rows.csv", "model", checkpoint=str(checkpoint))
    write_command(request)
    assert read_command(checkpoint) == request.absolute()
    document = json.loads(command_file(checkpoint).read_text())
    document["fit"]["temper"] = 3
    for library, words in (("9.1", r"was written by bayesmargin 9\.1, and"), (None, "is damaged")):
        document["library"] = library or bayesmargin.__version__
        command_file(checkpoint).write_text(json.dumps(document))
        with pytest.raises(CommandError, match=words):
            read_command(checkpoint)
