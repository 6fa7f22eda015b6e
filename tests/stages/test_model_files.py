"""Files of models: written as they always are, and read without trust."""

import hashlib
import io
import json
import os
import pickle
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import skops.io
from oracles.models import LINEAR, documents, fixed

import termsieve as ts
from termsieve.errors import InputError, OptionError, TermsieveError
from termsieve.model import Model, train
from termsieve.model.calibration import Calibration
from termsieve.model.container import MARK, TRAILER, pack, unpack

NETWORK = "neural_network(hidden_layer_sizes=4, max_iter=3)"
ALL = [*LINEAR, "libsvm", NETWORK]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def bytes_of(tmp_path_factory):
    """The bytes of a model with a classifier, trained once."""
    known = {}

    def saved(classifier="multinomial_nb", *, several=False, **others):
        key = (classifier, several, *others.items())
        if key not in known:
            path = tmp_path_factory.mktemp("models") / "m.skops"
            train(*documents(45, several=several), **fixed(classifier, **others)).save(path)
            known[key] = path.read_bytes()
        return known[key]

    return saved


def sealed(archive):
    """An archive with the checksum that belongs to it."""
    content = archive[: len(MARK) - TRAILER]
    return content + hashlib.sha256(content).digest()


def rewritten(content, change):
    """A model whose facts and arrays were changed; the checksum fits."""
    about, arrays = unpack(content)
    about, arrays = change(about, arrays) or (about, arrays)
    return pack(about, arrays)


def rezipped(content, change, **options):
    """A model whose members were changed; the checksum fits."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members = change(members) or members
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", **options) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.comment = MARK + bytes(32)
    return sealed(target.getvalue())


def set_at(*path, value):
    """A change of one fact."""

    def change(about, arrays):
        inner = about
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = value

    return change


@pytest.fixture
def load(tmp_path):
    def loaded(content, **options):
        path = tmp_path / "m.skops"
        path.write_bytes(content)
        return Model.load(path, **options)

    return loaded


def test_the_helpers_change_nothing_by_themselves(bytes_of, load):
    content = bytes_of("linear_svm")
    assert rewritten(content, lambda about, arrays: None) == content
    assert load(rezipped(content, lambda members: None)).settings == load(content).settings


# How they are written


def test_they_hold_arrays_and_one_text(bytes_of):
    for several in (False, True):
        for classifier in ALL:
            with zipfile.ZipFile(io.BytesIO(bytes_of(classifier, several=several))) as file:
                assert {name.rpartition(".")[2] for name in file.namelist()} == {"json", "npy"}
                assert b"sklearn" not in file.read("schema.json")
                assert b"termsieve" not in file.read("schema.json")


def test_skops_reads_them_without_trust(bytes_of):
    found = skops.io.loads(bytes_of("linear_svm"), trusted=[])
    assert {type(value) for value in found.values()} == {np.ndarray}
    assert json.loads(found["about"].tobytes())["classes"] == ["money", "sea", "sport"]


SCRIPT = f"""
import sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from oracles.models import documents, fixed
import termsieve as ts
from termsieve.model import train
analyzer = ts.Analyzer(stop_words={{"the", "of", "said"}}, stemmer="english")
for several in (False, True):
    for number, classifier in enumerate({ALL!r}):
        texts, labels = documents(45, several=several)
        model = train(texts, labels, analyzer=analyzer, **fixed(classifier))
        model.save(f"{{sys.argv[1]}}/{{several}}{{number}}.skops")
