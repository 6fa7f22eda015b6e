"""Exported models label texts as the model does: in Python, JavaScript, and SQL, on any Unicode text."""

import base64
import importlib.util
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import termsieve as ts
from termsieve.errors import InputError, OptionError
from termsieve.estimators.weighting import UNSUPERVISED, UNWEIGHTED
from termsieve.evaluate.differences import corrected_error
from termsieve.model.exporting import (
    budget,
    export,
    find_front,
    forms,
    load_compact,
    load_portable,
    runtime,
    to_portable,
    train_in_bytes,
)
from termsieve.model.exporting.characters import encode_ranges, find_ranges
from termsieve.model.exporting.compact import _pack_bits, _pack_sorted, pack, quantize
from termsieve.model.exporting.graph import make_graph
from termsieve.model.exporting.portable import to_analyzer_data
from termsieve.model.exporting.reading import load_model
from termsieve.model.exporting.sql import DIALECTS, SqlNames, make_sql
from termsieve.model.fitting import TrainingMatrix

WORDS = ["cheap", "pills", "İstanbul", "ΟΔΥΣΣΕΥΣ", "straße", "noon", "lunch", "日本", "it's", "x<y", "tea_2", "Über"]
ANALYZERS = [
    ts.Analyzer(), ts.Analyzer(ngram_range=(1, 2), stop_words="english"),
    ts.Analyzer(lowercase=False, token_pattern=r"\w+"),
    ts.Analyzer(analyzer="char", ngram_range=(1, 3)), ts.Analyzer(analyzer="char_wb", ngram_range=(2, 3)),
]  # fmt: skip
CLASSIFIERS = ["multinomial_nb", "bernoulli_nb", "poisson_nb", "linear_svm", "logistic_regression"]


