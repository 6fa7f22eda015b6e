"""Reports without a browser: what is in the file, what is refused, what is said about how to do it again."""

import ast
import base64
import hashlib
import html
import itertools
import json
import re
import shlex
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st
from pages.samples import HOSTILE, documents, hostile_result, plain_result
from scipy import sparse
from typer.testing import CliRunner

import termsieve as ts
from termsieve.errors import InputError, OptionError, OutputError
from termsieve.reporting import charts, list_findings, term_index
from termsieve.reporting.curve_charts import draw_f1_curves, find_charted_classifier
from termsieve.reporting.findings import make_explanation, make_headline
from termsieve.reporting.formatting import format_name
from termsieve.reporting.page import get_environment
from termsieve.reporting.report_data import ReportData
from termsieve.reporting.rerun import list_settings, make_code_blocks, make_note
from termsieve.reporting.style import PALETTE
from termsieve.reporting.tables import make_tiles
from termsieve.reporting.term_index import make_term_index
from termsieve.reporting.vocabulary_map import make_vocabulary_map
from termsieve.scores.parsing import score_title
from termsieve.study.excerpts import MAX_CLASSES, extract_from_documents
from termsieve.study.plan import Contender
from termsieve.study.result_files import SCHEMA
from termsieve.study.results import Comparison

pytestmark = pytest.mark.filterwarnings("ignore:skipped")  # said of each bad row, and looked at below

FEW = {"scores": ["chi2", "gu"], "classifiers": ["multinomial_nb"], "ks": [2, 5, 10], "cv": 3}