"""


def test_the_same_training_gives_the_same_bytes(tmp_path):
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", SCRIPT, tmp_path / seed], env=environment, check=True)
    first = {path.name: path.read_bytes() for path in (tmp_path / "1").iterdir()}
    assert len(first) == 2 * len(ALL)
    assert first == {path.name: path.read_bytes() for path in (tmp_path / "2").iterdir()}


def test_what_was_read_is_written_as_it_was(bytes_of, load, tmp_path):
    for several in (False, True):
        for classifier in ALL:
            content = bytes_of(classifier, several=several)
            load(content).save(tmp_path / "again.skops")
            assert (tmp_path / "again.skops").read_bytes() == content, classifier


@pytest.mark.filterwarnings("ignore:Label")
def test_a_class_of_all_documents_and_of_none_is_kept(tmp_path):
    texts, labels = documents(30, several=True)
    model = train(texts, [[*some, "all"] for some in labels], **fixed("multinomial_nb"))
    model.save(tmp_path / "m.skops")
    again = Model.load(tmp_path / "m.skops")
    assert again.predict(texts) == model.predict(texts)
    assert all("all" in some for some in again.predict(texts))
    assert again.explain(texts) == model.explain(texts)


@pytest.mark.parametrize("classifier", ["linear_svm(fit_intercept=False)", "linear_svm(solver='liblinear')",
                                        "linear_svm(C='auto', class_weight='balanced')",
                                        "logistic_regression(fit_intercept=False)",
                                        "libsvm(kernel='rbf')", "poisson_nb(absent_terms=False)"])  # fmt: skip
def test_other_parameters_are_kept(classifier, bytes_of, load):
    texts, labels = documents(45)
    model = train(texts, labels, **fixed(classifier))
    assert load(bytes_of(classifier)).predict(texts) == model.predict(texts)
    assert load(bytes_of(classifier)).classifier.get_params() == model.classifier.get_params()


@pytest.mark.parametrize("change", [{"input": "filename"}, {"tokenizer": "subprocess:getoutput"}, {"binary": True}])
def test_a_changed_vectorizer_is_not_kept(change, tmp_path):
    model = train(*documents(30), **fixed("multinomial_nb"))
    model.vectorizer.set_params(**change)
    with pytest.raises(OptionError, match="was changed after training"):
        model.save(tmp_path / "m.skops")
    assert not (tmp_path / "m.skops").exists()


def test_another_classifier_is_not_kept(tmp_path):
    model = train(*documents(30), **fixed("multinomial_nb"))
    model.settings["classifier"] = "linear_svm"
    with pytest.raises(OptionError, match="is MultinomialNB, not linear_svm"):
        model.save(tmp_path / "m.skops")


# Code from a file

PAYLOAD = "def run(text):\n    open({marker!r}, 'w').close()\n    return text.split()\nopen({marker!r}, 'w').close()\n"


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A module that leaves a mark when it is imported or called, where Python would find it."""
    marker = tmp_path / "it_ran"
    (tmp_path / "here").mkdir()
    for name in ("trapmodule", "Stemmer", "jieba"):
        (tmp_path / "here" / f"{name}.py").write_text(PAYLOAD.format(marker=str(marker)))
    monkeypatch.chdir(tmp_path / "here")
    return marker


def with_tokenizer(content, name):
    return rewritten(content, set_at("settings", "analyzer", "tokenizer", value=name))


@pytest.mark.parametrize("name", ["subprocess:getoutput", "trapmodule:run", "os:system", "builtins:exec"])
def test_a_tokenizer_of_a_file_is_not_run(name, bytes_of, load, trap, monkeypatch):
    monkeypatch.syspath_prepend(str(trap.parent / "here"))
    with pytest.raises(OptionError) as caught:
        load(with_tokenizer(bytes_of(), name))
    assert f"--trust-tokenizer {name}" in str(caught.value)
    assert f"Model.load(path, tokenizer={name!r})" in str(caught.value)
    with pytest.raises(OptionError, match=r"has the tokenizer .*, not 'termsieve\.tokens\.analyzer:words'"):
        load(with_tokenizer(bytes_of(), name), tokenizer="termsieve.tokens.analyzer:words")
    assert not trap.exists()
    assert "trapmodule" not in sys.modules


def shout(text):
    return text.upper().split()


def test_a_tokenizer_that_the_user_names_is_used(tmp_path):
    texts, labels = documents(30)
    name = f"{__name__}:shout"
    model = train(texts, labels, analyzer=ts.Analyzer(tokenizer=shout, lowercase=False), **fixed("multinomial_nb"))
    assert all(term.isupper() for term in model.vectorizer.vocabulary_)
    model.save(tmp_path / "m.skops")
    with pytest.raises(OptionError, match="--trust-tokenizer"):
        Model.load(tmp_path / "m.skops")
    for given in (shout, name):
        assert Model.load(tmp_path / "m.skops", tokenizer=given).predict(texts) == model.predict(texts)
    with pytest.raises(OptionError, match=r"has the tokenizer .*, not "):
        Model.load(tmp_path / "m.skops", tokenizer=str.split)


def test_a_model_without_a_tokenizer_takes_none(bytes_of, load):
    with pytest.raises(OptionError, match="has the tokenizer None, not"):
        load(bytes_of(), tokenizer=shout)