def node(*arguments):
    """Run Node, or skip the test where it is not."""
    program = shutil.which("node")
    if program is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("there is no Node on this machine")
    return subprocess.run([program, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def make_documents(n_classes, *, several=False, seed=0):
    generator = random.Random(seed)
    names = [f"class {c}'s" for c in range(n_classes)]
    texts, labels = [], []
    for i in range(40 * n_classes):
        c = i % n_classes
        own = [WORDS[(3 * c + j) % len(WORDS)] for j in range(3)]
        texts.append(" ".join(generator.choices(own, k=4) + generator.choices(WORDS, k=3)))
        labels.append([names[c], *([names[(c + 1) % n_classes]] if several and i % 3 == 0 else [])])
    return texts, labels


def train(classifier, n_classes=3, *, several=False, analyzer=None, **options):
    texts, labels = make_documents(n_classes, several=several)
    return ts.train(
        texts, labels, scores="chi2", ks=9, classifiers=classifier, cv=0, analyzer=analyzer, progress=False, **options
    )


@pytest.fixture(scope="module")
def models():
    """One model of each kind."""
    found = {f"{name}, {n}": train(name, n) for name in CLASSIFIERS for n in (2, 3)}
    found["several"] = train("linear_svm", 4, several=True)
    found["plain"] = train("linear_svm", 3, calibrate=0)
    found["several, plain"] = train("multinomial_nb", 3, several=True, calibrate=0)
    found["pairs"] = train("linear_svm", 3, analyzer=ts.Analyzer(ngram_range=(1, 2)))
    found["characters"] = train("linear_svm", 2, analyzer=ts.Analyzer(analyzer="char_wb", ngram_range=(1, 2)))
    return found


@pytest.fixture(scope="module")
def texts():
    generator = random.Random(1)
    made = [
        " ".join(generator.choices([*WORDS, "CHEAP", "zzz", "ΣΑΣ", "…", "\t\n"], k=generator.randint(0, 8)))
        for _ in range(60)
    ]
    return [*made, "", "zzz"]


def check(model, texts, answers):
    """Compare labels exactly, and probabilities to 1e-9."""
    labels = [one["label"] if model.single else one["labels"] for one in answers]
    assert labels == model.predict(texts)
    chances = model.predict_proba(texts)
    if chances is not None:
        given = [[one["probabilities"][name] for name in model.classes] for one in answers]
        np.testing.assert_allclose(given, chances, atol=1e-9)
    assert [one["known"] for one in answers] == model.has_terms(texts).tolist()


def test_data_labels_as_the_model_does(models, texts, tmp_path):
    for name, model in models.items():
        predictor = load_portable(export(model, tmp_path / f"{name}.json"))
        check(model, texts, [predictor.predict(text) for text in texts])


@pytest.mark.parametrize("weighting", [*UNWEIGHTED, *UNSUPERVISED, "tf.bns"])
def test_every_weighting_is_taken_along(weighting, texts):
    model = train("linear_svm", 2, weighting=weighting, calibrate=0)
    predictor = runtime.Predictor(to_portable(model))
    scores = [predictor.find_scores(predictor.to_values(text))[0] for text in texts]
    np.testing.assert_allclose(scores, model.classifier.decision_function(model.to_matrix(texts)), atol=1e-12)


def test_data_is_a_model_again(models, texts, tmp_path):
    for name, model in models.items():
        again = ts.Model.load(model.export(tmp_path / f"{name}.json"))
        assert again.predict(texts) == model.predict(texts)
        assert (again.predict_proba(texts) is None) == (model.predict_proba(texts) is None)
        if model.has_probabilities:
            np.testing.assert_allclose(again.predict_proba(texts), model.predict_proba(texts), atol=1e-9)
        for one, other in zip(again.explain(texts), model.explain(texts), strict=True):
            assert [part.term for each in one for part in each.parts] == [
                part.term for each in other for part in each.parts
            ]
        assert to_portable(again) == to_portable(model)


def test_a_module_of_python_labels_as_the_model_does(models, texts, tmp_path):
    for number, model in enumerate(models.values()):
        path = export(model, tmp_path / f"exported_{number}.py")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        check(model, texts, [module.predict(text) for text in texts])


def test_the_module_runs_without_anything_installed(models, tmp_path):
    path = export(models["linear_svm, 2"], tmp_path / "exported.py")
    said = subprocess.run([sys.executable, "-I", "-S", path, "cheap pills"], check=True, capture_output=True, text=True)
    assert json.loads(said.stdout)["label"] == models["linear_svm, 2"].predict(["cheap pills"])[0]
    assert "termsieve" not in {
        line.split()[1] for line in path.read_text("utf-8").splitlines() if line.startswith(("import", "from"))
    }


def test_a_module_of_javascript_labels_as_the_model_does(models, texts, tmp_path):
    (tmp_path / "texts.json").write_text(json.dumps(texts))
    names = list(models)
    for number, model in enumerate(models.values()):
        export(model, tmp_path / f"m{number}.mjs")
    (tmp_path / "run.mjs").write_text(
        'import fs from "fs";\nconst texts = JSON.parse(fs.readFileSync(process.argv[2]));\nconst answers = [];\n'
        f"for (let i = 0; i < {len(names)}; i++) {{\n"
        "  const { predict } = await import(`./m${i}.mjs`);\n  answers.push(texts.map((text) => predict(text)));\n}\n"
        "console.log(JSON.stringify(answers));\n"
    )
    answers = json.loads(node(tmp_path / "run.mjs", tmp_path / "texts.json"))
    for name, one in zip(names, answers, strict=True):
        check(models[name], texts, one)


def test_the_terms_that_decided_are_those_of_the_model(models, texts):
    model = models["multinomial_nb, 3"]
    predictor = runtime.Predictor(to_portable(model))
    for text, explained in zip(texts, model.explain(texts, 5), strict=True):
        given = predictor.predict(text, 5)["terms"]
        assert {term: pytest.approx(part) for term, part in given} == {one.term: one.part for one in explained[0].parts}


# Words are the same everywhere


@pytest.fixture(scope="module")
def cutters():
    """Each analyzer, as exported, and as a Python with another version of Unicode has it."""
    data = [to_analyzer_data(one) for one in ANALYZERS]
    return [
        (one, runtime.Analyzer(exported), runtime.Analyzer({**exported, "unicode": "0"}))
        for one, exported in zip(ANALYZERS, data, strict=True)
    ]


@given(text=st.text(max_size=40))
def test_python_cuts_any_text_alike(cutters, text):
    for analyzer, portable, elsewhere in cutters:
        assert portable(text) == analyzer(text)
        assert elsewhere(text) == analyzer(text)


def test_javascript_cuts_any_text_alike(tmp_path):
    generator = random.Random(2)
    pools = [range(32, 127), range(0xA0, 0x250), range(0x370, 0x400), range(0x1E00, 0x2000), range(0x10000, 0x10FFFF)]
    special = [
        *map(ord, "\u03a3\u03c3\u03c2İ\u0131Iiẞßǅﬁ'\u2019\xb7.:_\u00ad\u200d\u0307\u0345 \x1c\x85\ufeff"),
        *range(0x2000, 0x2070),
    ]
    texts = [
        "".join(chr(generator.choice(generator.choice([*pools, special]))) for _ in range(generator.randint(0, 30)))
        for _ in range(2000)
    ]
    (tmp_path / "in.json").write_text(
        json.dumps({"settings": [to_analyzer_data(one) for one in ANALYZERS], "texts": texts})
    )
    (tmp_path / "run.mjs").write_text(
        forms.load_script() + '\nimport fs from "fs";\nconst given = JSON.parse(fs.readFileSync(process.argv[2]));\n'
        "console.log(JSON.stringify(given.settings.map((one) => { const a = new Analyzer(one); "
        "return given.texts.map((text) => a.analyze(text)); })));\n"
    )
    found = json.loads(node(tmp_path / "run.mjs", tmp_path / "in.json"))
    for analyzer, lists in zip(ANALYZERS, found, strict=True):
        assert lists == [analyzer(text) for text in texts]


def test_every_character_has_pythons_lower_case_in_javascript(tmp_path):
    """Alone, and where it decides whether a sigma ends a word: Node has another version of Unicode."""
    settings = to_analyzer_data(ts.Analyzer())
    (tmp_path / "in.json").write_text(json.dumps(settings))
    (tmp_path / "run.mjs").write_text(
        forms.load_script() + 'import fs from "fs";\n'
        "const analyzer = new Analyzer(JSON.parse(fs.readFileSync(process.argv[2])));\n"
        "const found = [];\nfor (let code = 1; code < 0x20000; code++) {\n"
        "  if (code >= 0xd800 && code < 0xe000) continue;\n  const c = String.fromCodePoint(code);\n"
        "  found.push(analyzer.lower(`${c} a\u03a3${c} a\u03a3${c}a ${c}\u03a3 a${c}\u03a3`));\n}\n"
        "console.log(JSON.stringify(found));\n", "utf-8",
    )  # fmt: skip
    codes = [code for code in range(1, 0x20000) if not 0xD800 <= code < 0xE000]
    texts = [f"{chr(c)} a\u03a3{chr(c)} a\u03a3{chr(c)}a {chr(c)}\u03a3 a{chr(c)}\u03a3" for c in codes]
    found = json.loads(node(tmp_path / "run.mjs", tmp_path / "in.json"))
    assert [text for text, one in zip(texts, found, strict=True) if one != text.lower()] == []
    elsewhere = runtime.Analyzer({**settings, "unicode": "0"})
    assert [text for text in texts[:12_000] if elsewhere._lower(text) != text.lower()] == []


def test_ranges_are_decoded_as_they_were_encoded():
    digits = find_ranges(np.array([chr(code).isdigit() for code in range(sys.maxunicode + 1)]))
    assert runtime.decode_ranges(encode_ranges(digits)) == digits
    assert (0x30, 0x39) in digits


# SQL


def judge(model, texts, rows, *, least):
    """Compare the rows of a query with the model; texts that were not labelled are counted."""
    wanted, chances = model.predict(texts), model.predict_proba(texts)
    given = {}
    for number, label, chance, note in rows:
        given.setdefault(number, []).append((label, chance, note))
    assert sorted(given) == list(range(len(texts)))
    labelled = 0
    for number, answers in given.items():
        note = answers[0][2] or ""
        if note.startswith("not labelled"):
            assert answers == [(None, None, note)]
            continue
        labelled += 1
        labels = [label for label, _, _ in answers if label is not None]
        assert (labels[0] if model.single else labels) == wanted[number]
        assert (note == "none of the terms") == (not model.has_terms([texts[number]])[0])
        if chances is not None:
            for label, chance, _ in answers:
                if label is not None:
                    assert chance == pytest.approx(chances[number][model.classes.index(label)], abs=1e-9)
    assert labelled >= least


SQL_MODELS = ["multinomial_nb, 2", "multinomial_nb, 3", "linear_svm, 2", "linear_svm, 3", "poisson_nb, 3", "several",
              "plain", "several, plain", "pairs"]  # fmt: skip


def test_duckdb_labels_as_the_model_does(models, texts):
    duckdb = pytest.importorskip("duckdb")
    base = duckdb.connect()
    base.execute("CREATE TABLE documents (id BIGINT, text VARCHAR)")
    base.executemany("INSERT INTO documents VALUES (?, ?)", list(enumerate(texts)))
    for name in SQL_MODELS:
        rows = base.execute(make_sql(to_portable(models[name]), "duckdb")).fetchall()
        judge(models[name], texts, rows, least=20)


def test_sqlite_labels_as_the_model_does(models, texts):
    base = sqlite3.connect(":memory:")
    base.execute('CREATE TABLE "my mail" (nr INTEGER, body TEXT)')
    base.executemany('INSERT INTO "my mail" VALUES (?, ?)', list(enumerate(texts)))
    for name in SQL_MODELS:
        query = make_sql(to_portable(models[name]), "sqlite", SqlNames("my mail", "body", "nr"))
        judge(models[name], texts, base.execute(query).fetchall(), least=5)


def test_postgres_labels_as_the_model_does(models, texts, postgres):
    with postgres.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE documents (id BIGINT, text TEXT)")
        cursor.executemany("INSERT INTO documents VALUES (%s, %s)", list(enumerate(texts)))
        for name in SQL_MODELS:
            cursor.execute(make_sql(to_portable(models[name]), "postgres").encode())
            judge(models[name], texts, cursor.fetchall(), least=20)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_letters_that_no_term_has_are_lowered_where_words_end_at_them(dialect):
    """Of ``[a-z]+``, "moneyK" is one word: if K were no letter, it would be the term "money"."""
    texts, labels = ["free money", "call me", "money talk", "lunch call"] * 10, ["a", "b", "a", "b"] * 10
    model = ts.train(texts, labels, scores="chi2", ks=4, classifiers="multinomial_nb", cv=0, calibrate=0,
                     analyzer=ts.Analyzer(token_pattern="[a-z]+"))  # fmt: skip
    given = ["moneyK", "MONEY", "money\u212a", "Q call"]
    base = pytest.importorskip("duckdb").connect() if dialect == "duckdb" else sqlite3.connect(":memory:")
    base.execute("CREATE TABLE documents (id BIGINT, text VARCHAR)")
    base.executemany("INSERT INTO documents VALUES (?, ?)", list(enumerate(given)))
    judge(model, given, base.execute(make_sql(to_portable(model), dialect)).fetchall(), least=3)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_rows_without_an_id_of_their_own_get_no_label(models, dialect):
    base = pytest.importorskip("duckdb").connect() if dialect == "duckdb" else sqlite3.connect(":memory:")
    base.execute("CREATE TABLE documents (id BIGINT, text VARCHAR)")
    base.executemany("INSERT INTO documents VALUES (?, ?)", [(1, "cheap"), (1, "noon"), (None, "lunch"), (2, "cheap")])
    rows = base.execute(make_sql(to_portable(models["linear_svm, 2"]), dialect)).fetchall()
    labels = {number: (label, note) for number, label, _, note in rows}
    assert labels[1] == labels[None] == (None, "not labelled: no id of its own")
    assert labels[2] == (models["linear_svm, 2"].predict(["cheap"])[0], None)


def test_sqlite_does_not_label_a_text_that_it_reads_in_part(models):
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE documents (id INTEGER, text TEXT)")
    base.execute("INSERT INTO documents VALUES (1, ?)", ["cheap\0 noon über"])
    rows = base.execute(make_sql(to_portable(models["linear_svm, 2"]), "sqlite")).fetchall()
    assert rows == [(1, None, None, "not labelled: a zero character")]


# ONNX


def run_graph(model, texts):
    """Label texts by onnxruntime."""
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(make_graph(to_portable(model)), options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(names, {"text": np.array(texts, object)}), strict=True))


def judge_graph(model, texts, *, least):
    """Compare the answers of a graph with the model; texts that were not labelled are counted."""
    found = run_graph(model, texts)
    exact = found["exact"]
    assert exact.sum() >= least
    wanted = np.array([[name in np.atleast_1d(labels) for name in model.classes] for labels in model.predict(texts)])
    given = found["labels"] if not model.single else found["label"][:, None] == np.array(model.classes, object)
    assert (given[exact] == wanted[exact]).all()
    assert not given[~exact].any()
    assert (found["known"] == model.has_terms(texts))[exact].all()
    if model.has_probabilities:
        np.testing.assert_allclose(found["probabilities"][exact], model.predict_proba(texts)[exact], atol=1e-9)


def test_onnxruntime_labels_as_the_model_does(models, texts):
    for name, model in models.items():
        if name != "characters":
            judge_graph(model, texts, least=20)
            judge_graph(model, [""], least=1)


@pytest.mark.parametrize(
    "analyzer",
    [*ANALYZERS[1:4], ts.Analyzer(token_pattern="[a-z]+"), ts.Analyzer(ngram_range=(2, 3)),
     ts.Analyzer(ngram_range=(1, 2), stop_words=["noon", "über"])],
    ids=str,
)  # fmt: skip
def test_onnxruntime_cuts_texts_as_the_model_does(analyzer, texts):
    generator = random.Random(3)
    letters = [*"cheapnoCHEAPNOÜüß\u03a3\u03c3 _'\t\n\u212aǅİ日本"]
    made = ["".join(generator.choices(letters, k=generator.randint(0, 20))) for _ in range(300)]
    judge_graph(train("linear_svm", 3, analyzer=analyzer), [*texts, *made], least=100)


def test_what_a_graph_cannot_do_is_refused(models, tmp_path):
    with pytest.raises(OptionError, match=r"char_wb.* cannot be exported as \.onnx"):
        export(models["characters"], tmp_path / "m.onnx")
    spaced = {**to_portable(models["pairs"])}
    spaced["analyzer"] = {**spaced["analyzer"], "word_characters": encode_ranges([(32, 32), (97, 122)])}
    with pytest.raises(OptionError, match="words may have spaces"):
        make_graph(spaced)
    assert not (tmp_path / "m.onnx").exists()


# Every classifier, every weighting, one label or several


@pytest.mark.parametrize("weighting", ["count", "binary", "tfidf", "tfidf_ltc"])
@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize(("n_classes", "several"), [(2, False), (3, False), (3, True)])
def test_every_kind_of_model_is_taken_along(classifier, weighting, n_classes, several, texts):
    model = train(classifier, n_classes, several=several, weighting=weighting, calibrate=0)
    predictor = runtime.Predictor(to_portable(model))
    check(model, texts, [predictor.predict(text) for text in texts])
    again = load_model(to_portable(model), "model")
    assert again.predict(texts) == model.predict(texts)
    assert to_portable(again) == to_portable(model)
    judge_graph(model, texts, least=20)
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE documents (id INTEGER, text TEXT)")
    base.executemany("INSERT INTO documents VALUES (?, ?)", list(enumerate(texts)))
    judge(model, texts, base.execute(make_sql(to_portable(model), "sqlite")).fetchall(), least=5)


# What is refused, and what hostile names do


def test_a_number_beyond_floats_is_refused():
    data = to_portable(train("linear_svm", 2, several=False, calibrate=0))
    with pytest.raises(InputError, match="is not an exported model"):
        load_model({**data, "constants": [10**400]}, "model.json")


@pytest.mark.parametrize(
    ("analyzer", "says"),
    [
        (ts.Analyzer(strip_accents="unicode"), "strip_accents"),
        (ts.Analyzer(token_pattern=r"[a-z]+'[a-z]+"), "token pattern"),
    ],
)
def test_what_other_languages_cannot_do_is_refused(analyzer, says, tmp_path):
    model = train("multinomial_nb", 2, analyzer=analyzer) if says == "strip_accents" else None
    with pytest.raises(OptionError, match=says):
        export(model, tmp_path / "m.js") if model else to_analyzer_data(analyzer)
    assert not (tmp_path / "m.js").exists()


@pytest.mark.parametrize(
    ("analyzer", "says"),
    [
        (ts.Analyzer(stemmer="english"), "stemmer='english'"),
        (ts.Analyzer(segmenter="jieba"), "segmenter='jieba'"),
        (ts.Analyzer(tokenizer=str.split), "tokenizer="),
        (ts.Analyzer(analyzer="tokens"), "lists of tokens"),
    ],
)
def test_what_only_termsieve_cuts_is_refused_by_name(analyzer, says):
    with pytest.raises(OptionError, match=says):
        to_analyzer_data(analyzer)


@pytest.mark.parametrize("classifier", ["neural_network", "probit", 'libsvm(kernel="rbf")'])
def test_a_classifier_that_is_no_sum_is_refused_by_name(classifier, tmp_path):
    with pytest.raises(OptionError, match=classifier.partition("(")[0] + ".* cannot be exported"):
        export(train(classifier, 2, calibrate=0), tmp_path / "m.js")
    assert not (tmp_path / "m.js").exists()


def test_an_unknown_ending_is_refused(models, tmp_path):
    with pytest.raises(OptionError, match="is not a form of a model"):
        export(models["plain"], tmp_path / "m.exe")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_model_of_characters_is_no_query(models, dialect):
    with pytest.raises(OptionError, match="cannot be exported as SQL"):
        make_sql(to_portable(models["characters"]), dialect)


@pytest.mark.parametrize("content", ["{}", "[]", "no json", '{"format": "termsieve model", "version": 99}'])
def test_a_file_that_is_no_model_is_refused(tmp_path, content):
    (tmp_path / "m.json").write_text(content)
    with pytest.raises(InputError):
        load_portable(tmp_path / "m.json")


def test_hostile_names_are_data(tmp_path):
    hostile = ["</script><script>alert(1)</script>", "'; DROP TABLE documents; --", '"""; import os', "`${1}`\u2028"]
    texts = [f"word{i % 4} word{i % 4} other" for i in range(40)]
    model = ts.train(
        texts, [hostile[i % 4] for i in range(40)], scores="chi2", ks=4, classifiers="multinomial_nb", cv=0
    )
    predictor = load_portable(export(model, tmp_path / "m.json"))
    check(model, texts[:8], [predictor.predict(text) for text in texts[:8]])
    path = export(model, tmp_path / "m.py")
    said = subprocess.run([sys.executable, path, "word2"], check=True, capture_output=True, text=True, encoding="utf-8")
    assert json.loads(said.stdout)["label"] == hostile[2]
    script = export(model, tmp_path / "m.mjs")
    (tmp_path / "run.mjs").write_text(
        f'import {{ predict }} from "./{script.name}";\nconsole.log(JSON.stringify(predict("word1").label));'
    )
    assert json.loads(node(tmp_path / "run.mjs")) == hostile[1]
    page = export(model, tmp_path / "m.html").read_text("utf-8")
    assert page.count("</script>") == 1
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE documents (id INTEGER, text TEXT)")
    base.executemany("INSERT INTO documents VALUES (?, ?)", list(enumerate(texts[:8])))
    judge(model, texts[:8], base.execute(make_sql(to_portable(model), "sqlite")).fetchall(), least=8)
    judge_graph(model, texts[:8], least=8)


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2)])
def test_hostile_terms_are_data(ngrams, tmp_path, postgres):
    terms = ["</script><script>alert(1)</script>", "';--", "${1}", "\\", "\\u0041", '"""', "<!--", "`", "%s", "x\\'",
             "$$", "__proto__", "constructor", "]]>"]  # fmt: skip
    draw = random.Random(0)
    texts = [" ".join([*draw.choices(terms, k=4), terms[i % 4], terms[i % 4]]) for i in range(80)]
    names = ["a'b\\", "</script>", "__proto__", "${x}`"]
    model = ts.train(
        texts, [names[i % 4] for i in range(80)], scores="chi2", ks=13, classifiers="multinomial_nb", cv=0,
        analyzer=ts.Analyzer(token_pattern="[!-~]+", ngram_range=ngrams), progress=False,
    )  # fmt: skip
    export(model, tmp_path / "m.mjs")
    (tmp_path / "run.mjs").write_text(
        'import { predict } from "./m.mjs";\n'
        f"console.log(JSON.stringify({json.dumps(texts)}.map((text) => predict(text))));"
    )
    check(model, texts, json.loads(node(tmp_path / "run.mjs")))
    said = subprocess.run(
        [sys.executable, export(model, tmp_path / "m.py"), *texts], check=True, capture_output=True, text=True
    )
    check(model, texts, list(map(json.loads, said.stdout.splitlines())))
    judge_graph(model, texts, least=80)
    for base, dialect in ((pytest.importorskip("duckdb").connect(), "duckdb"), (sqlite3.connect(":memory:"), "sqlite")):
        base.execute("CREATE TABLE documents (id BIGINT, text VARCHAR)")
        base.executemany("INSERT INTO documents VALUES (?, ?)", list(enumerate(texts)))
        judge(model, texts, base.execute(make_sql(to_portable(model), dialect)).fetchall(), least=80)
    with postgres.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE hostile (id BIGINT, text TEXT)")
        cursor.executemany("INSERT INTO hostile VALUES (%s, %s)", list(enumerate(texts)))
        cursor.execute(make_sql(to_portable(model), "postgres", SqlNames("hostile")).encode())
        judge(model, texts, cursor.fetchall(), least=80)
        cursor.execute("DROP TABLE hostile")