class Reader(HTMLParser):
    """Scripts, and every attribute that could load something."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.loads, self.policy, self._kind = [], [], "", None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.loads += [given[name] for name in ("src", "href", "data", "action") if name in given]
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        self._kind = given.get("type", "script") if tag == "script" else None

    def handle_data(self, text):
        if self._kind is not None:
            self.scripts.append((self._kind, text))

    def handle_endtag(self, tag):
        self._kind = None


def page_of(result, tmp_path, **options):
    return ts.report(result, tmp_path / "page.html", **options).read_text("utf-8")


def page_data_in(page):
    ((_, text),) = [script for script in Reader(page).scripts if script[0] == "application/json"]
    return json.loads(text)


@pytest.mark.parametrize("result", [plain_result, hostile_result])
def test_only_the_scripts_that_are_named_may_run_and_nothing_is_loaded(result, tmp_path):
    read = Reader(page_of(result(), tmp_path))
    assert [kind for kind, _ in read.scripts] == ["application/json", "script", "script"]
    hashes = {f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
              for kind, text in read.scripts if kind == "script"}  # fmt: skip
    policy = dict(part.strip().split(" ", 1) for part in read.policy.split(";"))
    assert policy["default-src"] == "'none'"
    assert set(policy["script-src"].split()) == hashes
    assert all(target.startswith("#") for target in read.loads)


def test_hostile_terms_come_through_as_data(tmp_path):
    words = page_data_in(page_of(hostile_result(), tmp_path))["vocabulary"]
    assert {format_name(term) for term in HOSTILE} <= set(words["terms"])


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_data_in_a_script_is_never_markup_and_reads_back(data):
    written = get_environment().from_string("{{ data | tojson }}").render(data=data)
    assert "<" not in written
    assert ">" not in written
    assert json.loads(written) == data


@given(st.text(max_size=200))
def test_what_is_shown_has_no_unseen_characters_and_is_short(text):
    found = format_name(text, longest=40)
    assert all(one.isprintable() or one.isspace() or one in "\u200c\u200d" for one in found)
    assert not set(found) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\n\r\t\0")
    assert len(found) <= 40 * len("\\u10ffff")


def test_the_same_result_gives_the_same_page_also_from_a_file(tmp_path):
    result = plain_result()
    result.save(tmp_path / "r.parquet")
    again = Comparison.load(tmp_path / "r.parquet")
    assert page_of(result, tmp_path) == page_of(again, tmp_path)


def test_a_page_of_scores_has_what_can_be_known_of_them(tmp_path):
    counts = plain_result().counts
    one, several = page_of(ts.score(counts, "gu"), tmp_path), page_of(ts.score(counts, ["gu", "chi2"]), tmp_path)
    for page in (one, several):
        assert "What tells money, sea and sport apart" in page
        assert 'id="curves"' not in page
    assert 'id="agreement"' not in one
    assert 'id="agreement"' in several


def test_excerpts_come_from_the_documents_that_are_given(tmp_path):
    texts, labels = documents()
    scores = ts.score(ts.count(texts, labels), "gu")
    assert page_data_in(page_of(scores, tmp_path))["vocabulary"]["excerpts"] == {}
    for given_documents in (texts, ts.read({"text": texts, "label": labels})):
        found = page_data_in(page_of(scores, tmp_path, documents=given_documents))["vocabulary"]["excerpts"]
        label, before, match, after = next(iter(found.values()))[0]
        assert label in labels
        excerpt = before.removeprefix("…") + match + after.removesuffix("…")
        assert any(excerpt in " ".join(text.split()) for text in texts)


def test_a_comparison_without_counts_still_has_its_curves(tmp_path):
    result = plain_result()
    bare = Comparison(result.table, result.settings, result.seconds)
    page = page_of(bare, tmp_path)
    assert 'id="curves"' in page
    assert 'id="vocabulary"' not in page


def test_one_split_and_one_score_are_enough_for_a_page(tmp_path):
    texts, labels = documents()
    parts = np.array(["train" if i % 4 else "test" for i in range(len(texts))])
    page = page_of(ts.compare(texts, labels, **{**FEW, "scores": ["gu"], "cv": parts}), tmp_path)
    assert "There was one split only" in page
    assert "This needs two or more scores" in page
    assert "Objects in memory, to be filled in: cv." in page


def test_per_class_and_several_labels(tmp_path):
    texts, labels = documents()
    several = [[label, "odd"] if i % 2 else [label] for i, label in enumerate(labels)]
    for result in (ts.compare(texts, several, **FEW), ts.compare(texts, labels, **FEW, per_class=True)):
        assert " enough: macro F1" in page_of(result, tmp_path)


def test_contenders_under_names_of_their_own(tmp_path):
    texts, labels = documents()
    special = Contender("largest chi2", "chi2", aggregate="max")
    result = ts.compare(texts, labels, **{**FEW, "scores": ["gu", special]})
    data = ReportData.from_result(result)
    assert data.names == ["gu", "largest chi2"]
    expected = ts.score(result.counts, "chi2").order("max")
    np.testing.assert_array_equal(data.orders["largest chi2"], expected)
    snippet = make_code_blocks(data)[1].code
    assert "ts.Contender(name='largest chi2', score='chi2', aggregate='max')" in snippet
    assert "largest chi2" in page_of(result, tmp_path)


def test_scores_that_are_not_known_are_left_out_and_named(tmp_path):
    result = plain_result()
    names = ["mine" if name == "pmi" else name for name in result.table["score"].to_pylist()]
    table = result.table.set_column(2, "score", pa.array(names))
    other = Comparison(table, result.settings, result.seconds, result.counts, result.excerpts)
    assert ReportData.from_result(other).unavailable_scores == ["mine"]
    assert "Scores that are not in the catalogue: mine." in page_of(other, tmp_path)


def test_the_axis_writes_round_thousands_short_and_other_numbers_in_full(tmp_path):
    texts, labels = documents()
    result = ts.compare(texts, labels, **{**FEW, "scores": ["chi2"]})
    few = pa.array([{2: 1000, 5: 1282, 10: 2500}.get(k, k) for k in result.table["k"].to_pylist()])
    table = result.table.set_column(result.table.column_names.index("k"), "k", few)
    chart = draw_f1_curves(Comparison(table, result.settings, result.seconds, result.counts, result.excerpts))[0]
    drawn = vl_convert.vegalite_to_svg({**chart.spec, "width": 2000})
    assert {one for one in ("1k", "1,282", "2.5k", "1.282k") if f">{one}</text>" in drawn} == {"1k", "1,282", "2.5k"}
    marks = [layer["mark"]["type"] for layer in chart.spec["layer"]]
    assert marks.index("text") > marks.index("line"), marks  # what is written stands in front of the curves


@pytest.mark.parametrize(("names", "tile"), [("gu", ("score", "1")), (["gu", "chi2"], ("scores", "2"))])
def test_one_score_is_one_score(names, tile):
    scores = ts.score(plain_result().counts, names)
    assert make_tiles(ReportData.from_result(scores))[-1] == tile


def test_figures_are_written_as_pictures_drawings_and_documents(tmp_path):
    page_of(hostile_result(), tmp_path, figures=tmp_path / "new" / "figures")
    files = sorted((tmp_path / "new" / "figures").iterdir())
    names = {file.stem for file in files}
    assert {"classes", "terms", "f1_1_multinomial_nb", "map", "overlap", "correlations", "energy", "timings",
            "difference_1"} <= names  # fmt: skip
    starts = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<svg"}
    for file in files:
        assert file.read_bytes().startswith(starts[file.suffix]), file
    assert len(files) == 3 * len(names)
    drawn = "".join(file.read_text() for file in files if file.suffix == ".svg")
    assert "<script" not in drawn
    assert "<img" not in drawn


def test_the_map_on_paper_says_what_its_colours_are_and_by_which_score(tmp_path):
    result = plain_result()
    page_of(result, tmp_path, figures=tmp_path)
    drawn = (tmp_path / "map.svg").read_text()
    for said in (
        *result.counts.classes,
        "other terms",
        f"all classes, the first 50 terms by {score_title(result.recommended().score)}",
    ):
        assert said in drawn
    assert {color for color in PALETTE if color in drawn} == set(PALETTE[:3])


@pytest.mark.parametrize(
    "wrong", [None, "result.parquet", {}, {"gu": 3}, ts.Counts.from_matrix([[1, 0], [0, 1]], ["a", "b"])]
)
def test_what_is_no_result_is_refused(wrong, tmp_path):
    with pytest.raises(OptionError, match=r"termsieve\.compare or termsieve\.score"):
        ts.report(wrong, tmp_path / "x.html")
    assert list(tmp_path.iterdir()) == []


def test_scores_of_different_counts_are_refused(tmp_path):
    texts, labels = documents()
    mixed = {"gu": ts.score(ts.count(texts, labels), "gu"), "chi2": ts.score(ts.count(texts[:60], labels[:60]), "chi2")}
    with pytest.raises(OptionError, match="same counts"):
        ts.report(mixed, tmp_path / "x.html")


def test_one_class_is_refused(tmp_path):
    with pytest.raises(InputError, match="two classes"):
        ts.report(ts.score(ts.count(["a ship"], ["sea"]), "chi2"), tmp_path / "x.html")


def test_an_empty_comparison_is_refused(tmp_path):
    with pytest.raises(InputError, match="no rows"):
        ts.report(Comparison(SCHEMA.empty_table(), {}, {}), tmp_path / "x.html")


def test_a_place_that_cannot_be_written_is_refused_first(tmp_path):
    with pytest.raises(OutputError, match="no folder"):
        ts.report(None, tmp_path / "not there" / "x.html")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="figures"):
        ts.report(plain_result(), tmp_path / "x.html", figures=tmp_path / "file")


# What is found


def test_the_headline_names_the_fewest_terms_that_are_enough():
    result = plain_result()
    choice = result.recommended()
    assert (
        make_headline(ReportData.from_result(result))
        == f"{choice.k} terms by {score_title(choice.score)} {choice.sufficiency}: macro F1 {choice.mean:.3f}"
    )


def table_of(means, folds=(-0.01, 0.0, 0.01)):
    rows = [(0, fold, score, model, k, "", "f1_macro", mean + noise)
            for fold, noise in enumerate(folds) for (score, model, k), mean in means.items()]  # fmt: skip
    return pa.table(dict(zip(SCHEMA.names, zip(*rows, strict=True), strict=True)), schema=SCHEMA)


@pytest.mark.parametrize(
    ("few", "many", "said"),
    [
        (0.90, 0.90, "10 terms by GU metric are enough: macro F1 0.900"),
        (0.60, 0.90, "100 terms by GU metric, the most that were tried, reach macro F1 0.900; more may do better"),
        (0.60, 1.00, "100 terms by GU metric are enough: macro F1 1.000"),
        (0.30, 0.40, "None does well: 100 terms by GU metric do as well as any, macro F1 0.400"),
        (0.20, 0.20, "No better than guessing: 10 terms by GU metric do as well as any, macro F1 0.200"),
    ],
)
def test_the_headline_claims_no_more_than_was_found(few, many, said):
    table = table_of({("gu", "nb", 10): few, ("gu", "nb", 100): many})
    labels = [(0, 0, "gu", "nb", 10, label, "f1", few) for label in "abcd"]
    of_classes = pa.table(dict(zip(SCHEMA.names, zip(*labels, strict=True), strict=True)), schema=SCHEMA)
    result = Comparison(pa.concat_tables([table, of_classes]), {"n_splits": 3}, {})
    assert make_headline(ReportData.from_result(result)) == said


def test_all_terms_are_enough_where_there_are_no_more():
    texts, labels = ["ship", "ship", "goal", "goal"] * 5, ["sea", "sea", "sport", "sport"] * 5
    result = ts.compare(texts, labels, **{**FEW, "ks": [2]})
    assert re.fullmatch(r"all 2 terms are enough: macro F1 1.000", make_headline(ReportData.from_result(result)))


def test_the_headline_claims_nothing_where_a_class_has_few_documents():
    result = Comparison(table_of({("gu", "nb", 10): 0.9}), {"n_splits": 3, "small_classes": {"sea": 6}}, {})
    assert make_headline(ReportData.from_result(result)) == "Too little to say: 'sea' has 6 documents"


def test_guessing_is_no_success():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["ship", "goal", "rate", "sun"], 3)) for _ in range(120)]
    labels = ["rare" if i % 10 == 0 else "usual" for i in range(120)]
    result = ts.compare(texts, labels, **{**FEW, "ks": [1, 2]})
    assert make_headline(ReportData.from_result(result)).startswith("No better than guessing")


@pytest.mark.parametrize(("f1", "guessed"), [(0.45, True), (0.5, True), (0.55, False), (0.7, False)])
def test_guessing_is_the_mean_share_of_the_classes(f1, guessed):
    counts = ts.count(["ship", "crew", "deck", "goal"], ["sea", "sea", "sea", "sport"])
    result = Comparison(table_of({("gu", "nb", 2): f1}), {"n_splits": 3}, {}, counts)
    assert make_headline(ReportData.from_result(result)).startswith("No better than guessing") is guessed


def test_findings_are_computed_from_the_table():
    means = {("gu", "nb", 10): 0.3, ("gu", "nb", 100): 0.9, ("chi2", "nb", 10): 0.8, ("chi2", "nb", 100): 0.91}
    result = Comparison(table_of(means), {"n_splits": 3}, {})
    sentences = [finding.sentence for finding in list_findings(ReportData.from_result(result))]
    assert sentences[0].startswith(
        "100 terms by Chi-square, the most that were tried, reach macro F1 0.910; more may do better."
    )
    assert "matters most at 10 terms: Chi-square has a macro F1 of 0.800, GU metric of 0.300" in sentences[1]


def test_gaps_and_the_hardest_class_are_those_of_the_table():
    means = {
        ("gu", "nb", 10): 0.3, ("gu", "nb", 100): 0.9, ("chi2", "nb", 10): 0.8, ("chi2", "nb", 100): 0.91,
        ("gu", "svm", 10): 0.4, ("gu", "svm", 100): 0.7, ("chi2", "svm", 10): 0.5, ("chi2", "svm", 100): 0.75,
    }  # fmt: skip
    of_classes = [
        (0, fold, *cell, label, "f1", value)
        for fold in range(3) for cell in means
        for label, value in (("a", 0.95), ("b", 0.85)) if cell == ("chi2", "nb", 100)
    ]  # fmt: skip
    of_classes += [(0, 0, *cell, "a", "f1", 0.1) for cell in means if cell != ("chi2", "nb", 100)]
    of_classes += [(0, 0, "chi2", "nb", 100, "a", "recall", 0.2)]
    apart = pa.table(dict(zip(SCHEMA.names, zip(*of_classes, strict=True), strict=True)), schema=SCHEMA)
    result = Comparison(pa.concat_tables([table_of(means), apart]), {"n_splits": 3}, {})
    found = list_findings(ReportData.from_result(result))
    most = "the choice of the score matters most at"
    assert [finding.sentence for finding in found] == [
        f"{make_headline(ReportData.from_result(result))}. {make_explanation(ReportData.from_result(result))}",
        "b is the hardest class to tell, with an F1 of 0.850; a the easiest, with 0.950.",
        f"With nb, {most} 10 terms: Chi-square has a macro F1 of 0.800, GU metric of 0.300.",
        "With 10 terms by Chi-square, nb has a macro F1 of 0.800 and svm of 0.500.",
    ]
    reason = (
        "nb with 100 terms has a macro F1 of 0.910, the best of everything that was tried; the best with fewer, 10 "
        "terms by Chi-square, has 0.800, not enough by the same rule. Chosen without one of the 3 splits in turn: 100 "
        "terms, macro F1 0.910 on the split left out."
    )
    assert make_explanation(ReportData.from_result(result)) == reason
    assert [finding.weight for finding in found] == pytest.approx([1.0, 0.1 / 0.15 * 0.7, 0.45, 0.4])


def test_small_gaps_weigh_less():
    means = {("gu", "nb", 10): 0.80, ("chi2", "nb", 10): 0.86, ("gu", "svm", 10): 0.83, ("chi2", "svm", 10): 0.84}
    result = Comparison(table_of(means), {"n_splits": 3}, {})
    _, of_scores, of_classifiers = list_findings(ReportData.from_result(result))
    assert of_scores.sentence.startswith("With nb, the choice of the score matters most at 10 terms: Chi-square has")
    assert of_classifiers.sentence == "With 10 terms by GU metric, svm has a macro F1 of 0.830 and nb of 0.800."
    assert (of_scores.weight, of_classifiers.weight) == pytest.approx((0.06 / 0.3 * 0.45, 0.03 / 0.3 * 0.4))


@pytest.mark.parametrize(
    ("few", "every", "said"),
    [
        (None, 0.8, "all 1,000 terms are enough: macro F1 0.800"),  # there was no other number
        (0.6, 0.8, "It takes all 1,000 terms: macro F1 0.800; fewer are not enough"),
        (0.6, 0.997, "all 1,000 terms are enough: macro F1 0.997"),
        (0.2, 0.5, "It takes all 1,000 terms: macro F1 0.500; fewer are not enough"),
        (0.2, 0.499, "None does well: all 1,000 terms do as well as any, macro F1 0.499"),
    ],
)
def test_it_takes_all_terms_where_fewer_are_not_enough(few, every, said):
    means = {("gu", "nb", 1000): every} | ({} if few is None else {("gu", "nb", 10): few})
    result = Comparison(table_of(means, folds=[0.0]), {"n_splits": 1, "n_terms": 1000}, {})
    assert make_headline(ReportData.from_result(result)) == said


def test_terms_that_were_asked_for_may_not_be_enough():
    table = table_of({("gu", "nb", 10): 0.6, ("gu", "nb", 1000): 0.8})
    result = Comparison(table, {"n_splits": 3, "n_terms": 1000, "ks": [10], "all_terms": "reference"}, {})
    assert (
        make_headline(ReportData.from_result(result))
        == "10 terms by GU metric reach macro F1 0.600, which is not enough: all 1,000 terms do better"
    )
    assert "more than one standard error of the difference" in make_explanation(ReportData.from_result(result))


@pytest.mark.parametrize(("k", "share"), [(1, "1 term (33 % of 3)"), (3, "3 terms (100 % of 3)"), (4, "4 terms")])
def test_the_explanation_tells_the_share_of_the_terms(k, share):
    counts = ts.count(["ship crew", "goal"], ["sea", "sport"])
    result = Comparison(table_of({("gu", "nb", k): 0.9}), {"n_splits": 3}, {}, counts)
    assert make_explanation(ReportData.from_result(result)).startswith(f"nb with {share} has a macro F1 of 0.900")


def test_the_explanation_names_the_margin_where_there_is_one_split():
    table = table_of({("gu", "nb", 10): 0.895, ("gu", "nb", 100): 0.9}, folds=[0.0])
    told = make_explanation(ReportData.from_result(Comparison(table, {"n_splits": 1}, {})))
    assert "within the margin of 0.01: the best of everything tried has 0.900 (100 terms by GU metric)" in told


def test_parameters_that_were_tried_at_few_numbers_of_terms_are_marked_on_the_chart_of_their_classifier():
    tuned = 'linear_svm(C="auto")'
    means = {("chi2", "multinomial_nb", k): 0.8 for k in (10, 100)}
    means |= {("chi2", "linear_svm", k): 0.85 for k in (10, 100)} | {("chi2", tuned, 100): 0.9}
    settings = {"n_splits": 3, "classifiers": ["multinomial_nb", "linear_svm"]}
    result = Comparison(table_of(means), settings, {})
    assert result.recommended().classifier == tuned
    assert find_charted_classifier(result) == "linear_svm"
    [_, chart] = draw_f1_curves(result)
    assert chart.title == "Macro F1 against the number of terms: Linear support vector machine"
    assert 'Chi-square\\n100 terms: 0.900\\nwith C=\\"auto\\"' in json.dumps(chart.spec)


def test_a_word_of_one_class_alone_is_a_finding_if_it_has_documents_enough():
    texts = ["ship mast crew"] * 5 + ["mast crew"] + ["goal crew", "goal", "oar"]
    for n, said in ((6, True), (4, False)):
        counts = ts.count(texts[:n] + texts[6:], ["sea"] * n + ["sport"] * 3)
        found = " ".join(one.sentence for one in list_findings(ReportData.from_result(ts.score(counts, "chi2"))))
        assert ("“ship” is in 83 % of the documents of sea, and in none of the others." in found) is said
        assert "“mast” is in" not in found  # the best term: told already


def test_a_class_of_few_documents_is_not_called_the_hardest_or_easiest():
    means = {("chi2", "nb", 10): 0.8}
    of_classes = [(0, fold, "chi2", "nb", 10, c, "f1", v) for fold in range(3) for c, v in (("a", 0.9), ("b", 0.7))]
    apart = pa.table(dict(zip(SCHEMA.names, zip(*of_classes, strict=True), strict=True)), schema=SCHEMA)
    table = pa.concat_tables([table_of(means), apart])
    for small, told in (({}, True), ({"b": 6}, False), ({"c": 6}, True)):
        data = ReportData.from_result(Comparison(table, {"n_splits": 3, "small_classes": small}, {}))
        assert any("hardest class" in one.sentence for one in list_findings(data)) is told


def test_the_map_says_when_it_has_all_terms(tmp_path):
    page = page_of(ts.score(ts.count(["ship crew", "goal"], ["sea", "sport"]), "chi2"), tmp_path)
    assert "All 3 terms are here." in page


def test_agreement_is_that_of_the_rankings():
    material = ReportData.from_result(plain_result())
    sentences = " ".join(finding.sentence for finding in list_findings(material))
    k = plain_result().recommended().k
    first = {one.name: set(one.scores.order()[:k].tolist()) for one in material.contenders}
    common = {(a, b): len(first[a] & first[b]) for a, b in itertools.combinations(first, 2)}
    titled = {f"{score_title(a)} and {score_title(b)}": n for (a, b), n in common.items()}
    most, least = max(common.values()), min(common.values())
    assert least < most
    assert any(
        f"{pair} have {most} of their first {k} terms in common" in sentences for pair, n in titled.items() if n == most
    )
    assert any(f", {pair} {least}." in sentences for pair, n in titled.items() if n == least)


def test_the_scores_that_agree_least_are_those_that_share_the_fewest_terms():
    scores = ts.score(ts.count(*documents(300)), ["chi2", "info_gain", "pmi"])
    data = ReportData.from_result(scores)
    [finding] = [one for one in list_findings(data) if "terms in common" in one.sentence]
    first = {name: set(order[:100].tolist()) for name, order in data.orders.items()}
    least = len(first["chi2"] & first["pmi"])
    assert first["chi2"] == first["info_gain"]
    assert finding.sentence == (
        f"Chi-square and Information gain have 100 of their first 100 terms in common, Chi-square and "
        f"Pointwise mutual information {least}."
    )
    assert finding.weight == pytest.approx((100 - least) / 100 * 0.5)


def test_findings_about_terms_are_ordered_by_how_striking_they_are():
    texts = ["the ship crew"] * 10 + ["the goal"] * 9 + ["the goal crew"]
    found = list_findings(
        ReportData.from_result(ts.score(ts.count(texts, ["sea"] * 10 + ["sport"] * 10), ["chi2", "gu"]))
    )
    assert [(one.sentence[:16], one.weight) for one in found] == [
        ("By Chi-square, n", 0.9),
        ("“ship” is in 100", 0.8),
        ("“the” is the mos", 0.6),
        ("Chi-square and G", 0.3),
        ("0 % of the 4 ter", 0.0),
    ]


def test_long_names_of_classes_are_cut_in_the_headline():
    counts = ts.count(["ship", "goal"], ["s" * 30, "t" * 31])
    headline = make_headline(ReportData.from_result(ts.score(counts, "chi2")))
    assert headline == f"What tells {'s' * 30} and {format_name('t' * 31, 30)} apart"
    assert "t" * 30 not in headline


def test_the_share_of_terms_in_one_document_is_told():
    data = ReportData.from_result(ts.score(ts.count(["ship crew", "ship goal"], ["sea", "sport"]), "chi2"))
    [finding] = [one for one in list_findings(data) if "one document only" in one.sentence]
    assert finding.sentence == "67 % of the 3 terms are in one document only."
    assert finding.weight == pytest.approx(2 / 3 * 0.4)


def test_the_headline_of_scores_names_the_classes():
    counts = ts.count(["ship", "crew", "goal", "rate"], ["sea", "sea", "sport", "money"])
    assert make_headline(ReportData.from_result(ts.score(counts, ["chi2"]))) == "What tells sea, money and sport apart"
    for n, said in ((4, "class0, class1, class2 and class3"), (5, "5 classes")):
        more = ts.count([f"word{i}" for i in range(n)], [f"class{i}" for i in range(n)])
        assert make_headline(ReportData.from_result(ts.score(more, ["chi2"]))) == f"What tells {said} apart"


def test_the_explanation_of_scores_names_one_and_counts_several():
    counts = ts.count(["ship", "crew", "goal", "rate"], ["sea", "sea", "sport", "money"])
    for names, said in ((["chi2"], "Chi-square (chi2)"), (["chi2", "gu"], "2 scores")):
        told = make_explanation(ReportData.from_result(ts.score(counts, names)))
        assert told == f"4 terms, ranked by {said}."


def test_findings_about_terms_and_agreement_are_those_of_the_counts():
    texts = ["ship crew", "ship storm", "ship sun", "goal sun", "match sun", "goal team"]
    counts = ts.count(texts, ["sea"] * 3 + ["sport"] * 3)
    sentences = " ".join(
        finding.sentence for finding in list_findings(ReportData.from_result(ts.score(counts, ["chi2", "gu"])))
    )
    assert (
        "By Chi-square, no word tells more than “ship”: 100 % of the documents of sea have it, 0 % of the others."
        in sentences
    )
    assert re.search(r"Chi-square and GU metric have \d of their first \d terms in common", sentences)
    assert "is the most frequent word" not in sentences  # "ship" and "sun" are in half of them, but of unlike classes
    weights = [finding.weight for finding in list_findings(ReportData.from_result(plain_result()))]
    assert weights == sorted(weights, reverse=True)


@pytest.mark.parametrize(("others", "told"), [(10, True), (9, True), (8, False)])
def test_a_frequent_word_tells_little_where_all_classes_have_it_alike(others, told):
    texts = ["the ship"] * 10 + ["the goal"] * others + ["a goal"] * (10 - others)
    data = ReportData.from_result(ts.score(ts.count(texts, ["sea"] * 10 + ["sport"] * 10), ["chi2"]))
    found = [one.sentence for one in list_findings(data) if "is the most frequent word" in one.sentence]
    expected = f"“the” is the most frequent word, in {50 + 5 * others} % of the documents, and tells little: "
    assert [one.startswith(expected) for one in found] == [True] * told


# The map


def test_ranks_and_counts_of_the_map_are_those_of_the_scores():
    data = ReportData.from_result(plain_result())
    words, spellings = make_vocabulary_map(data)
    counts = data.ranked_counts
    place = {term: i for i, term in enumerate(counts.terms)}
    for c, view in enumerate([None, *range(counts.n_classes)]):
        for s, one in enumerate(data.contenders):
            order = one.scores.order() if view is None else one.scores.order_of_class(view)
            rank = {counts.terms[p]: i for i, p in enumerate(order, 1)}
            for i, shown_rank in zip(words["views"][c]["terms"], words["views"][c]["ranks"][s], strict=True):
                assert shown_rank == rank[spellings[i]]
    df = counts.df.toarray()
    for i, cells in enumerate(words["cells"]):
        for c, n in zip(cells[::2], cells[1::2], strict=True):
            assert df[c, place[spellings[i]]] == n
        assert words["df"][i] == counts.term_df[place[spellings[i]]]


def test_the_map_is_capped_however_many_terms_classes_and_scores_there_are(tmp_path):
    rng = np.random.default_rng(0)
    n_docs, n_terms, n_classes = 3000, 20_000, 60
    X = (rng.random((n_docs, 1)) < 1) * rng.poisson(0.02 / (1 + np.arange(n_terms) % 50), (n_docs, n_terms))
    counts = ts.Counts.from_matrix(
        X, rng.integers(0, n_classes, n_docs), terms=[f"term{i:05d}" for i in range(n_terms)]
    )
    scores = ts.score(counts, ["chi2", "gu", "bns", "info_gain", "odds_ratio", "pmi", "ifs", "ngl", "gss", "gini"])
    page = page_of(scores, tmp_path)
    assert len(page) < 3_000_000
    words = page_data_in(page)["vocabulary"]
    assert len(words["classes"]) == MAX_CLASSES
    assert f"{len(words['terms']):,} of 20,000 terms are here" in page
    assert f"Of 60 classes the {MAX_CLASSES} largest are here." in page


def test_a_page_of_a_large_vocabulary_is_small(tmp_path):
    rng = np.random.default_rng(0)
    n_docs, n_terms, n_cells = 100_000, 200_000, 2_000_000
    frequent = (n_terms * rng.random(n_cells) ** 3).astype(np.int64)
    rows = rng.integers(0, n_docs, n_cells)
    X = sparse.csr_array((np.ones(n_cells, np.int64), (rows, frequent)), shape=(n_docs, n_terms))
    names = [f"term{i:06d}" for i in range(n_terms)]
    counts = ts.Counts.from_matrix(X, rng.integers(0, 20, n_docs), terms=names)
    page = ts.report(ts.score(counts, ["gu", "chi2", "info_gain", "bns"]), tmp_path / "page.html")
    assert counts.shape == (20, n_terms)
    assert counts.n_docs == n_docs
    assert page.stat().st_size < 3_000_000


# Again


def test_the_snippet_and_the_command_give_the_same_result(tmp_path, monkeypatch):
    texts, labels = documents()
    pa.parquet.write_table(pa.table({"body": texts, "topic": labels, "day": [i // 4 for i in range(len(texts))]}),
                           tmp_path / "mail.parquet")  # fmt: skip
    docs = ts.read(tmp_path / "mail.parquet", text="body", label="topic")
    analyzer = ts.Analyzer(stop_words="smart", ngram_range=(1, 2), min_length=3)
    scores = ["bns(floor=0.001)", "gu"]
    result = ts.compare(docs, **{**FEW, "scores": scores}, analyzer=analyzer, seed=3, min_df=2, groups="day", repeats=2)
    command, snippet = (block.code for block in make_code_blocks(ReportData.from_result(result)))
    assert make_note(ReportData.from_result(result)) == ""
    monkeypatch.chdir(tmp_path)
    space = {}
    exec(snippet, space)
    assert space["result"].table == result.table
    assert (tmp_path / "report.html").exists()

    from termsieve.cli import app

    arguments = shlex.split(command.replace("\\\n", " "))[1:]
    arguments[arguments.index("report.html")] = "result.parquet"
    ran = CliRunner().invoke(app, arguments)
    assert ran.exit_code == 0, ran.output
    assert Comparison.load(tmp_path / "result.parquet").table == result.table


def test_the_snippet_and_the_command_read_quotes_alike(tmp_path):
    texts, labels = documents()
    rows = [f'{label}\t"{text}' for text, label in zip(texts, labels, strict=True)]
    (tmp_path / "mail.tsv").write_text("\n".join(["label\ttext", *rows]), encoding="utf-8")
    result = ts.compare(ts.read(tmp_path / "mail.tsv", quotes=False, encoding_errors="skip"), **FEW)
    command, snippet = (block.code for block in make_code_blocks(ReportData.from_result(result)))
    assert {"--no-quotes", "--encoding-errors", "skip"} <= set(shlex.split(command.replace("\\\n", " ")))
    assert "encoding_errors='skip', quotes=False)" in snippet


def test_the_snippet_of_scores_gives_the_same_page(tmp_path, monkeypatch):
    texts, labels = documents()
    scores = ts.score(ts.count(texts, labels, analyzer=ts.Analyzer(stop_words="english")), ["gu", "chi2"])
    command, snippet = (block.code for block in make_code_blocks(ReportData.from_result(scores)))
    monkeypatch.chdir(tmp_path)
    pa.parquet.write_table(pa.table({"text": texts, "label": labels}), tmp_path / "all.parquet")
    space = {}
    exec(snippet.replace("'DOCUMENTS'", "'all.parquet'"), space)
    assert {name: one.overall().tolist() for name, one in space["scores"].items()} == {
        name: one.overall().tolist() for name, one in scores.items()
    }
    assert command.startswith("termsieve report DOCUMENTS")
    assert "--stop-words english" in command


def test_files_of_the_documents_are_named(tmp_path):
    texts, labels = documents()
    pa.parquet.write_table(pa.table({"body": texts, "label": labels}), tmp_path / "mail.parquet")
    docs = ts.read(tmp_path / "mail.parquet", text="body")
    page = page_of(ts.score(ts.count(docs), "gu"), tmp_path, documents=docs)
    assert f"docs = ts.read(&#39;{tmp_path / 'mail.parquet'}&#39;, text=&#39;body&#39;)" in page
    assert "--text body" in page


def ran_again(data, folder, monkeypatch, wanted):
    """What the snippet leaves behind, and the arguments of the command, as a shell would cut it."""
    monkeypatch.chdir(folder)
    command, snippet = (block.code for block in make_code_blocks(data))
    space = {}
    exec(snippet, space)
    return space[wanted], shlex.split(command.replace("\\\n", " "))[1:]


def run_command(arguments, **changed):
    from termsieve.cli import app

    ran = CliRunner().invoke(app, [changed.get(one, one) for one in arguments])
    assert ran.exit_code == 0, ran.output
    return ran.output


@pytest.mark.parametrize(
    "options",
    [
        {"weighting": "tf.bns(floor=0.001)", "weigh": "all", "min_tf": 2, "one_vs_rest": True},
        {"per_class": True, "repeats": 2, "seed": 4},
    ],
)
def test_all_that_differs_from_the_usual_is_in_both(options, tmp_path, monkeypatch):
    texts, labels = documents()
    pa.parquet.write_table(pa.table({"text": texts, "label": labels}), tmp_path / "my mail; rm #.parquet")
    monkeypatch.chdir(tmp_path)
    result = ts.compare(ts.read("my mail; rm #.parquet"), **FEW, **options)
    again, arguments = ran_again(ReportData.from_result(result), tmp_path, monkeypatch, "result")
    assert again.table == result.table
    assert again.settings == result.settings
    run_command(arguments, **{"report.html": "result.parquet"})
    assert Comparison.load("result.parquet").table == result.table
    assert make_note(ReportData.from_result(result)) == ""


def test_what_the_command_line_cannot_say_only_the_snippet_says(tmp_path, monkeypatch):
    texts, labels = documents()
    pa.parquet.write_table(pa.table({"text": texts, "label": labels}), tmp_path / "mail.parquet")
    analyzer = ts.Analyzer(strip_accents="ascii", stop_words=["ship", "crew"])
    monkeypatch.chdir(tmp_path)
    data = ReportData.from_result(ts.compare(ts.read("mail.parquet"), **FEW, drop_empty=True, analyzer=analyzer))
    again, arguments = ran_again(data, tmp_path, monkeypatch, "result")
    assert again.table == data.result.table
    assert again.settings["analyzer"]["strip_accents"] == "ascii"
    assert "--drop-empty" in arguments
    assert "--strip-accents" not in arguments
    for part in ("strip_accents", "STOP_WORDS_FILE"):
        assert part in make_note(data)


def test_contenders_are_only_what_contenders_have(tmp_path, monkeypatch):
    texts, labels = documents()
    pa.parquet.write_table(pa.table({"text": texts, "label": labels}), tmp_path / "mail.parquet")
    monkeypatch.chdir(tmp_path)
    special = Contender("chi2, the largest", "chi2", aggregate="max", max_df=60)
    result = ts.compare(ts.read("mail.parquet"), **{**FEW, "scores": ["gu", special]})
    again, arguments = ran_again(ReportData.from_result(result), tmp_path, monkeypatch, "result")
    assert again.table == result.table
    assert arguments[arguments.index("--score") + 1] == "gu,chi2"
    assert "Only the snippet has all settings of the scores" in make_note(ReportData.from_result(result))


EVIL = "'; touch hacked #\n$(touch hacked) `touch hacked` \"__import__('os').system('touch hacked')"


def test_a_hostile_result_gets_no_code_into_the_command_or_the_snippet(tmp_path):
    base = plain_result()
    evil = dict.fromkeys(("weighting", "weigh", "drop_empty", "one_vs_rest", EVIL), EVIL)
    settings = {
        **base.settings, **evil, "scores": [EVIL, "chi2"], "ks": EVIL, "classifiers": [EVIL],
        "contenders": [{"name": EVIL, "score": EVIL, "max_df=0), print(": 1, EVIL: 2}, EVIL],
        "cv": EVIL, "groups": EVIL,
        "origin": {"files": ["-o" + EVIL, EVIL], "text": [EVIL], "label": EVIL, "split": [EVIL, EVIL],
                   "encoding": EVIL, "by_file": [EVIL, EVIL], EVIL: EVIL},
    }  # fmt: skip
    for changed in ({}, {"by_file": None}, {"by_file": EVIL}, {"by_file": None, "files": EVIL, "text": 3, "split": 4}):
        origin = {**settings["origin"], **changed}
        result = Comparison(base.table, {**settings, "origin": origin}, base.seconds, base.counts)
        command, snippet = (block.code for block in make_code_blocks(ReportData.from_result(result)))
        words = shlex.split(command.replace(" \\\n  ", " "))
        assert all(EVIL in word or not set(word) & set("'\"`$;#\n") for word in words)
        assert words[2].startswith("./-o") or changed.get("files")
        names = {node.id for node in ast.walk(ast.parse(snippet)) if isinstance(node, ast.Name)}
        parts = {node.attr for node in ast.walk(ast.parse(snippet)) if isinstance(node, ast.Attribute)}
        assert names <= {"ts", "docs", "result"}
        assert parts <= {"read", "compare", "report", "Contender"}
        assert "print(" not in snippet
        assert page_of(result, tmp_path)
    sh = shutil.which("sh")
    if sh:
        subprocess.run([sh, "-c", f"termsieve() {{ :; }}; {command}"], cwd=tmp_path, check=True)
        assert not (tmp_path / "hacked").exists()


def test_an_analyzer_that_cannot_be_made_here_is_left_to_the_reader():
    base = plain_result()
    for wrong in ({"stemmer": "klingon"}, {"min_length": EVIL}):
        settings = {**base.settings, "analyzer": {**base.settings["analyzer"], **wrong}}
        data = ReportData.from_result(Comparison(base.table, settings, base.seconds))
        assert "analyzer" not in make_code_blocks(data)[1].code
        assert "The analyzer needs packages" in make_note(data)


@pytest.mark.parametrize("ending", ["jsonl", "txt"])
def test_files_that_are_classes_stay_classes(ending, tmp_path, monkeypatch):
    texts, labels = documents()
    files = [f"{label}.{ending}" for label in ("money", "sea", "sport")]
    for file in files:
        own = [" ".join(text.split()) for text, label in zip(texts, labels, strict=True) if label == file.split(".")[0]]
        rows = own if ending == "txt" else [json.dumps({"text": t, "label": "x", "day": i}) for i, t in enumerate(own)]
        (tmp_path / file).write_text("\n".join(rows), "utf-8")
    monkeypatch.chdir(tmp_path)
    grouped = ["--groups", "day"] if ending == "jsonl" else []
    run_command(["compare", *files, "--by-file", "--score", "gu,chi2", "--classifier", "multinomial_nb", "-k",
                 "2,5", "--cv", "3", *grouped, "-o", "first.parquet"])  # fmt: skip
    result = Comparison.load("first.parquet")
    assert f"docs = ts.read({files!r}, by_file=True)\n" in make_code_blocks(ReportData.from_result(result))[1].code
    again, arguments = ran_again(ReportData.from_result(result), tmp_path, monkeypatch, "result")
    assert again.table == result.table
    assert "--by-file" in arguments
    run_command(arguments, **{"report.html": "second.parquet"})
    assert Comparison.load("second.parquet").table == result.table


def test_pages_of_rank_and_of_counts_name_their_files(tmp_path, monkeypatch):
    texts, labels = documents()
    pa.parquet.write_table(pa.table({"text": texts, "topic": labels}), tmp_path / "mail.parquet")
    monkeypatch.chdir(tmp_path)
    run_command(["rank", "mail.parquet", "--label", "topic", "-o", "rank.html"])
    page = html.unescape((tmp_path / "rank.html").read_text("utf-8"))
    assert "docs = ts.read('mail.parquet', label='topic')" in page
    assert "termsieve report mail.parquet \\\n  --label topic" in page
    assert "DOCUMENTS" not in page
    for name, half in (("a", slice(60)), ("b", slice(60, None))):
        ts.count(texts[half], labels[half]).save(f"{name}.counts")
    run_command(["report", "a.counts", "b.counts", "-o", "counts.html"])
    page = html.unescape((tmp_path / "counts.html").read_text("utf-8"))
    assert "counts = ts.Counts.load('a.counts') + ts.Counts.load('b.counts')" in page
    assert "termsieve report a.counts b.counts \\\n  --score" in page
    assert "DOCUMENTS" not in page


def test_counts_of_a_matrix_and_pruned_counts_are_said_to_be_so(tmp_path, monkeypatch):
    matrix = ts.Counts.from_matrix([[1, 0, 2], [0, 1, 0], [3, 1, 1]], ["x", "y", "x"])
    data = ReportData.from_result(ts.score(matrix, "gu"))
    assert "COUNTS stands for a file" in make_note(data)
    matrix.save(tmp_path / "COUNTS")
    again, _ = ran_again(data, tmp_path, monkeypatch, "scores")
    assert again.overall().tolist() == ts.score(matrix, "gu").overall().tolist()
    assert "pruned (min_df=2)" in make_note(ReportData.from_result(ts.score(matrix.prune(min_df=2), "gu")))


def test_the_demo_names_itself(monkeypatch):
    base = plain_result()
    settings = {**base.settings, "origin": {**base.settings["origin"], "demo": True}}
    data = ReportData.from_result(Comparison(base.table, settings, base.seconds, base.counts))
    assert make_code_blocks(data)[0].code.startswith("termsieve demo")
    monkeypatch.setattr("termsieve.datasets.demo.load_corpus", lambda: ("three topics", *documents()))
    assert make_note(data) == ""
    monkeypatch.setattr("termsieve.report", lambda *_: None)
    space = {}
    exec(make_code_blocks(data)[1].code, space)
    assert space["result"].table == base.table


def test_every_setting_is_there():
    names = {setting.name: setting.value for setting in list_settings(ReportData.from_result(plain_result()))}
    assert names["ks"] == "2, 5, 10, 20, 40, 60"
    assert names["cv"] == "3"
    assert names["analyzer"] == "Analyzer()"
    assert len(names["fingerprint of the documents"]) == 16


def test_what_was_found_is_no_setting():
    base = plain_result()
    found = {"stable_terms": {"shares": {"gold": 1.0}}, "duality_gaps": {"linear_svm": 1e-9}, "notes": ["a note"]}
    result = Comparison(base.table, {**base.settings, **found}, base.seconds, base.counts)
    names = {setting.name for setting in list_settings(ReportData.from_result(result))}
    assert names == {setting.name for setting in list_settings(ReportData.from_result(base))}
    assert found.keys().isdisjoint(names)


def test_the_column_of_all_terms_says_so():
    data = ReportData.from_result(plain_result())
    (rows,) = charts.draw_overlaps(data).spec["datasets"].values()
    assert data.ks[-1] == data.ranked_counts.n_terms
    assert {row["k"] for row in rows} == {*map(str, data.ks[:-1]), "all"}


def test_what_the_study_scored_is_not_scored_again(tmp_path, monkeypatch):
    texts, labels = documents()
    result = ts.compare(texts, labels, **FEW)
    expected = {
        one.name: one.overall.tolist() for one in ReportData.from_result(saved_and_loaded(result, tmp_path)).contenders
    }
    monkeypatch.setattr("termsieve.reporting.report_data.score", None)  # nobody calls it
    data = ReportData.from_result(result)
    assert {one.name: one.overall.tolist() for one in data.contenders} == expected
    assert all(one.scores is result.scored[one.name] for one in data.contenders)


def test_other_counts_than_those_of_the_study_are_scored(tmp_path):
    texts, labels = documents()
    result = ts.compare(texts, labels, **FEW)
    result.counts = result.counts.prune(min_df=2)
    assert ReportData.from_result(result).ranked_counts is result.counts
    pruned = ts.compare(texts, labels, **FEW, min_df=2)
    assert ReportData.from_result(pruned).ranked_counts == result.counts


def saved_and_loaded(result, folder):
    result.save(folder / "result.parquet")
    loaded = Comparison.load(folder / "result.parquet")
    assert loaded.scored == {}
    return loaded


# The index of the vocabulary


def decode_index(text):
    terms, before = {}, ""
    for row in filter(None, text.split("\n")):
        rest, documents = row[1:].split("\t")
        before = before[: int(row[0], 16)] + rest
        terms[before] = int(documents)
    return terms


@given(st.lists(st.text("abcé2", min_size=1, max_size=20), min_size=1, max_size=30))
def test_the_index_has_every_term_and_its_documents(words):
    counts = ts.count([[word] for word in words], ["x", "y"] * (len(words) // 2) + ["x"] * (len(words) % 2))
    index = make_term_index(counts)
    assert decode_index(index["text"]) == dict(zip(counts.terms, counts.term_df.tolist(), strict=True))
    assert index["terms"] == index["all"] == counts.n_terms


def test_of_a_large_vocabulary_the_index_has_the_most_frequent_terms(monkeypatch):
    monkeypatch.setattr(term_index, "MAX_CHARACTERS", 20)
    counts = ts.count([["often"], ["often", "seldom"], ["rarely"]], ["x", "y", "x"])
    assert decode_index(make_term_index(counts)["text"]) == {"often": 2, "rarely": 1}


def test_excerpts_are_of_the_terms_class_and_of_others():
    texts = [f"ship number {i}" for i in range(8)] + ["a ship of sport", "ship money"] + ["goal team", "bank rate"] * 8
    labels = ["sea"] * 8 + ["sport", "money"] * 9
    scores = ts.score(ts.count(texts, labels), "chi2")
    found = extract_from_documents(ts.read({"text": texts, "label": labels}), [scores])
    assert [one.label for one in found["ship"]] == ["sea"] * 5  # enough were found before the others came
    late = extract_from_documents(ts.read({"text": texts[::-1], "label": labels[::-1]}), [scores])
    assert sorted(one.label for one in late["ship"]) == ["money", "sea", "sea", "sea", "sport"]


def test_the_page_says_how_near_to_the_optimum_classifiers_were_solved(tmp_path):
    texts, labels = documents(60)
    result = ts.compare(texts, labels, scores=["chi2"], classifiers=["linear_svm"], ks=[5], cv=2)
    assert html.escape(result.describe_gaps()) in page_of(result, tmp_path)
    assert f"linear_svm: {result.settings['duality_gaps']['linear_svm']:.1e}" in result.describe_gaps()
    assert "duality gap" not in page_of(plain_result(), tmp_path)


def test_the_snippet_of_a_search_leaves_its_scores_to_the_search():
    texts, labels = documents()
    result = ts.compare(texts, labels, **{name: value for name, value in FEW.items() if name != "scores"})
    result.settings["contenders"] = [{"name": "g_test on words and pairs", "score": "g_test"}]  # not asked for
    data = ReportData.from_result(result)
    snippet = make_code_blocks(data)[1].code
    assert "scores=" not in snippet
    assert "Contender" not in snippet
    assert "Only the snippet has all settings" not in make_note(data)


def test_a_name_with_on_in_it_is_the_name_of_a_score_not_of_another_on_other_terms(monkeypatch):
    texts, labels = documents()
    mine = Contender("chi2 on rare words", "bns", max_df=20)
    result = ts.compare(texts, labels, scores=["chi2", mine], classifiers=["multinomial_nb"], ks=[5], cv=2)
    chosen = replace(result.recommended(), score=mine.name)
    monkeypatch.setattr(Comparison, "recommended", lambda *_, **__: chosen)
    assert ReportData.from_result(result).leading_contender.name == mine.name