def predicted(folder, *arguments, path=""):
    texts = folder / "texts.csv"
    texts.write_text("text\nship storm\ntouch it_ran\n")
    command = [sys.executable, "-m", "termsieve", "predict", "m.skops", texts, "--text", "text", *arguments]
    source = str(Path(ts.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [source, path]))}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_the_command_line_runs_no_module_beside_the_model(bytes_of, trap):
    folder = Path.cwd()
    (folder / "m.skops").write_bytes(with_tokenizer(bytes_of(), "trapmodule:run"))
    done = predicted(folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--trust-tokenizer trapmodule:run" in done.stderr
    assert "Traceback" not in done.stderr
    assert not trap.exists()
    done = predicted(folder, "--trust-tokenizer", "trapmodule:run")
    assert done.returncode == 2  # it is not in the folders in which Python looks
    assert "cannot be imported" in done.stderr
    assert not trap.exists()
    done = predicted(folder, "--trust-tokenizer", "trapmodule:run", path=str(folder))
    assert done.returncode == 0, done.stderr
    assert trap.exists()


def test_a_stemmer_beside_the_model_is_not_run(trap, tmp_path):
    pytest.importorskip("Stemmer")
    texts, labels = documents(30)
    folder = Path.cwd()
    model = train(texts, labels, analyzer=ts.Analyzer(stemmer="english"), **fixed("multinomial_nb"))
    model.save(folder / "m.skops")
    done = predicted(folder)
    assert done.returncode == 0, done.stderr
    assert not trap.exists()


def test_models_of_before_are_refused_before_anything_of_them_is_made(bytes_of, load, trap):
    model = load(bytes_of())
    model.vectorizer.set_params(tokenizer="subprocess:getoutput", input="filename")
    content = {
        "format": 1, "vectorizer": model.vectorizer, "classifier": model.classifier, "classes": model.classes,
        "single": True, "settings": model.settings,
    }  # fmt: skip
    with pytest.raises(InputError, match="must be trained again"):
        load(skops.io.dumps(content))
    with pytest.raises(InputError, match="is not a model of termsieve"):
        load(rezipped(bytes_of(), lambda members: zip_members(skops.io.dumps(content))))


def zip_members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def schema_change(change):
    def changed(members):
        schema = json.loads(members["schema.json"])
        schema = change(schema) or schema
        members["schema.json"] = json.dumps(schema).encode()

    return changed


def node_becomes(**keys):
    return schema_change(lambda schema: schema["content"]["weights"].update(keys))


def nested(depth):
    def changed(members):
        members["schema.json"] = b'{"content":' * depth + b"1" + b"}" * depth

    return changed


NODE = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "__id__": 77, "content": []}
HOSTILE_SCHEMAS = {
    "function": node_becomes(__class__="system", __module__="os", __loader__="FunctionNode"),
    "function that skops trusts": node_becomes(__class__="load", __module__="numpy", __loader__="FunctionNode"),
    "type": node_becomes(__class__="ndarray", __module__="trapmodule", __loader__="NdArrayNode"),
    "array of another class": node_becomes(__class__="int64"),
    "method": node_becomes(__class__="predict", __loader__="MethodNode", content={"func": "predict", "obj": NODE}),
    "operator": node_becomes(__class__="attrgetter", __module__="operator", __loader__="OperatorFuncNode", attrs=NODE),
    "partial": node_becomes(__class__="partial", __module__="functools", __loader__="PartialNode", content={}),
    "estimator": node_becomes(
        __class__="TermVectorizer", __module__="termsieve.estimators.vectorizer", __loader__="ObjectNode", content=NODE
    ),
    "scikit-learn": node_becomes(
        __class__="LinearSVC", __module__="sklearn.svm._classes", __loader__="ObjectNode", content=NODE
    ),
    "object array": schema_change(
        lambda schema: schema["content"].update(
            weights={
                "__class__": "ndarray",
                "__module__": "numpy",
                "__loader__": "NdArrayNode",
                "__id__": 78,
                "type": "json",
                "shape": NODE,
                "content": [NODE],
            }
        )
    ),
    "random": node_becomes(__class__="RandomState", __module__="numpy.random.mtrand", __loader__="RandomStateNode"),
    "sparse": node_becomes(__class__="csr_matrix", __module__="scipy.sparse", __loader__="SparseMatrixNode"),
    "old loader": schema_change(lambda schema: {**schema, "protocol": -1}),
    "key type": schema_change(lambda schema: schema["key_types"]["content"][0].update(__class__="bytes")),
    "key of code": schema_change(
        lambda schema: schema["key_types"]["content"][0].update(__module__="trapmodule", __class__="run")
    ),
    "too few keys": schema_change(lambda schema: schema["key_types"]["content"].pop()),
    "default dict": schema_change(lambda schema: {**schema, "__class__": "OrderedDict", "__module__": "collections"}),
    "more keys": node_becomes(trusted=True),
    "circle": schema_change(lambda schema: schema["content"]["weights"].update(__id__=schema["__id__"])),
    "key in a circle": schema_change(lambda schema: schema["key_types"]["content"][-1].update(__id__=schema["__id__"])),
    "one object twice": schema_change(
        lambda schema: schema["content"]["weights"].update(__id__=schema["content"]["about"]["__id__"])
    ),
    "one file twice": schema_change(
        lambda schema: schema["content"]["weights"].update(file=schema["content"]["about"]["file"])
    ),
    "a file elsewhere": node_becomes(file="../../etc/passwd"),
    "no file": node_becomes(file=None),
    "a list": schema_change(lambda schema: [schema]),
    "a number": schema_change(lambda schema: 3),
    "nothing": schema_change(lambda schema: {"content": {}}),
    "deep": nested(100_000),
    "not JSON": lambda members: members.update({"schema.json": b"{"}),
    "not text": lambda members: members.update({"schema.json": b"\xff\xfe\x00"}),
    "no schema": lambda members: {name: data for name, data in members.items() if name != "schema.json"},
    "one more member": lambda members: members.update({"more.npy": b"1"}),
}