def test_hostile_names_of_tables_are_quoted(models, texts):
    hostile = "my\"; DROP TABLE kept; --\r\n'x"
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE kept (id INTEGER)")
    quoted = hostile.replace('"', '""')
    base.execute(f'CREATE TABLE "{quoted}" (id INTEGER, text TEXT)')
    base.executemany(f'INSERT INTO "{quoted}" VALUES (?, ?)', list(enumerate(texts)))
    query = make_sql(to_portable(models["plain"]), "sqlite", SqlNames(hostile))
    assert "\r" not in query.splitlines()[0]
    judge(models["plain"], texts, base.execute(query).fetchall(), least=5)
    assert base.execute("SELECT count(*) FROM kept").fetchone() == (0,)


def test_the_command_writes_each_form(typed, models, tmp_path):
    models["linear_svm, 2"].save(tmp_path / "m.skops")
    for ending in ("json", "py", "js", "html", "sql", "onnx"):
        code, _, err = typed("export", tmp_path / "m.skops", "-o", tmp_path / f"m.{ending}")
        assert code == 0, err
        assert (tmp_path / f"m.{ending}").stat().st_size > 1000
    code, _, err = typed("export", tmp_path / "m.skops", "-o", tmp_path / "m.exe")
    assert code != 0
    assert "is not a form of a model" in err


