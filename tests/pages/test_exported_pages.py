"""Exported pages in a real browser: they label as Python does, and hostile names stay text."""

import importlib.util
import random
from pathlib import Path

import numpy as np
import pytest
from pages.samples import HOSTILE_CLASSES

import termsieve as ts
from termsieve.model import train_recommended
from termsieve.model.exporting import find_front, runtime, to_portable, train_in_bytes

EXAMPLES = Path(__file__).parents[2] / "examples"


def make_texts(n, names):
    generator = random.Random(n)
    words = {name: [f"{'abcdefgh'[c]}word{i}" for i in range(4)] for c, name in enumerate(names)}
    labels = [names[i % len(names)] for i in range(n)]
    return [" ".join([*generator.choices(words[label], k=3), "straße", "Other"]) for label in labels], labels


@pytest.fixture(scope="module")
def hostile_model():
    texts, labels = make_texts(60, HOSTILE_CLASSES[:3])
    return ts.train(texts, labels, scores="chi2", ks=10, classifiers="multinomial_nb", cv=0)


def test_a_page_labels_as_python_does(visit, hostile_model, tmp_path):
    path = hostile_model.export(tmp_path / "page.html", title=HOSTILE_CLASSES[0])
    texts = [*make_texts(12, HOSTILE_CLASSES[:3])[0], "zzz"]
    with visit(path) as page:
        for text, label, known in zip(
            texts, hostile_model.predict(texts), hostile_model.has_terms(texts).tolist(), strict=True
        ):
            page.fill("#text", text)
            answer = page.text_content("#answer")
            assert label in answer
            assert answer.startswith("None of the terms") == (not known)
            assert page.text_content("#shown") == text
        page.fill("#text", texts[0])
        marked = page.locator("#shown mark").all_text_contents()
        explained = {part.term for part in hostile_model.explain(texts[:1])[0][0].parts if part.part}
        assert {word.lower() for word in marked} == explained
        assert page.title() == HOSTILE_CLASSES[0]
        assert (page.said, page.dialogs, len(page.asked)) == ([], [], 1)


def test_a_page_runs_no_script_but_its_own(visit, hostile_model, tmp_path):
    path = hostile_model.export(tmp_path / "page.html")
    path.write_text(path.read_text("utf-8").replace("</main>", "<script>alert(1)</script></main>"), "utf-8")
    with visit(path) as page:
        assert page.dialogs == []
        assert any("Content Security Policy" in said for said in page.said)


def test_a_page_of_a_compact_model_labels_as_python_does(visit, tmp_path):
    texts, labels = make_texts(40, ["ham", "spam"])
    model = train_in_bytes(texts, labels, n_bytes=150, cv=2)
    with visit(model.export(tmp_path / "page.html")) as page:
        for text in texts[:6]:
            page.fill("#text", text)
            assert model.predict(text)["label"] in page.text_content("#answer")
        assert page.said == []


def test_a_code_holds_a_filter_that_labels_as_python_does(browser, monkeypatch):
    zxingcpp = pytest.importorskip("zxingcpp")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    spec = importlib.util.spec_from_file_location("qr_spam_filter", EXAMPLES / "qr_spam_filter.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    texts, labels = make_texts(60, ["ham", "spam"])
    texts, labels = [*texts, "", "zzz", "ÜBER aword1"], [*labels, "ham", "ham", "ham"]
    model = example.make_filter(texts, labels)
    modules = np.kron(
        np.array([list(row) for row in example.draw(example.make_url(model.data)).matrix]), np.ones((4, 4))
    )
    image = np.pad(np.where(modules > 0, 0, 255).astype(np.uint8), 16, constant_values=255)
    [code] = zxingcpp.read_barcodes(image)
    assert len(code.bytes) <= example.MOST_BYTES
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(bytes(code.bytes).decode())
    predictor = runtime.Predictor(model.data)
    for text in texts:
        page.fill("textarea", text or " ")
        assert page.evaluate("o.value") == predictor.predict(text)["label"]
    context.close()


def test_a_report_has_a_box_that_labels_as_python_does(visit, tmp_path):
    texts, labels = make_texts(60, HOSTILE_CLASSES[:3])
    options = {"scores": "chi2", "classifiers": "multinomial_nb", "ks": 10, "cv": 2, "progress": False}
    result = ts.compare(texts, labels, **options)
    model = train_recommended(result, texts, labels)
    same = ts.train(texts, labels, **options)
    assert to_portable(model)["weights"] == to_portable(same)["weights"]
    np.testing.assert_array_equal(model.predict_proba(texts), same.predict_proba(texts))
    front = find_front(texts, labels, score="chi2", classifier="multinomial_nb", weighting="count", cv=2)
    with visit(ts.report(result, tmp_path / "report.html", model=model, front=front)) as page:
        for text, label in zip(texts[:6], model.predict(texts[:6]), strict=True):
            page.fill("#try textarea", text)
            assert page.text_content("#answer").startswith(label)
            assert page.text_content("#shown") == text
        assert page.locator("#shown mark").count() > 0
        assert page.locator("#bytes svg path").count() > 0
        assert (page.said, page.dialogs) == ([], [])


def test_a_report_says_why_a_model_cannot_be_tried(visit, tmp_path):
    texts, labels = make_texts(60, ["ham", "spam"])
    result = ts.compare(texts, labels, scores="chi2", classifiers="multinomial_nb", ks=5, cv=2, progress=False)
    model = ts.train(texts, labels, scores="chi2", classifiers="probit", ks=5, cv=0, calibrate=0)
    with visit(ts.report(result, tmp_path / "report.html", model=model)) as page:
        assert "probit cannot be exported" in page.text_content("#try")
        assert page.locator("#try textarea").count() == 0
        assert page.said == []