@pytest.mark.parametrize("attack", HOSTILE_SCHEMAS)
def test_schemas_of_anything_else_are_refused(attack, bytes_of, load, trap, monkeypatch):
    monkeypatch.syspath_prepend(str(trap.parent / "here"))
    content = bytes_of("linear_svm")
    with pytest.raises(InputError, match="is not a model of termsieve"):
        load(rezipped(content, HOSTILE_SCHEMAS[attack]))
    assert not trap.exists()
    assert "trapmodule" not in sys.modules


class Trap:
    def __reduce__(self):
        return (os.mkdir, ("it_ran_too",))


def npy(header, data=b""):
    text = header if isinstance(header, bytes) else repr(header).encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text) + 1) + text + b"\n" + data


def header(**changed):
    return {"descr": "<f8", "fortran_order": False, "shape": (12,), **changed}


HOSTILE_ARRAYS = {
    "pickle": npy(header(descr="|O"), pickle.dumps([Trap()] * 12)),
    "pickle alone": pickle.dumps(Trap()),
    "huge": npy(header(shape=(1 << 40,)), bytes(96)),
    "huge product": npy(header(shape=(1 << 31, 1 << 31, 1 << 31)), bytes(96)),
    "negative": npy(header(shape=(-12,)), bytes(96)),
    "negative twice": npy(header(shape=(-3, -4)), bytes(96)),
    "truth": npy(header(shape=(True, 12)), bytes(96)),
    "no items": npy(header(descr="|V0", shape=(1 << 60,))),
    "no letters": npy(header(descr="|S0", shape=(1 << 60,))),
    "fields": npy(header(descr=[("a", "|O")]), bytes(96)),
    "other bytes": npy(header(descr=">f8"), bytes(96)),
    "text": npy(header(descr="<U2"), bytes(96)),
    "times": npy(header(descr="<M8[s]"), bytes(96)),
    "complex": npy(header(descr="<c16", shape=(6,)), bytes(96)),
    "half": npy(header(), bytes(50)),
    "more": npy(header(), bytes(100)),
    "version 2": b"\x93NUMPY\2\0" + npy(header(), bytes(96))[8:],
    "code": npy(b"__import__('os').mkdir('it_ran_too')", bytes(96)),
    "deep": npy(b"(" * 9000),
    "empty": b"",
    "many dimensions": npy(header(shape=(1,) * 300), bytes(8)),
}


@pytest.mark.parametrize("attack", HOSTILE_ARRAYS)
def test_arrays_of_anything_else_are_refused(attack, bytes_of, load, trap):
    def change(members):
        name = json.loads(members["schema.json"])["content"]["weights"]["file"]
        members[name] = HOSTILE_ARRAYS[attack]

    with pytest.raises(InputError, match="is not a model of termsieve"):
        load(rezipped(bytes_of("linear_svm"), change))
    assert not Path("it_ran_too").exists()


# Files that are larger than they look


def test_what_unpacks_to_too_much_is_refused_before(bytes_of, load):
    def bomb(members):
        name = json.loads(members["schema.json"])["content"]["weights"]["file"]
        members[name] = npy(header(shape=(1 << 24,)), bytes(1 << 27))

    content = rezipped(bytes_of("linear_svm"), bomb, compression=zipfile.ZIP_DEFLATED)
    assert len(content) < 200_000
    with pytest.raises(InputError, match=r"would unpack to 134,.* at most 10,000,000 are read.*max_bytes=134"):
        load(content, max_bytes=10_000_000)
    with pytest.raises(InputError, match="its weights must be"):  # room enough, but it is no model
        load(content)
    with pytest.raises(InputError, match="more than 1,000 bytes"):
        load(content, max_bytes=1000)


