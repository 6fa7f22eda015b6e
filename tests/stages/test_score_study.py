"""The study of scores: problems, leak-free rankings, resuming, results as JSON, and what follows from them."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import average_precision_score, f1_score
from sklearn.naive_bayes import MultinomialNB

import termsieve as ts
from termsieve.defaults import DEFAULT_SCORE
from termsieve.errors import InputError, OptionError
from termsieve.score_study import problems, run
from termsieve.score_study.contenders import list_contenders
from termsieve.score_study.evidence import Evidence
from termsieve.score_study.page import EVIDENCE_FILE, render_page, render_summary
from termsieve.score_study.problems import StudyCorpus, StudyProblem
from termsieve.score_study.protocol import load_study
from termsieve.score_study.results import PanelResults, StudyResults, read_results
from termsieve.score_study.run import run_study
from termsieve.scores import SCORES
from termsieve.scores.catalogue import read_evidence

DOCS = Path(__file__).parents[2] / "docs"


def make_corpus(path, n_classes, n_docs=180, seed=0, several=False):
    """Write documents in which some words are more frequent in one class; the last class has 20 documents only."""
    rng = np.random.default_rng(seed)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for i in range(n_docs):
            label = n_classes if i < 20 else i % n_classes
            odds = np.ones(60)
            odds[8 * label : 8 * label + 8] += 3
            words = [f"w{k}" for k in rng.choice(60, 12, p=odds / odds.sum())]
            labels = [f"c{label}", *(["c0"] if several and i % 9 == 0 and label else [])]
            file.write(json.dumps({"text": " ".join(words), "labels": labels}) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora")
    make_corpus(folder / "one.jsonl.gz", 3)
    make_corpus(folder / "two.jsonl.gz", 2, seed=1)
    make_corpus(folder / "both.jsonl.gz", 2, seed=2, several=True)
    return folder


@pytest.fixture
def corpora(folder, monkeypatch):
    monkeypatch.setattr(problems, "list_folders", lambda: [folder])
    return folder


@pytest.fixture(scope="module")
def protocol():
    return load_study("tiny")


@pytest.fixture(scope="module")
def outcome(folder, protocol, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(problems, "list_folders", lambda: [folder])
        return run_study(protocol, tmp_path_factory.mktemp("journals"), threads=2)


@pytest.mark.parametrize("setting", ["full", "sample", "tiny"])
def test_every_setting_of_the_protocol_can_be_loaded(setting):
    found = load_study(setting)
    assert found.setting == setting
    for panel in found.panels.values():
        assert all(any(k in some for some in found.ranges.values()) for k in panel.sizes)
        assert all(any(k in panel.sizes for k in some) for some in found.ranges.values())
    assert "oh0" in found.collections["OHSUMED"]


def test_an_unknown_setting_is_told():
    with pytest.raises(OptionError, match="Did you mean 'sample'"):
        load_study("sampel")


def test_corpora_without_a_large_class_are_told(corpora, protocol, tmp_path):
    with pytest.raises(InputError, match=r"None of the corpora \(two\) has a class of 10,000 documents"):
        run_study(replace(protocol, min_class=10_000), tmp_path, threads=1, corpora=["two"])


def test_without_corpora_the_folders_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(problems, "list_folders", lambda: [tmp_path])
    with pytest.raises(InputError, match="There are no corpora") as told:
        problems.find_corpora()
    assert str(tmp_path) in str(told.value)


def test_problems_are_large_classes_against_the_rest_and_all_of_them(outcome):
    found = [(one.problem.corpus, one.problem.label) for one in outcome.problems]
    assert found == [
        ("both", "c0"), ("both", "c1"), ("both", ""), ("one", "c0"), ("one", "c1"), ("one", "c2"), ("one", ""),
        ("two", "c0"), ("two", "c1"), ("two", ""),
    ]  # fmt: skip
    assert outcome.problems[3].problem.n_docs == 180


def test_of_two_classes_that_exclude_each_other_the_smaller_one_is_the_problem(tmp_path, protocol):
    make_corpus(tmp_path / "x.jsonl.gz", 2, n_docs=180)
    panel = next(iter(protocol.panels.values()))
    read = StudyCorpus.read("x", tmp_path / "x.jsonl.gz", panel, replace(protocol, min_class=1), 1)
    two = StudyCorpus("x", replace(read.corpus, Y=read.corpus.Y[:, :2].tocsr()[20:], X=read.corpus.X[20:],
                                   classes=["c0", "c1"]), [])  # fmt: skip
    assert [one.label for one in two.problems] in (["c0", ""], ["c1", ""])


def test_rankings_see_the_training_documents_only(corpora, protocol, outcome):
    """A problem again with scikit-learn and a ranking of the training documents alone."""
    panel = next(iter(protocol.panels.values()))
    corpus = StudyCorpus.read("one", corpora / "one.jsonl.gz", panel, protocol, 1)
    with gzip.open(corpora / "one.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    split = corpus.splits[0]
    assert not set(split.train) & set(split.test)
    words = CountVectorizer()
    X = words.fit_transform([row["text"] for row in rows])
    y = np.array([row["labels"] == ["c1"] for row in rows])
    for name, size in (("chi2", 10), ("bns", 10)):
        chosen = ts.TermSelector(name, k=size, aggregate="max").fit(X[split.train], y[split.train].astype(str))
        places = ts.score(ts.Counts.from_matrix(X[split.train], y[split.train].astype(str)), name).order_of_class(1)[
            :size
        ]
        assert len(chosen.get_support(indices=True)) == size
        model = MultinomialNB().fit(X[split.train][:, places], y[split.train])
        expected = f1_score(y[split.test], model.predict(X[split.test][:, places]))
        found = next(one for one in outcome.problems if (one.problem.corpus, one.problem.label) == ("one", "c1"))
        rows = {row[6]: row[-1] for row in found.rows if row[2] == name and row[4] == size}
        assert rows["f1"] == pytest.approx(expected, abs=1e-4)
        ranked = model.predict_log_proba(X[split.test][:, places])
        precision = average_precision_score(y[split.test], ranked[:, 1] - ranked[:, 0])
        assert rows["average_precision"] == pytest.approx(precision, abs=1e-4)


def test_a_run_continues_where_it_stopped(corpora, protocol, tmp_path, monkeypatch):
    first = run_study(protocol, tmp_path, threads=1, corpora=["two"])
    monkeypatch.setattr(run.SplitProblems, "solve", lambda *_: pytest.fail("it was done before"))
    again = run_study(protocol, tmp_path, threads=1, corpora=["two"])
    assert [one.rows for one in again.problems] == [one.rows for one in first.problems]


def test_results_survive_being_written(outcome, tmp_path):
    results = StudyResults.from_run(outcome)
    (tmp_path / "scores.json").write_text(results.to_json(), encoding="utf-8")
    again = read_results(tmp_path / "scores.json")
    assert again.contenders == list_contenders(["cmim"])
    assert again.panels[0].problems == results.panels[0].problems
    np.testing.assert_allclose(again.panels[0].f1["multinomial_nb"], results.panels[0].f1["multinomial_nb"], atol=5e-5)
    kept = again.panels[0].average_precision["multinomial_nb"]
    np.testing.assert_allclose(kept, results.panels[0].average_precision["multinomial_nb"], atol=5e-5)
    np.testing.assert_array_equal(
        np.isnan(kept).all(axis=(1, 2)), [one.label == "" for one in again.panels[0].problems]
    )
    np.testing.assert_allclose(again.agreement, results.agreement, atol=5e-5)
    assert again.to_json() == read_results(tmp_path / "scores.json").to_json()
    assert "# Choosing a score" in render_page(again)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"contenders": ["chi2"], "protocol": {}}'])
def test_other_files_are_no_results(tmp_path, content):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(InputError, match="is not a file of results"):
        read_results(tmp_path / "x.json")


# Evidence, on numbers made by hand


def make_results(f1, *, corpora, stability=(0.5, 0.5, 0.5), collections=None):
    """One classifier, one range: f1 has a row for each corpus, a column for each of three scores."""
    protocol = {"ranges": {"few": [10]}, "collections": collections or {}, "rules": [], "setting": "tiny"}
    found = [StudyProblem(name, "c", 100, 50, 2, 1000, 20.0) for name in corpora]
    values = {"multinomial_nb": np.array(f1, float)[:, None, :]}
    panel = PanelResults("naive_bayes", (10,), found, values, {}, {"multinomial_nb": np.ones(len(found))}, {})
    return StudyResults(protocol, ["chi2", "bns", "gu"], [panel], np.eye(3), np.array(stability), {"naive_bayes": 0.0})


def test_regret_is_what_is_lost_against_the_best_of_each_problem():
    evidence = Evidence(make_results([[0.9, 0.8, 0.5], [0.6, 0.7, 0.1]], corpora=["a", "b"]))
    np.testing.assert_allclose(evidence.regrets, [[0.0, 0.1, 0.4], [0.1, 0.0, 0.6]])
    assert {one.name: one.mean for one in evidence.list_regrets()} == pytest.approx(
        {"chi2": 0.05, "bns": 0.05, "gu": 0.5}
    )
    assert evidence.ranks == {"chi2": 1.5, "bns": 1.5, "gu": 3.0}


def test_collections_count_the_same_however_many_corpora_they_have():
    f1 = [[1.0, 0.8, 0.0], [1.0, 0.8, 0.0], [0.5, 0.9, 0.0]]
    together = Evidence(make_results(f1, corpora=["a", "b", "c"], collections={"x": ["a", "b"]}))
    apart = Evidence(make_results(f1, corpora=["a", "b", "c"]))
    assert {one.name: one.mean for one in together.list_regrets()}["bns"] == pytest.approx((0.2 + 0.0) / 2)
    assert {one.name: one.mean for one in apart.list_regrets()}["bns"] == pytest.approx((0.2 + 0.2 + 0.0) / 3)


def test_a_tie_goes_to_the_stable_score_and_a_clear_lead_does_not():
    tied = [[0.900, 0.898, 0.5], [0.700, 0.701, 0.5], [0.8, 0.8, 0.5]]
    clear = [[0.9, 0.8, 0.5], [0.8, 0.7, 0.5], [0.7, 0.6, 0.5]]
    for f1, expected in ((tied, "bns"), (clear, "chi2")):
        evidence = Evidence(make_results(f1, corpora=["a", "b", "c"], stability=(0.5, 0.7, 0.9)))
        assert evidence.recommended.name == expected
        low, mean, high = (getattr(evidence.recommended.regret, end) for end in ("low", "mean", "high"))
        assert low <= mean <= high


def test_a_rule_that_competed_in_one_panel_is_judged_there_and_changes_nothing_elsewhere():
    plain = make_results([[0.9, 0.8, 0.5], [0.6, 0.7, 0.1]], corpora=["a", "b"])
    [panel] = plain.panels
    nan = np.full((2, 1, 1), np.nan)
    first = replace(panel, f1={"multinomial_nb": np.concatenate([panel.f1["multinomial_nb"], nan], axis=2)})
    second = replace(
        panel, name="linear_svm", f1={"linear_svm": np.array([[[0.7, 0.8, 0.5, 0.9]], [[0.6, 0.6, 0.1, 0.5]]])}
    )
    panels = {
        "naive_bayes": {"classifiers": ["multinomial_nb"], "rules": []},
        "linear_svm": {"classifiers": ["linear_svm"], "rules": ["cmim"]},
    }
    evidence = Evidence(
        replace(
            plain, protocol={**plain.protocol, "rules": ["cmim"], "panels": panels},
            contenders=[*plain.contenders, "cmim"], panels=[first, second],
        )
    )  # fmt: skip
    everywhere = {one.name: one.mean for one in evidence.list_regrets()}
    there = {one.name: one.mean for one in evidence.list_regrets(evidence.has_rules)}
    assert everywhere == pytest.approx({"chi2": (0.05 + 0.05) / 2, "bns": (0.05 + 0.0) / 2, "gu": (0.5 + 0.4) / 2})
    assert there == pytest.approx({"chi2": 0.05, "bns": 0.0, "gu": 0.4, "cmim": 0.0})  # 0.1 better, 0.1 worse
    lead = evidence.compare("cmim", "bns", evidence.has_rules)
    assert (lead.low, lead.mean, lead.high) == pytest.approx((-0.1, 0.0, 0.1))


# What is committed


@pytest.fixture(scope="module")
def committed():
    return read_results(DOCS / "results" / "scores.json")


def test_the_page_and_the_package_say_what_the_results_say(committed):
    assert (DOCS / "choosing.md").read_text(encoding="utf-8") == render_page(committed)
    kept = (Path(ts.__file__).parent / "data" / EVIDENCE_FILE).read_text(encoding="utf-8")
    assert kept == render_summary(Evidence(committed))


def test_the_default_is_what_the_evidence_recommends(committed):
    assert Evidence(committed).recommended.name == read_evidence().recommended == DEFAULT_SCORE


def test_the_committed_results_are_small_and_many(committed):
    assert (DOCS / "results" / "scores.json").stat().st_size < 800_000
    assert len(committed.panels[0].problems) > 300
    for panel in committed.panels:
        for kept in (*panel.f1.values(), *panel.average_precision.values()):
            values = kept[np.isfinite(kept)]
            assert values.min() >= 0
            assert values.max() <= 1
            assert values.std() > 0.05
    assert list(committed.panels[0].average_precision) == ["multinomial_nb", "bernoulli_nb"]
    assert np.isfinite(committed.panels[1].f1["linear_svm"]).all()  # also of the rules


def test_every_score_of_the_catalogue_was_studied():
    assert set(read_evidence().scores) == {one.spelling for one in SCORES.values()}


# Commands


def test_the_command_runs_and_writes(corpora, tmp_path, typed):
    code, out, err = typed(
        "study",
        "scores",
        "--setting",
        "tiny",
        "--into",
        tmp_path / "out",
        "--journals",
        tmp_path / "j",
        "--threads",
        "1",
    )
    assert code == 0, err
    assert "mean rank" in out
    assert "Recommended: " in err
    assert read_results(tmp_path / "out" / "scores.json").contenders == list_contenders(["cmim"])


def test_an_unknown_study_is_told(typed):
    code, _, err = typed("study", "score")
    assert code == 2
    assert "Did you mean 'scores'" in err


def test_the_catalogue_shows_family_and_regret(typed):
    code, out, _ = typed("scores", "--format", "json")
    assert code == 0
    rows = {row["name"]: row for row in json.loads(out)}
    assert rows["chi2"]["family"] == "association"
    assert rows["chi2"]["regret"] == read_evidence().scores["chi2"]["regret"]
    _, table, _ = typed("scores", "--format", "table")
    assert "(recommended)" in table
    _, about, _ = typed("scores", "gu")
    assert "against the best score" in " ".join(about.split())
