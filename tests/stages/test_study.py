"""Studies: no leak, no mixing, the same table however it was run."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_info, threadpool_limits

import termsieve as ts
from termsieve._kernels import use_way
from termsieve.errors import InputError, OptionError
from termsieve.study import study
from termsieve.study.corpus import read_corpus
from termsieve.study.results import Comparison
from termsieve.study.split_data import SplitData, count_training, order_columns
from termsieve.study.splits import Split, make_splits
from termsieve.study.study import Study, compare

WORDS = ["ship", "crew", "storm", "harbour", "goal", "match", "team", "card", "bank", "rate", "market", "gold"]


def documents(n=90, seed=0):
    rng = random.Random(seed)
    texts, labels = [], []
    for i in range(n):
        label = i % 3
        own, other = WORDS[4 * label : 4 * label + 4], WORDS
        words = [rng.choice(own if rng.random() < 0.6 else other) for _ in range(rng.randint(3, 9))]
        texts.append(" ".join([*words, f"only{i}"]))
        labels.append(["sea", "sport", "money"][label])
    return texts, labels


SMALL = {"scores": ["chi2", "gu"], "classifiers": ["multinomial_nb", "bernoulli_nb"], "ks": [1, 3, 8], "cv": 3}


def values(result, **where):
    rows = result.table.to_pylist()
    return [row["value"] for row in rows if all(row[name] == value for name, value in where.items())]


def test_each_value_is_that_of_doing_it_by_hand():
    texts, labels = documents()
    result = compare(texts, labels, **SMALL, seed=5)
    y = np.array(labels)
    folds = StratifiedKFold(3, shuffle=True, random_state=5).split(texts, np.unique(y, return_inverse=True)[1])
    for fold, (train, test) in enumerate(folds):
        counts = ts.count([texts[i] for i in train], y[train].tolist())
        for name in SMALL["scores"]:
            order = ts.score(counts, name).order()
            for k in SMALL["ks"]:
                terms = counts.terms[order[:k]]
                X = np.array([[text.split().count(term) for term in terms] for text in texts])
                predicted = MultinomialNB().fit(X[train], y[train]).predict(X[test])
                expected = f1_score(y[test], predicted, average="macro", zero_division=0)
                where = {"fold": fold, "score": name, "classifier": "multinomial_nb", "k": k, "measure": "f1_macro"}
                assert values(result, **where, label="") == [pytest.approx(expected, abs=1e-12)]


@pytest.mark.parametrize("weigh", ["selected", "all"])
def test_weights_after_and_before_the_ranking(weigh):
    texts, labels = documents()
    given = {"scores": ["ocfs"], "classifiers": ["multinomial_nb"], "ks": [6, 12], "cv": 3}
    result = compare(texts, labels, **given, weighting="tfidf", weigh=weigh)
    y = np.array(labels)
    for fold, (train, test) in enumerate(StratifiedKFold(3, shuffle=True, random_state=0).split(texts, y)):
        counts = ts.count([texts[i] for i in train], y[train].tolist())
        occurrences = np.array([[text.split().count(term) for term in counts.terms] for text in texts])
        X = occurrences * (np.log((1 + len(train)) / (1 + counts.term_df)) + 1)
        if weigh == "all":
            X = normalize(X)
            counts = ts.Counts.from_matrix(X[train], y[train], terms=counts.terms.tolist())
        order = ts.score(counts, "ocfs").order()
        for k in given["ks"]:
            cut = X[:, order[:k]] if weigh == "all" else normalize(X[:, order[:k]])
            predicted = MultinomialNB().fit(cut[train], y[train]).predict(cut[test])
            expected = f1_score(y[test], predicted, average="macro", zero_division=0)
            assert values(result, fold=fold, k=k, measure="f1_macro") == [pytest.approx(expected, abs=1e-12)]


def test_a_ranking_takes_no_more_than_the_processor_did():
    texts, labels = documents()
    start = time.process_time()
    seconds = compare(texts, labels, **SMALL, threads=1).seconds
    assert all(0 <= one <= time.process_time() - start for one in seconds.values())


def test_what_all_terms_took_counts_for_each_score_that_shares_their_trial(monkeypatch):
    rows_of_all_terms = SplitData._rows_of_all_terms
    monkeypatch.setattr(SplitData, "_rows_of_all_terms", lambda *given: (rows_of_all_terms(*given)[0], 1e6))
    seconds = compare(*documents(), **{**SMALL, "ks": [3, "all"]}, excerpts=False).seconds
    assert {key.split()[-1] for key, one in seconds.items() if one >= 1e6} == set(SMALL["classifiers"])
    assert sum(one >= 1e6 for one in seconds.values()) == 3 * 2 * 2  # splits, scores, classifiers


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_the_table_does_not_depend_on_the_threads(threads):
    texts, labels = documents()
    assert compare(texts, labels, **SMALL, threads=threads).table == compare(texts, labels, **SMALL, threads=1).table


def test_the_seed_decides_the_table():
    texts, labels = documents()
    one, other = (compare(texts, labels, **SMALL, seed=seed).table for seed in (0, 1))
    assert one != other


def test_repetitions_are_further_divisions():
    texts, labels = documents()
    result = compare(texts, labels, **SMALL, repeats=2)
    assert set(result.table["repeat"].to_pylist()) == {0, 1}
    first = result.table.filter(pa.compute.equal(result.table["repeat"], 0))
    assert first == compare(texts, labels, **SMALL).table


def test_each_repetition_has_a_seed_of_its_own():
    labels = np.arange(30) % 3
    found = make_splits(3, labels, 30, repeats=3, seed=7)
    assert [(one.repeat, one.fold) for one in found] == [(repeat, fold) for repeat in range(3) for fold in range(3)]
    for repeat in range(3):
        alone = make_splits(3, labels, 30, seed=7 + repeat)
        assert all(np.array_equal(found[3 * repeat + fold].test, alone[fold].test) for fold in range(3))
    assert not np.array_equal(found[0].test, found[3].test)


def test_what_is_neither_training_nor_test_is_left_out():
    (found,) = make_splits(np.array(["test", "train", "other", "train", "test"]), None, 5)
    assert (found.train.tolist(), found.test.tolist()) == ([1, 3], [0, 4])


@pytest.mark.parametrize("sample", [None, 30])
@pytest.mark.parametrize("name", ["cv", "groups"])
@pytest.mark.parametrize("n", [2, 89, 91])
def test_columns_have_one_value_for_each_document(name, n, sample):
    with pytest.raises(OptionError, match=f"{name} must have one value for each of the 90 documents"):
        compare(*documents(), **{**SMALL, name: ["test"] * n}, sample=sample)


@pytest.mark.parametrize("n", [4, 6])
def test_a_few_documents_are_enough_for_a_comparison(n):
    texts, labels = ["ship crew storm", "goal match team"] * (n // 2), ["sea", "sport"] * (n // 2)
    result = compare(texts, labels, scores=["chi2"], classifiers=["multinomial_nb"], ks=[2], cv=2)
    assert result.recommended().small_class.n_docs == n // 2


def test_documents_that_all_lack_the_terms_are_told():
    texts, labels = ["ship", "goal", "ship", "goal", "storm", "team", "storm", "team"], ["sea", "sport"] * 4
    parts = np.array(["train"] * 4 + ["test"] * 4)
    with pytest.raises(InputError, match="drop_empty leaves no test documents in a split"):
        compare(texts, labels, scores=["chi2"], classifiers=["multinomial_nb"], ks=[1], cv=parts, drop_empty=True)


def test_documents_without_a_term_are_dropped_from_training_and_test_on_request():
    """The best term of either class is in half of its documents: the others are as if they had not been there."""
    texts, labels = ["ship", "goal", "storm", "team"] * 6, ["sea", "sport"] * 12
    texts = [text if n % 4 < 2 else f"only{n}" for n, text in enumerate(texts)]
    parts = np.array(["train"] * 16 + ["test"] * 8)
    options = {"scores": ["chi2"], "classifiers": ["multinomial_nb"], "ks": [2], "cv": parts}
    dropped, kept = (compare(texts, labels, **options, drop_empty=drop) for drop in (True, False))
    assert values(dropped, measure="accuracy", k=2) == [1.0]
    assert values(kept, measure="accuracy", k=2) == [0.75]


@pytest.mark.parametrize(("score", "loops"), [("chi2", []), ("cmim", ["rules"])])
def test_loops_are_loaded_before_the_trials_begin(monkeypatch, score, loops):
    """Trials are timed, and run in threads, where nothing may be compiled."""
    events = []
    run_split = Study._run_split
    monkeypatch.setattr(study, "load_kernels", lambda model, _: events.append(model))
    monkeypatch.setattr(study, "load_problem_kernels", lambda: events.append("rules"))
    monkeypatch.setattr(Study, "_run_split", lambda *given: events.append("trials") or run_split(*given))
    with use_way("compiled"):
        compare(*documents(), **{**SMALL, "scores": [score]}, excerpts=False)
    assert events[:4] == [*loops, *SMALL["classifiers"], "trials", "trials"][:4]


@pytest.mark.parametrize(
    ("way", "threads", "needed"), [("compiled", 2, True), ("compiled", 1, False), ("plain", 2, False)]
)
def test_loops_of_scores_are_loaded_beforehand_only_for_several_threads_that_need_them(
    monkeypatch, way, threads, needed
):
    loaded = []
    monkeypatch.setattr(study, "load_kernels", lambda *_: None)
    monkeypatch.setattr(study, "load_scoring_kernels", lambda: loaded.append("scores"))
    with use_way(way):
        compare(*documents(), **SMALL, threads=threads, excerpts=False)
    assert bool(loaded) is needed


def test_linear_algebra_has_one_thread_in_each_trial(monkeypatch):
    """Trials run in threads of their own: more would only compete with them."""
    found = set()
    evaluate_trial = SplitData.evaluate_trial

    def count_threads(*given):
        found.update(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
        return evaluate_trial(*given)

    monkeypatch.setattr(SplitData, "evaluate_trial", count_threads)
    with threadpool_limits(2, "blas"):
        compare(*documents(), **SMALL, excerpts=False)
    assert found == {1}


def test_variants_are_tried_where_no_score_may_rank_all_terms():
    few = ts.Contender("few", "chi2", max_df=40)
    trials = compare(*documents(60, seed=1), scores=[few], cv=3, excerpts=False).trials()
    best = trials.tried[trials.find_best()]
    assert best.classifier == "linear_svm(C=0.25)"
    assert (best.classifier, "all terms", True) in {(one.classifier, one.score, one.is_all) for one in trials.tried}


def test_a_share_as_min_df_is_one_of_the_training_documents():
    share, number = (compare(*documents(90), **SMALL, min_df=least).table for least in (0.3, 18))
    assert share == number != compare(*documents(90), **SMALL, min_df=27).table


def test_what_makes_others_superfluous_is_among_the_terms_that_may_be_ranked():
    texts, labels = ["frequent rare mate", "frequent", "other", "other"] * 15, ["sea", "sea", "sport", "sport"] * 15
    for most, terms in ((None, {"frequent"}), (20, {"mate"})):
        one = ts.Contender("few", "chi2", max_df=most)
        result = compare(texts, labels, scores=[one], classifiers=["multinomial_nb"], ks=[1], cv=3)
        assert {one.term for one in result.near_duplicates} == terms


@pytest.mark.parametrize("train", [[0, 1, 2, 3], [0, 0, 1, 3], [0, 1, 3], [5, 1, 1, 1], [0, 0, 4, 5]])
def test_training_counts_are_those_of_the_training_documents(train):
    texts, labels = documents(6)
    corpus = read_corpus(texts, labels, None, [], 1)
    found = count_training(corpus, Split(0, 0, np.array(train), np.array([4, 5])))
    assert found == ts.Counts.from_matrix(corpus.X[train], corpus.Y[train], classes=corpus.classes)


def test_the_counts_of_a_corpus_are_those_of_its_texts():
    texts, labels = documents(20)
    named = read_corpus(texts, labels, None, [], 1).named_counts
    assert named == ts.count(texts, labels)
    assert named + ts.count(["a1"], ["sea"]) == ts.count([*texts, "a1"], [*labels, "sea"])


def test_a_rule_chooses_by_the_aggregation_of_its_contender():
    texts, labels = documents()
    scores = ts.score(ts.count(texts[:50], [*labels[:20], *["money"] * 30]), "gu")
    orders = {}
    for aggregate in ("max", "sum"):
        one = ts.Contender("one", "gu", aggregate=aggregate, rule='top("all")')
        orders[aggregate] = order_columns(scores, one, None).tolist()
        assert orders[aggregate] == scores.order(aggregate).tolist()
    assert orders["max"] != orders["sum"]


@pytest.mark.parametrize("part", ["train", "test"])
def test_both_parts_must_have_documents(part):
    with pytest.raises(InputError, match=f"must have 'train' and 'test' documents; its values are '{part}'"):
        make_splits(np.array([part, part]), None, 2)


def test_groups_are_shuffled_by_the_seed_and_balanced_where_there_is_one_label():
    groups, labels = np.arange(40) // 4, (np.arange(40) >= 20).astype(int)
    first, second, again = ([one.test.tolist() for one in make_splits(5, None, 40, groups=groups, seed=seed)]
                            for seed in (0, 1, 0))  # fmt: skip
    assert first == again != second
    for known in (labels, None):
        splits = [one for seed in range(5) for one in make_splits(5, known, 40, groups=groups, seed=seed)]
        balanced = all(labels[one.test].mean() == 0.5 for one in splits)
        assert balanced is (known is not None)


def test_the_seed_is_0_without_one():
    usual, given = (make_splits(3, None, 30, **options) for options in ({}, {"seed": 0}))
    assert all(np.array_equal(one.test, other.test) for one, other in zip(usual, given, strict=True))


def test_limits_are_of_occurrences_also_where_scores_see_weights():
    texts, labels = ["ship ship crew crew", "goal goal team team"] * 3, ["sea", "sport"] * 3
    options = {"scores": ["ocfs"], "classifiers": ["multinomial_nb"], "ks": [2], "cv": 3}
    options |= {"weighting": "tfidf", "weigh": "all"}
    limited = compare(texts, labels, **options, min_tf=4)  # their weights add up to less
    assert limited.table == compare(texts, labels, **options).table
    with pytest.raises(InputError, match="No terms are selected by ocfs: of 4 terms"):
        compare(texts, labels, **options, min_tf=5)


def test_a_column_may_say_what_is_training_and_what_is_test():
    texts, labels = documents()
    parts = ["train" if i % 4 else "test" for i in range(len(texts))]
    table = pa.table({"text": texts, "label": labels, "part": parts})
    result = compare(ts.read(table), **{**SMALL, "cv": "part"})
    assert set(result.table["fold"].to_pylist()) == {0}
    same = compare(texts, labels, **{**SMALL, "cv": np.array(parts)})
    assert result.table == same.table


def test_predictions_are_named_rightly_where_training_lacks_the_first_class():
    texts, labels = ["oak", *["ship", "goal"] * 4], ["land", *["sea", "sport"] * 4]
    parts = np.array(["test"] + ["train"] * 4 + ["test"] * 4)
    result = compare(texts, labels, scores=["chi2"], classifiers=["multinomial_nb"], ks=[2], cv=parts)
    recalls = {label: values(result, measure="recall", label=label, k=2) for label in ("land", "sea", "sport")}
    assert recalls == {"land": [0.0], "sea": [1.0], "sport": [1.0]}


def test_groups_stay_together():
    texts, labels = documents(60)
    groups = [i // 6 for i in range(60)]
    alone = compare(texts, labels, **SMALL, groups=groups)
    table = pa.table({"text": texts, "label": labels, "thread": groups})
    assert compare(ts.read(table), **SMALL, groups="thread").table == alone.table
    assert alone.table != compare(texts, labels, **SMALL).table


def test_any_splitter_will_do():
    texts, labels = documents()
    result = compare(texts, labels, **{**SMALL, "cv": ShuffleSplit(2, test_size=0.2, random_state=0)})
    assert result.settings["n_splits"] == 2


def test_several_labels_per_document():
    texts, labels = documents()
    several = [[label, "odd"] if i % 2 else [label] for i, label in enumerate(labels)]
    result = compare(texts, several, **SMALL)
    assert {"", "odd", "sea", "sport", "money"} == set(result.table["label"].to_pylist())
    assert all(0 <= value <= 1 for value in result.table["value"].to_pylist())


def test_one_ranking_and_one_classifier_per_class():
    texts, labels = documents()
    result = compare(texts, labels, **SMALL, per_class=True)
    per_class = values(result, fold=0, score="gu", classifier="multinomial_nb", k=3, measure="f1")
    (mean,) = values(result, fold=0, score="gu", classifier="multinomial_nb", k=3, measure="f1_macro")
    assert len(per_class) == 3
    assert mean == pytest.approx(np.mean(per_class))


def test_a_journal_is_taken_up_where_it_ended(tmp_path):
    texts, labels = documents()
    path = tmp_path / "study.sqlite"
    whole = compare(texts, labels, **SMALL)
    compare(texts, labels, **SMALL, journal=path)
    before = path.read_bytes()
    assert compare(texts, labels, **SMALL, journal=path).table == whole.table
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "named"), [({"seed": 1}, "splits"), ({"ks": [2]}, "ks"), ({"min_df": 2}, "min_df"), ({}, "documents")]
)
def test_a_journal_of_another_study_is_refused(change, named, tmp_path):
    texts, labels = documents()
    compare(texts, labels, **SMALL, journal=tmp_path / "study.sqlite")
    if not change:
        texts = [*texts[:-1], "something else"]
    with pytest.raises(InputError, match=named):
        compare(texts, labels, **{**SMALL, **change}, journal=tmp_path / "study.sqlite")


def test_a_file_that_is_no_journal_is_refused(tmp_path):
    (tmp_path / "x").write_text("this is not a journal, whatever it is named, and it is long enough to be read")
    with pytest.raises(InputError, match="not a journal"):
        compare(*documents(), **SMALL, journal=tmp_path / "x")


SCRIPT = """
import json, sys
from termsieve.study.study import compare
texts, labels, options = json.load(open(sys.argv[1]))
compare(texts, labels, **options, journal=sys.argv[2], threads=2)
"""


def test_a_study_that_is_killed_goes_on_and_gives_the_same_table(tmp_path):
    texts, labels = documents(300)
    options = {**SMALL, "classifiers": ["multinomial_nb", "logistic_regression"], "ks": [1, 2, 3, 5, 8, 13], "cv": 10}
    (tmp_path / "study.json").write_text(json.dumps([texts, labels, options]))
    journal, kills, rng = tmp_path / "study.sqlite", 0, random.Random(1)
    while kills < 3:
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, tmp_path / "study.json", journal])
        before = journal.stat().st_size if journal.exists() else 0
        while process.poll() is None and (not journal.exists() or journal.stat().st_size <= before):
            time.sleep(0.01)
        time.sleep(rng.random() * 0.3)
        if process.poll() is not None:
            break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
    assert kills
    assert compare(texts, labels, **options, journal=journal).table == compare(texts, labels, **options).table


def test_saved_results_come_back(tmp_path):
    result = compare(*documents(), **SMALL)
    result.save(tmp_path / "r.parquet")
    again = Comparison.load(tmp_path / "r.parquet")
    assert again.table == result.table
    assert again.settings == result.settings
    (tmp_path / "x").write_text("no")
    with pytest.raises(InputError, match="not a saved comparison"):
        Comparison.load(tmp_path / "x")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scores": ["bms"]}, "Did you mean 'bns'"),
        ({"scores": []}, "at least one"),
        ({"scores": ["chi2", "chi2"]}, "distinct"),
        ({"classifiers": ["svm"]}, "linear_svm"),
        ({"ks": [0]}, "1 or more"),
        ({"ks": [10, 2**31]}, "2,147,483,647 or less"),
        ({"cv": 1}, "2 or more"),
        ({"cv": 200}, "cannot split"),
        ({"cv": KFold(200)}, r"cv=KFold\(.*\) cannot split these documents: Cannot have number of splits n_splits=200"),
        ({"repeats": 0}, "repeats"),
    ],
)
def test_wrong_options_are_refused(options, said):
    with pytest.raises(OptionError, match=said):
        compare(*documents(), **{**SMALL, **options})


def test_it_is_measured_how_stable_the_recommended_terms_are():
    result = compare(*documents(), **SMALL)
    stable, choice = result.settings["stable_terms"], result.recommended()
    assert (stable["score"], stable["k"]) == (choice.score, choice.k)
    assert max(stable["shares"].values()) <= 1
    assert "stable_terms" not in compare(*documents(), **SMALL, excerpts=False).settings


def test_stable_terms_are_left_out_where_there_are_too_many_documents(monkeypatch):
    for most, measured in ((90, True), (89, False)):
        monkeypatch.setattr(study, "MAX_DOCUMENTS", most)
        assert ("stable_terms" in compare(*documents(90), **SMALL).settings) is measured


def test_training_documents_of_one_class_are_refused_by_name():
    texts, labels = ["good film", "bad film"] * 6, ["pos", "neg"] * 6
    parts = np.array(["train", "test"] * 6)
    for classifier in ("multinomial_nb", "linear_svm"):
        with pytest.raises(InputError, match=r"cannot learn from split 1: .* \(6\) are of the class 'pos'"):
            compare(texts, labels, scores=["chi2"], classifiers=[classifier], ks=[2], cv=parts)


def test_documents_without_terms_are_told():
    with pytest.raises(InputError, match="The 4 documents have no terms: the text column may be the wrong one"):
        compare(["", "!", "?", ""], ["a", "b"] * 2, cv=2)
    with pytest.raises(InputError, match="The 4 documents have no terms: the text column may be the wrong one"):
        ts.train(["", "!", "?", ""], ["a", "b"] * 2, scores="chi2", classifiers="multinomial_nb", ks=2, cv=0)


def test_one_class_is_not_enough():
    with pytest.raises(InputError, match="two classes"):
        compare(["a b", "c d"], ["x", "x"])


def test_whether_the_scores_differ_is_said():
    result = compare(*documents(), scores=["chi2", "doc_freq", "gu"], classifiers=["multinomial_nb"], ks=[3, 6], cv=6)
    found = result.contrast(k=3)
    by_hand = [values(result, score=name, k=3, measure="f1_macro", label="") for name in ("chi2", "doc_freq", "gu")]
    np.testing.assert_array_equal(found.values, np.transpose(by_hand))
    assert "level" in str(found)
    assert sum(result.compared("chi2", "doc_freq", k=3)) == pytest.approx(1)
    with pytest.raises(OptionError, match="Did you mean 'chi2'"):
        result.compared("chi", "gu")
    with pytest.raises(OptionError, match="Nothing was measured"):
        result.contrast(k=4)