def test_a_size_that_lies_does_not_unpack_to_more(bytes_of, load):
    content = bytearray(rezipped(bytes_of("linear_svm"), lambda members: None, compression=zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(io.BytesIO(bytes(content))) as archive:
        member = archive.infolist()[0]
    place = content.rindex(member.filename.encode())  # in the directory at the end
    struct.pack_into("<L", content, place - 46 + 24, 16)
    with pytest.raises(InputError, match="is not a model of termsieve"):
        load(sealed(bytes(content)))


def test_many_members_are_refused_before_they_are_listed(bytes_of, load):
    def more(members):
        members |= {f"{number}.txt": b"" for number in range(60_001)}

    with pytest.raises(InputError, match=r"60,00\d members; at most 60,000"):
        load(rezipped(bytes_of(), more))


def test_archives_of_another_make_are_refused(bytes_of, load):
    content = bytes_of()
    for compression in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with pytest.raises(InputError, match="packed in a way that models are not"):
            load(rezipped(content, lambda members: None, compression=compression))
    with pytest.raises(InputError, match="not one whole archive"):
        load(sealed(b"#!/bin/sh\n" + content))


# Facts that no training has


def analyzer_has(name, value):
    return set_at("settings", "analyzer", name, value=value)


HOSTILE_FACTS = {
    "format": set_at("format", value=2),
    "no classes": set_at("classes", value=[]),
    "one class": set_at("classes", value=["money"]),
    "more classes": set_at("classes", value=["a", "b", "c", "d"]),
    "a class twice": set_at("classes", value=["a", "b", "b"]),
    "classes of numbers": set_at("classes", value=[1, 2, 3]),
    "single": set_at("single", value=1),
    "several": set_at("single", value=False),
    "settings": set_at("settings", value=[]),
    "no terms": set_at("terms", value=[]),
    "terms of numbers": set_at("terms", value=list(range(12))),
    "fewer terms": lambda about, arrays: about["terms"].clear(),
    "fewer terms, and said": lambda about, arrays: (
        {**about, "terms": about["terms"][1:], "settings": {**about["settings"], "n_terms": 11}},
        arrays,
    ),
    "a term twice": lambda about, arrays: about["terms"].__setitem__(0, about["terms"][1]),
    "constant": set_at("constants", value=[1]),
    "constants": set_at("constants", value=[None, None]),
    "constants of text": set_at("constants", value=["os"]),
    "number of terms": set_at("settings", "n_terms", value=13),
    "number of documents": set_at("settings", "n_docs", value=-1),
    "folds": set_at("settings", "cv", value="5"),
    "judged by nothing": set_at("settings", "cv", value=5),
    "measure": set_at("settings", "f1_macro", value="0.9"),
    "measure of nothing": set_at("settings", "f1_macro", value=[]),
    "candidates": set_at("settings", "candidates", value=[["gu"]]),
    "text": set_at("settings", "text", value="os"),
    "score": set_at("settings", "score", value="__import__('os').mkdir('it_ran_too')"),
    "score of code": set_at("settings", "score", value="gu(x=__import__('os').mkdir('it_ran_too'))"),
    "score of nothing": set_at("settings", "score", value="nope"),
    "rule": set_at("settings", "rule", value="os.mkdir('it_ran_too')"),
    "rule of lists": set_at("settings", "rule", value=[]),
    "weighting": set_at("settings", "weighting", value="tf.os"),
    "weighting without weights": set_at("settings", "weighting", value="count"),
    "classifier": set_at("settings", "classifier", value="os.mkdir('it_ran_too')"),
    "classifier of another kind": set_at("settings", "classifier", value="multinomial_nb"),
    "classifier with a wrong parameter": set_at("settings", "classifier", value="linear_svm(C='much')"),
    "classifier with code": set_at("settings", "classifier", value="linear_svm(C=os.mkdir('it_ran_too'))"),
    "analyzer": set_at("settings", "analyzer", value=None),
    "analyzer of nothing": set_at("settings", "analyzer", value={}),
    "file names": analyzer_has("analyzer", "filename"),
    "stop words": analyzer_has("stop_words", "english"),
    "stop words of lists": analyzer_has("stop_words", [["a"]]),
    "stop words by name": analyzer_has("stop_words", {"os": 1}),
    "tokenizer of lists": analyzer_has("tokenizer", ["os:mkdir"]),
    "tokenizer of code": analyzer_has("tokenizer", "os:mkdir('it_ran_too')"),
    "tokenizer for a terminal": analyzer_has("tokenizer", "os:\x1b[2J"),
    "stemmer": analyzer_has("stemmer", "../../etc/passwd"),
    "stemmer of lists": analyzer_has("stemmer", ["english"]),
    "segmenter": analyzer_has("segmenter", "os"),
    "accents": analyzer_has("strip_accents", "os:system"),
    "long n-grams": analyzer_has("ngram_range", [1, 1_000_000_000]),
    "n-grams": analyzer_has("ngram_range", "12"),
    "lowercase": analyzer_has("lowercase", "yes"),
    "pattern": analyzer_has("token_pattern", 3),
    "pattern without end": analyzer_has("token_pattern", "[z-a]+"),
}  # fmt: skip


@pytest.mark.parametrize("attack", HOSTILE_FACTS)
def test_facts_that_no_training_has_are_refused(attack, bytes_of, load, trap):
    with pytest.raises(InputError, match="is not a model of termsieve"):
        load(rewritten(bytes_of("linear_svm"), HOSTILE_FACTS[attack]))
    assert not Path("it_ran_too").exists()


@pytest.mark.parametrize(
    "text", [b'{"a":NaN}', b'{"a":1,"a":2}', b'"\\ud800"', b'{"a":"\\ud800"}', b"[" * 100_000, b"\xff"]
)
def test_facts_are_written_in_one_way(text, bytes_of, load):
    def change(members):
        name = json.loads(members["schema.json"])["content"]["about"]["file"]
        members[name] = npy(header(descr="|u1", shape=(len(text),)), text)

    with pytest.raises(InputError, match="is not a model of termsieve"):
        load(rezipped(bytes_of("linear_svm"), change))


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("classifier", ALL)
def test_arrays_that_do_not_fit_are_refused(classifier, several, bytes_of, load):
    content = bytes_of(classifier, several=several)
    _, arrays = unpack(content)
    changes = {
        "left out": lambda array: None, "longer": lambda array: np.concatenate([array, array[:1]]) if len(array) else
        np.ones(1), "deeper": lambda array: array[None], "of another type": lambda array: array.astype("<f8")
        if array.dtype != np.float64 else array.astype("<i8"),
    }  # fmt: skip
    for name in arrays:
        for change in changes.values():
            changed = {**arrays, name: change(arrays[name])}
            given = {key: array for key, array in changed.items() if array is not None}
            with pytest.raises(InputError, match="is not a model of termsieve"):
                load(rewritten(content, lambda about, _, given=given: (about, given)))
        if arrays[name].dtype.kind == "f" and arrays[name].size:
            holed = np.array(arrays[name])
            holed.flat[-1] = np.nan
            with pytest.raises(InputError, match="not numbers"):
                load(rewritten(content, lambda about, old, n=name, h=holed: (about, {**old, n: h})))
    with pytest.raises(InputError, match="is not a model of termsieve"):
        load(rewritten(content, lambda about, old: (about, {**old, "0.more": np.ones(1)})))
    with pytest.raises(InputError, match="is not a model of termsieve"):
        load(rewritten(content, lambda about, old: (about, {**old, "more": np.ones(1)})))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("vector_indices", lambda a: a + 12), ("vector_indices", lambda a: a - 12),
        ("vector_indices", lambda a: a[::-1]),
        ("vector_indptr", lambda a: a + 1), ("vector_indptr", lambda a: a[::-1]), ("n_support", lambda a: a - 99),
        ("n_support", lambda a: a * 2), ("support_", lambda a: a + 45), ("support_", lambda a: a - 45),
        ("n_docs", lambda a: a * 0), ("prob_a", lambda a: np.ones(2)), ("prob_a", lambda a: np.ones(3)),
        ("gamma", lambda a: a * np.inf),
    ],
)  # fmt: skip
def test_support_vectors_that_do_not_fit_are_refused(name, change, bytes_of, load):
    def changed(about, arrays):
        return about, {**arrays, f"0.{name}": np.ascontiguousarray(change(arrays[f"0.{name}"]))}

    with pytest.raises(InputError, match="is not a model of termsieve"):
        load(rewritten(bytes_of("libsvm"), changed))


