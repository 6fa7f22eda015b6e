"""Damaged files of models: an error of ours, and never another model; with a new checksum, never a crash."""

import functools
import hashlib
import io
import random
import warnings
import zipfile

import pytest
from damage.damage import EQUAL, ERROR, FILES, damaged, outcomes
from oracles.models import documents, fixed

from termsieve.model import Model, train
from termsieve.model.container import MARK, TRAILER

CLASSIFIERS = ["poisson_nb", "linear_svm", "libsvm", "neural_network(hidden_layer_sizes=4, max_iter=3)"]
TEXTS, _ = documents(5, seed=8)


@functools.cache
def saved(classifier, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        train(*documents(45), **fixed(classifier, calibrate=2)).save(folder / "m.skops")
    return (folder / "m.skops").read_bytes()


def read(path):
    """All that a model says of itself and of some texts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Model.load(path)
        matrix = model.to_matrix(TEXTS).toarray().tolist()
        found = model.predict_proba(TEXTS)
        chances = None if found is None else found.tolist()
        return repr((model.settings, model.classes, model.predict(TEXTS), matrix, chances))


def read_any(path):
    read(path)
    return "read"


def sealed(archive):
    content = archive[: len(MARK) - TRAILER] if len(archive) >= TRAILER else MARK
    return content + hashlib.sha256(content).digest()


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_damaged_models_are_errors(classifier, tmp_path):
    data = saved(classifier, tmp_path)
    path = tmp_path / "x.skops"
    path.write_bytes(data)
    found, bad = outcomes(list(damaged(data, FILES // 2)), read, path, expected=read(path))
    print(f"\nmodel, {classifier}:", dict(found))
    assert not bad
    assert found[ERROR] > 0.9 * found.total()


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_damaged_models_with_a_new_checksum_do_no_harm(classifier, tmp_path):
    data = saved(classifier, tmp_path)
    files = [sealed(one) for one in damaged(data, FILES // 2, seed=1)]
    found, bad = outcomes(files, read_any, tmp_path / "x.skops", expected="read")
    print(f"\nmodel with a new checksum, {classifier}:", dict(found))
    assert not bad
    assert found[ERROR]


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_damaged_members_of_models_do_no_harm(classifier, tmp_path):
    """Damage behind the checksums of the archive and of the file."""
    rng = random.Random(2)
    files = []
    with zipfile.ZipFile(io.BytesIO(saved(classifier, tmp_path))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for number in range(FILES // 2):
        name = rng.choice(list(members))
        [worse] = damaged(members[name], 1, seed=number)
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as archive:
            for one, content in members.items():
                archive.writestr(one, worse if one == name else content)
            archive.comment = MARK + bytes(TRAILER - len(MARK))
        files.append(sealed(target.getvalue()))
    found, bad = outcomes(files, read_any, tmp_path / "x.skops", expected="read")
    print(f"\nmembers of a model, {classifier}:", dict(found))
    assert not bad
    assert found[ERROR]
    assert found[EQUAL]
