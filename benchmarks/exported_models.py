"""Exported models beside the library: bytes, documents per second, labels that differ, texts that are not labelled.

    python benchmarks/exported_models.py sms_spam 20news_bydate reuters21578
    python benchmarks/exported_models.py labelled.tsv:char   a file of labels and texts, as 1- and 2-grams of characters
    python benchmarks/exported_models.py unicode:100000      so many generated texts

Linear SVM on 1,000 terms by chi2, calibrated. What is not installed (Node, Chromium, onnxruntime, PostgreSQL) is left
out, and said.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib.util
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import termsieve as ts
from termsieve.model.exporting import export
from termsieve.model.model import Model

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

TOPICS = {"earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship", "wheat", "corn"}
MOST_IN_SQLITE = 1500  # it cuts texts word by word
BATCH = 200  # texts at once in a graph
WORDS = ["cheap", "pills", "straße", "noon", "日本", "über", "наука", "ελλάδα", "tea_2", "مرحبا", "हिन्दी", "한국어"]


class Sample(NamedTuple):
    """A model, and texts that it has not seen."""

    model: Model
    texts: list[str]


class Answers(NamedTuple):
    """Labels of texts (None where there is no answer), the probability of the first label, seconds without start."""

    labels: list[list[str] | None]
    chances: list[float | None]
    seconds: float


# Corpora


def read_corpus(name: str) -> tuple[list[Any], list[Any]]:
    """Return the documents for training and for testing, as pairs of text and labels."""
    if Path(name).exists():
        rows = [line.split("\t", 1) for line in Path(name).read_text("utf-8").split("\n") if line]
        documents = [(text, [label]) for label, text in rows]
    else:
        path = Path(os.environ.get("TERMSIEVE_DATA") or "data", f"{name}.jsonl.gz")
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            found = list(map(json.loads, lines))
        if name == "reuters21578":
            found = [{**one, "labels": [x for x in one["labels"] if x in TOPICS]} for one in found if one["split"]]
        if any(one["split"] for one in found):
            return tuple(
                [(one["text"], one["labels"]) for one in found if one["split"] == part and one["labels"]]
                for part in ("train", "test")
            )  # type: ignore[return-value]
        documents = [(one["text"], one["labels"]) for one in found]
    random.Random(0).shuffle(documents)
    n = int(0.6 * len(documents))
    return documents[:n], documents[n:]


def make_sample(spelling: str) -> Sample:
    name, _, kind = spelling.partition(":")
    if name == "unicode":
        return generate(int(kind or 1000))
    training, test = read_corpus(name)
    analyzer = ts.Analyzer(analyzer="char", ngram_range=(1, 2)) if kind == "char" else None
    model = ts.train(
        [text for text, _ in training], [labels for _, labels in training], scores="chi2", ks=1000,
        classifiers="linear_svm", cv=0, analyzer=analyzer, progress=False,
    )  # fmt: skip
    return Sample(model, [text for text, _ in test])


def generate(n: int) -> Sample:
    """Return a small model of words of many scripts, and texts of these, of their capitals and of any characters."""
    draw = random.Random(0)
    names = ["a", "b", "c"]
    training = [
        " ".join(draw.choices(WORDS[c * 4 : c * 4 + 4], k=3) + draw.choices(WORDS, k=2))
        for c in range(3)
        for _ in range(60)
    ]
    labels = [name for name in names for _ in range(60)]
    model = ts.train(training, labels, scores="chi2", ks="all", classifiers="linear_svm", cv=0, progress=False)
    pools = [range(32, 127), range(0xA0, 0x250), range(0x370, 0x530), range(0x1E00, 0x2070), range(1, 0xD800),
             range(0xE000, 0x110000)]  # fmt: skip
    forms = [*WORDS, *map(str.upper, WORDS), *map(str.title, WORDS)]

    def make_piece() -> str:
        if draw.random() < 0.4:
            return draw.choice(forms)
        return "".join(chr(draw.choice(draw.choice(pools))) for _ in range(draw.randint(0, 6)))

    return Sample(
        model, [draw.choice(["", " ", "-"]).join(make_piece() for _ in range(draw.randint(0, 7))) for _ in range(n)]
    )


# Forms


def ask_library(sample: Sample, _: Path | None = None) -> Answers:
    started = time.perf_counter()
    labels = sample.model.predict(sample.texts)
    seconds = time.perf_counter() - started
    chances = sample.model.predict_proba(sample.texts)
    lists = [[one] if sample.model.single else one for one in labels]
    place = {name: c for c, name in enumerate(sample.model.classes)}
    first = [float(row[place[names[0]]]) if names else None for row, names in zip(chances, lists, strict=True)]
    return Answers(lists, first, seconds)


def from_dicts(answers: list[dict[str, Any]], seconds: float) -> Answers:
    lists = [one["labels"] if "labels" in one else [one["label"]] for one in answers]
    chances = [one["probability"] for one in answers]
    first = [(one[0] if one else None) if isinstance(one, list) else one for one in chances]
    return Answers(lists, first, seconds)


def ask_json(sample: Sample, folder: Path) -> Answers:
    return ask_library(sample._replace(model=Model.load(folder / "m.json")))


def ask_python(sample: Sample, folder: Path) -> Answers:
    spec = importlib.util.spec_from_file_location("m", folder / "m.py")
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    started = time.perf_counter()
    answers = [module.predict(text) for text in sample.texts]
    return from_dicts(answers, time.perf_counter() - started)


SHORT = "((a) => ({ label: a.label, labels: a.labels, probability: a.probability }))"
TIMED = f"const start = performance.now(); const answers = texts.map((t) => {SHORT}(predict(t)));"


def ask_node(sample: Sample, folder: Path) -> Answers:
    (folder / "texts.json").write_text(json.dumps(sample.texts))
    shutil.copy(folder / "m.js", folder / "m.mjs")
    (folder / "run.mjs").write_text(
        'import fs from "fs"; import { predict } from "./m.mjs";\n'
        'const texts = JSON.parse(fs.readFileSync(process.argv[2] + "/texts.json"));\n'
        f"{TIMED}\n"
        "const seconds = (performance.now() - start) / 1000;\n"
        'fs.writeFileSync(process.argv[2] + "/answers.json", JSON.stringify({ answers, seconds }));\n'
    )
    subprocess.run([shutil.which("node") or "node", folder / "run.mjs", folder], check=True)
    found = json.loads((folder / "answers.json").read_text())
    return from_dicts(found["answers"], found["seconds"])


def ask_chromium(sample: Sample, folder: Path) -> Answers:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.evaluate(
            "async (code) => { const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));"
            " globalThis.predict = (await import(url)).predict; }",
            (folder / "m.js").read_text("utf-8"),
        )
        answers, seconds = [], 0.0
        for first in range(0, len(sample.texts), 5000):
            found = page.evaluate(
                f"(texts) => {{ {TIMED} return {{ answers, seconds: (performance.now() - start) / 1000 }}; }}",
                sample.texts[first : first + 5000],
            )
            answers += found["answers"]
            seconds += found["seconds"]
        browser.close()
    lists = [{k: v for k, v in one.items() if k == "probability" or v is not None} for one in answers]
    return from_dicts(lists, seconds)


def ask_onnx(sample: Sample, folder: Path) -> Answers:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(folder / "m.onnx", options, providers=["CPUExecutionProvider"])
    model, labels, chances = sample.model, [], []
    started = time.perf_counter()
    for first in range(0, len(sample.texts), BATCH):
        given = np.array(sample.texts[first : first + BATCH], object)
        names = ["label" if model.single else "labels", "exact", "probabilities"]
        said, exact, shares = session.run(names, {"text": given})
        for one, sure, row in zip(said, exact, shares, strict=True):
            found = [one] if model.single else [name for name, has in zip(model.classes, one, strict=True) if has]
            labels.append(found if sure else None)
            chances.append(float(row[model.classes.index(found[0])]) if sure and found else None)
    return Answers(labels, chances, time.perf_counter() - started)


def ask_query(sample: Sample, run: Callable[[], list[Any]]) -> Answers:
    started = time.perf_counter()
    rows = run()
    seconds = time.perf_counter() - started
    n = len(sample.texts)
    labels: list[list[str] | None] = [[] for _ in range(n)]
    chances: list[float | None] = [None] * n
    for number, label, chance, note in rows:
        if (note or "").startswith("not labelled"):
            labels[number] = None
        elif label is not None:
            chances[number] = chance if not labels[number] else chances[number]
            labels[number].append(label)  # type: ignore[union-attr]
    return Answers(labels, chances, seconds)


def ask_duckdb(sample: Sample, folder: Path) -> Answers:
    import duckdb

    base = duckdb.connect(config={"threads": 1})
    base.execute("CREATE TABLE documents (id BIGINT, text VARCHAR)")
    import pyarrow as pa

    given = pa.table({"id": list(range(len(sample.texts))), "text": sample.texts})  # noqa: F841 - DuckDB finds it
    base.execute("INSERT INTO documents SELECT * FROM given")
    return ask_query(sample, lambda: base.execute((folder / "duckdb.sql").read_text("utf-8")).fetchall())


def ask_sqlite(sample: Sample, folder: Path) -> Answers:
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE documents (id INTEGER, text TEXT)")
    base.executemany("INSERT INTO documents VALUES (?, ?)", list(enumerate(sample.texts)))
    return ask_query(sample, lambda: base.execute((folder / "sqlite.sql").read_text("utf-8")).fetchall())


def ask_postgres(sample: Sample, folder: Path) -> Answers:
    from stages.postgres_server import start_postgres

    with contextlib.contextmanager(start_postgres)() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE documents (id BIGINT, text TEXT)")
        with cursor.copy("COPY documents FROM STDIN") as copy:
            for row in enumerate(sample.texts):
                copy.write_row(row)

        def run() -> list[Any]:
            cursor.execute((folder / "postgres.sql").read_bytes())
            return list(cursor.fetchall())

        return ask_query(sample, run)


FORMS: dict[str, tuple[str, Callable[[Sample, Path], Answers]]] = {
    ".json": ("m.json", ask_json), ".py": ("m.py", ask_python), ".js, Node": ("m.js", ask_node),
    ".js, Chromium": ("m.js", ask_chromium), ".onnx": ("m.onnx", ask_onnx), ".sql, DuckDB": ("duckdb.sql", ask_duckdb),
    ".sql, PostgreSQL": ("postgres.sql", ask_postgres), ".sql, SQLite": ("sqlite.sql", ask_sqlite),
}  # fmt: skip


# The table


def compare(sample: Sample, folder: Path) -> Iterator[str]:
    """Yield a line for each form."""
    wanted = ask_library(sample)
    sample.model.save(folder / "m.skops")
    size = (folder / "m.skops").stat().st_size
    yield f"{'the library':<18}{size:>10,}{len(sample.texts) / wanted.seconds:>12,.0f}"
    for form, (file, ask) in FORMS.items():
        try:
            export(sample.model, folder / file, **({"dialect": file[:-4]} if file.endswith(".sql") else {}))
            n = MOST_IN_SQLITE if "SQLite" in form else len(sample.texts)
            found = ask(sample._replace(texts=sample.texts[:n]), folder)
        except (ImportError, OSError, ts.errors.TermsieveError) as error:
            yield f"{form:<18} not run: {error}"
            continue
        pairs = list(zip(found.labels, wanted.labels, strict=False))
        differ = sum(one is not None and one != other for one, other in pairs)
        gap = max(
            (abs(a - b) for a, b in zip(found.chances, wanted.chances, strict=False) if None not in (a, b)), default=0.0
        )
        silent = sum(one is None for one, _ in pairs)
        rate = len(pairs) / found.seconds
        yield (
            f"{form:<18}{(folder / file).stat().st_size:>10,}{rate:>12,.0f}{differ:>10,}{gap:>12.1e}"
            f"{silent:>14,} of {len(pairs):,}"
        )


def main(names: list[str]) -> None:
    for name in names:
        sample = make_sample(name)
        print(f"\n{name}: {sample.model!r}; {len(sample.texts):,} texts")
        print(f"{'form':<18}{'bytes':>10}{'texts/s':>12}{'differ':>10}{'difference':>12}{'not labelled':>14}")
        with tempfile.TemporaryDirectory() as folder:
            for line in compare(sample, Path(folder)):
                print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["sms_spam", "20news_bydate", "reuters21578", "unicode:100000"])