def test_a_network_of_another_size_is_refused(bytes_of, load):
    for spelling in ("neural_network(hidden_layer_sizes=1000000000)", "neural_network(hidden_layer_sizes=(4, 4))",
                     "neural_network(activation='nope', hidden_layer_sizes=4)"):  # fmt: skip
        with pytest.raises(InputError, match="is not a model of termsieve"):
            load(rewritten(bytes_of(NETWORK), set_at("settings", "classifier", value=spelling)))


def test_a_kernel_of_its_own_is_refused(bytes_of, load):
    for kernel in ("precomputed", "nope"):
        with pytest.raises(InputError, match="is not a model of termsieve"):
            load(rewritten(bytes_of("libsvm"), set_at("settings", "classifier", value=f"libsvm(kernel={kernel!r})")))


# Probabilities


CURVES = {
    "isotonic": (np.array([-1.0, 0.5, 2.0]), np.array([0.1, 0.1, 0.9])),
    "sigmoid": (np.array(1.5), np.array(-0.5)),
}


def calibrated_bytes(path, method):
    """The bytes of a model with one label per document and a given kind of curves."""
    model = train(*documents(45), **fixed("linear_svm", calibrate=3))
    model.decision = model.decision._replace(calibration=Calibration(method, (CURVES[method],) * 3))
    model.settings["calibration"]["method"] = method
    model.save(path)
    return path.read_bytes()