# Few bytes


def test_the_compact_form_loses_nothing_more_than_rounding(models, texts, tmp_path):
    names = ["pairs", "plain", "several, plain", "bernoulli_nb, 2", "multinomial_nb, 3"]
    script = "import { Predictor, unpack } from './runtime.mjs';\nconst all = [];\n"
    (tmp_path / "runtime.mjs").write_text(forms.load_script())
    wanted = []
    for name in names:
        data = to_portable(models[name])
        if data["probabilities"] == "isotonic":
            data |= {"probabilities": None, "curves": None, "thresholds": None, "always_label": False}
        for bits in (2, 5, 16):
            rounded = quantize(data, bits)
            content = pack(rounded, r"\w")
            again = runtime.unpack(content, forms._tables(rounded))
            assert all(again[key] == rounded[key] for key in again if key != "analyzer")
            wanted.append(
                [runtime.Predictor(rounded).find_scores(runtime.Predictor(rounded).to_values(t)) for t in texts]
            )
            packed, tables = base64.b64encode(content).decode(), json.dumps(forms._tables(rounded))
            script += f"all.push(new Predictor(unpack('{packed}', {tables})));\n"
    script += f"const texts = {json.dumps(texts)};\n"
    script += "console.log(JSON.stringify(all.map((p) => texts.map((t) => p.findScores(p.toValues(t))))));"
    (tmp_path / "run.mjs").write_text(script)
    for one, other in zip(json.loads(node(tmp_path / "run.mjs")), wanted, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_more_bits_are_nearer_to_the_model(models):
    data = to_portable(models["plain"])
    exact = np.array(data["weights"])[:, np.argsort(data["terms"])]
    errors = [np.abs(np.array(quantize(data, bits)["weights"]) - exact).max() for bits in (2, 4, 8, 16)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-4 * np.abs(exact).max()


@given(st.lists(st.text(max_size=30), unique=True, max_size=20))
def test_front_coded_texts_come_back(texts):
    ordered = sorted(texts)
    assert runtime._Bytes(_pack_sorted(ordered)).front_coded() == ordered


@given(st.integers(2, 16), st.lists(st.integers(0, 2**16 - 1), max_size=30))
def test_codes_of_few_bits_come_back(bits, numbers):
    codes = [number % 2**bits for number in numbers]
    assert runtime._Bytes(_pack_bits(codes, bits)).codes(len(codes), bits) == codes


def test_a_budget_is_kept_and_a_larger_one_is_not_worse(tmp_path):
    texts, labels = make_documents(3)
    models = [train_in_bytes(texts, [one for (one,) in labels], n_bytes=n, cv=2) for n in (150, 200)]
    assert [len(one.content) <= n for one, n in zip(models, (150, 200), strict=True)] == [True, True]
    assert models[0].chosen.f1 <= models[1].chosen.f1
    path = models[1].export(tmp_path / "m.bin")
    assert path.read_bytes() == models[1].content
    predictor = load_compact(path)
    module = models[1].export(tmp_path / "m.py")
    for text in texts[:5]:
        assert predictor.predict(text) == models[1].predict(text)
    said = subprocess.run([sys.executable, "-I", "-S", module, texts[0]], check=True, capture_output=True, text=True)
    assert json.loads(said.stdout) == json.loads(json.dumps(models[1].predict(texts[0])))
    with pytest.raises(OptionError, match="No model fits"):
        train_in_bytes(texts, [one for (one,) in labels], n_bytes=20)


def test_what_a_budget_costs_has_the_error_of_folds_that_share_documents(monkeypatch):
    texts, labels = make_documents(2)
    labels = [["a", "b"][i % 3 == 0] if i % 5 else one for i, (one,) in enumerate(labels)]
    seen = []
    try_all = budget._try_all
    monkeypatch.setattr(budget, "_try_all", lambda *given: seen.append(try_all(*given)) or seen[0])
    model = train_in_bytes(texts, labels, n_bytes=150, cv=3)
    _, tried, found, full = seen[0]
    differences = found[:, tried.index(model.chosen)] - full
    assert np.ptp(differences) > 0
    assert model.standard_error == pytest.approx(corrected_error(differences, 1 / 2))


def test_a_class_that_a_fold_misses_and_nobody_names_is_left_out_of_its_f1():
    Y = sparse.csr_array(np.array([[1, 0, 0], [0, 1, 0]]))
    test = TrainingMatrix(sparse.csr_array((2, 1)), Y, pa.array(["a"], pa.large_string()), ["a", "b", "rare"], {})
    assert budget._find_f1(test, Y.toarray() > 0) == 1.0
    several = test._replace(Y=sparse.csr_array(np.array([[1, 1, 0], [0, 1, 0]])))
    assert budget._find_f1(several, several.Y.toarray() > 0) == pytest.approx(2 / 3)


def test_a_damaged_compact_form_is_refused(tmp_path):
    texts, labels = make_documents(2)
    content = train_in_bytes(texts, [one for (one,) in labels], n_bytes=200, cv=2).content
    for damaged in (b"", b"TS\x02" + content[3:], *(content[:n] for n in range(3, len(content), 7))):
        (tmp_path / "m.bin").write_bytes(damaged)
        with pytest.raises(InputError):
            load_compact(tmp_path / "m.bin")


def test_the_command_says_what_few_bytes_cost(typed, tmp_path):
    texts, labels = make_documents(2)
    (tmp_path / "m.tsv").write_text(
        "label\ttext\n" + "".join(f"{label}\t{text}\n" for text, (label,) in zip(texts, labels, strict=True)), "utf-8"
    )
    code, said, err = typed("compress", tmp_path / "m.tsv", "--bytes", "200", "--cv", "2", "-o", tmp_path / "m.bin")
    assert code == 0, err
    assert "all terms and exact weights" in said
    size = (tmp_path / "m.bin").stat().st_size
    assert size <= 200
    assert err.endswith(f"m.bin, {size:,} bytes\n")
    code, _, err = typed("compress", tmp_path / "m.tsv", "--bytes", "200", "--cv", "2", "-o", tmp_path / "m.js")
    assert err.endswith(f" bytes: a program with the {size:,} bytes of the model inside\n")
    code, _, err = typed("compress", tmp_path / "m.tsv", "-o", tmp_path / "m.exe")
    assert code != 0
    assert "is not a form of a compact model" in err


def test_a_model_is_exported_in_few_bytes(typed, tmp_path):
    texts, labels = make_documents(2)
    (tmp_path / "m.tsv").write_text(
        "label\ttext\n" + "".join(f"{label}\t{text}\n" for text, (label,) in zip(texts, labels, strict=True)), "utf-8"
    )
    train("multinomial_nb", 2).save(tmp_path / "m.skops")
    few = ("export", tmp_path / "m.skops", "--bytes", "200", "-o", tmp_path / "m.bin")
    code, said, err = typed(*few, "--documents", tmp_path / "m.tsv")
    assert code == 0, err
    assert "bits per weight" in said
    assert "(count)" in said
    assert (tmp_path / "m.bin").stat().st_size <= 200
    assert load_compact(tmp_path / "m.bin").predict(texts[0])["probability"] is not None
    code, _, err = typed(*few)
    assert code == 2
    assert "--documents" in err


def test_a_front_rises():
    texts, labels = make_documents(3)
    front = find_front(texts, labels, score="chi2", classifier="linear_svm", weighting="binary", cv=2)
    sizes, values = [one.n_bytes for one in front.choices], [one.f1 for one in front.choices]
    assert (sizes, values) == (sorted(set(sizes)), sorted(set(values)))