def test_points_of_curves_are_kept(tmp_path):
    calibrated_bytes(tmp_path / "m.skops", "isotonic")
    again = Model.load(tmp_path / "m.skops")
    again.save(tmp_path / "again.skops")
    assert (tmp_path / "again.skops").read_bytes() == (tmp_path / "m.skops").read_bytes()
    assert again.decision.calibration.apply(np.full((1, 3), 1.25)) == pytest.approx(np.full((1, 3), 0.5))


@pytest.mark.parametrize(
    ("kind", "name", "change"),
    [
        ("single", "sigmoid", lambda a: -a - 1), ("single", "sigmoid", lambda a: a[:2]),
        ("single", "sigmoid", lambda a: a * np.inf), ("single", "prior", lambda a: a * 2),
        ("single", "prior", lambda a: -a), ("single", "prior", lambda a: a[:2]),
        ("single", "thresholds", lambda a: np.full(3, 0.5)),
        ("several", "thresholds", lambda a: a * 0), ("several", "thresholds", lambda a: a * 0 + 1),
        ("several", "thresholds", lambda a: a[:1]), ("several", "sigmoid", lambda a: a * np.nan),
        ("isotonic", "isotonic_x", lambda a: -a), ("isotonic", "isotonic_x", lambda a: a * 0),
        ("isotonic", "isotonic_x", lambda a: a[1:]), ("isotonic", "isotonic_y", lambda a: 1 - a),
        ("isotonic", "isotonic_y", lambda a: a * 2), ("isotonic", "isotonic_y", lambda a: a * 0),
        ("isotonic", "isotonic_ends", lambda a: a[::-1]), ("isotonic", "isotonic_ends", lambda a: -a),
        ("isotonic", "isotonic_ends", lambda a: a + 1), ("isotonic", "isotonic_ends", lambda a: a * 2**60),
        ("isotonic", "sigmoid", lambda a: np.zeros((3, 2))),
    ],
)  # fmt: skip
def test_calibrations_that_no_training_has_are_refused(kind, name, change, bytes_of, load, tmp_path):
    if kind == "several":
        content = bytes_of("linear_svm", several=True, calibrate=3)
    else:
        content = calibrated_bytes(tmp_path / "c.skops", "isotonic" if kind == "isotonic" else "sigmoid")
    assert load(content).predict(["ship"])

    def changed(about, arrays):
        return about, {**arrays, name: np.ascontiguousarray(change(arrays.get(name)))}

    with pytest.raises(InputError, match="is not a model of termsieve"):
        load(rewritten(content, changed))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("calibration",), {}), (("calibration",), [1]), (("calibration", "method"), "os.mkdir"),
        (("calibration", "method"), "isotonic"), (("calibration", "method"), ["sigmoid"]),
        (("calibration", "documents"), -1), (("calibration", "folds"), 1),
        (("calibration", "folds"), "5"), (("calibration", "brier"), None), (("calibration", "brier"), 3.0),
        (("calibration", "ece_before"), "0.1"), (("calibration", "bins"), 3), (("calibration", "bins"), [[1, 2]]),
        (("calibration", "more"), 1),
    ],
)  # fmt: skip
def test_reports_that_no_training_has_are_refused(path, value, load, tmp_path):
    content = calibrated_bytes(tmp_path / "c.skops", "sigmoid")
    with pytest.raises(InputError, match="is not a model of termsieve"):
        load(rewritten(content, set_at("settings", *path, value=value)))


@pytest.mark.parametrize("calibrate", [0, 3])
def test_what_is_said_of_documents_without_a_label_must_fit(calibrate, bytes_of, load):
    for value in (True, 1, None):
        with pytest.raises(InputError, match="is not a model of termsieve"):
            load(rewritten(bytes_of("linear_svm", calibrate=calibrate), set_at("always_label", value=value)))


# Patterns


WITHOUT_END = r"(?:\w+\s?)+!"


def test_patterns_that_can_search_without_end_are_given_again(bytes_of, load):
    content = rewritten(bytes_of(), analyzer_has("token_pattern", WITHOUT_END))
    with pytest.raises(OptionError) as caught:
        load(content)
    assert "--trust-pattern '(?:\\w+\\s?)+!'" in str(caught.value)
    with pytest.raises(OptionError, match=r"has the token pattern .*, not "):
        load(content, token_pattern=r"\w+")
    assert load(content, token_pattern=WITHOUT_END).predict(["ship!"])
    safe = rewritten(bytes_of(), analyzer_has("token_pattern", r"[a-z]{3,}"))
    assert load(safe).predict(["ship"]) == ["sea"]


def test_the_command_line_says_and_takes_the_pattern(tmp_path, typed):
    texts, labels = documents(30)
    mail = tmp_path / "mail.csv"
    mail.write_text("\n".join(["text,label", *map(",".join, zip(texts, labels, strict=True))]))
    target = tmp_path / "m.skops"
    pattern = r"[a-z]+(?:-[a-z]+)?"
    options = ["--score", "chi2", "-k", "8", "--classifier", "multinomial_nb", "--cv", "0"]
    code, _, err = typed("train", mail, *options, "--pattern", pattern, "-o", target)
    assert code == 0, err
    assert f"--trust-pattern '{pattern}'" in err
    code, _, err = typed("predict", target, mail, "--text", "text")
    assert code == 2
    assert f"--trust-pattern '{pattern}'" in err
    code, out, err = typed("predict", target, mail, "--text", "text", "--trust-pattern", pattern)
    assert code == 0, err
    assert len(out.splitlines()) == 31
    code, _, err = typed("predict", target, mail, "--text", "text", "--trust-pattern", pattern, "--max-model-size", "1")
    assert code == 0, err


# Other files


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 nonsense", "is not a model"),
        (skops.io.dumps([1, 2]), "does not end like a model file"),
        (MARK + bytes(32), "is not a model"),
        (b"x" * 100 + MARK + hashlib.sha256(b"x" * 100 + MARK).digest(), "not one whole archive"),
    ],
    ids=["empty", "a zip cut short", "of skops", "only a mark", "no archive"],  # without the time, which archives hold
)
def test_other_files_are_no_models(content, said, load, tmp_path):
    with pytest.raises(InputError, match=said):
        load(content)
    (tmp_path / "mail.skops").touch()
    with pytest.raises(InputError, match=r"There is no file .*mial\.skops\. Did you mean 'mail\.skops'"):
        Model.load(tmp_path / "mial.skops")
    with pytest.raises(InputError, match="cannot be read"):
        Model.load(tmp_path)


# Vectorizers that users keep with skops by themselves


def test_a_vectorizer_from_skops_does_not_run_what_the_file_names(trap, monkeypatch):
    monkeypatch.syspath_prepend(str(trap.parent / "here"))
    vectorizer = ts.TermVectorizer().fit(["one two"])
    content = skops.io.dumps(vectorizer.set_params(tokenizer="trapmodule:run"))
    trusted = ["termsieve.estimators.vectorizer.TermVectorizer"]
    again = skops.io.loads(content, trusted=trusted)
    for copied in (again, pickle.loads(pickle.dumps(again))):
        with pytest.raises(OptionError, match="is named by a file"):
            copied.transform(["one"])
    assert not trap.exists()
    again.set_params(tokenizer="trapmodule:run")  # now the user names it
    assert again.transform(["one"]).sum() == 1
    assert trap.exists()


def test_a_vectorizer_from_pickle_still_knows_its_tokenizer():
    vectorizer = ts.TermVectorizer(tokenizer=f"{__name__}:shout").fit(["one two"])
    assert pickle.loads(pickle.dumps(vectorizer)).transform(["one"]).sum() == 1


@pytest.mark.parametrize("offsets", [[0, 3, 1 << 40], [0, -5, 6], [0, 6, 3], [3, 3], [], [[0, 6]], [0.0, 6.0]])
def test_terms_whose_offsets_lie_are_refused(offsets):
    vectorizer = ts.TermVectorizer().fit(["one two"])
    state = vectorizer.__getstate__()
    state["_terms"] = {**state["_terms"], "offsets": np.array(offsets, dtype=None if offsets else np.int64)}
    with pytest.raises((TermsieveError, ValueError)):
        ts.TermVectorizer().__setstate__(state)
    state["_terms"] = {"text": np.frombuffer(b"\xff\xfe\xfd", np.uint8), "offsets": np.array([0, 3])}
    with pytest.raises(InputError, match="damaged"):
        ts.TermVectorizer().__setstate__(state)
