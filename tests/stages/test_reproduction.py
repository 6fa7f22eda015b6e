"""Protocols, settings, tables, claims and worlds, on a small corpus made here."""

from __future__ import annotations

import gzip
import io
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console
from sklearn.metrics import f1_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import normalize
from sklearn.svm import SVC
from typer.testing import CliRunner

from termsieve.cli import app
from termsieve.counts.counts import Counts
from termsieve.errors import InputError, OptionError, OutputError
from termsieve.ranking.ranking import score
from termsieve.reproduction import claims, protocol, show, tables
from termsieve.reproduction.bayes_worlds import BayesRunner
from termsieve.reproduction.claims import VERDICTS
from termsieve.reproduction.contexts import Context, Curves, format_values, make_contexts
from termsieve.reproduction.figures import draw_figure
from termsieve.reproduction.fitted_worlds import DEFAULT_ONLY, FittedRunner
from termsieve.reproduction.grids import TrialLayout
from termsieve.reproduction.margins import CHECKS
from termsieve.reproduction.markdown import format_table
from termsieve.reproduction.measurements import Measurements
from termsieve.reproduction.protocol import PAPERS, Claim, PrintedTable, load_protocol
from termsieve.reproduction.run import Runner, reproduce, run_slice
from termsieve.reproduction.setting import Setting
from termsieve.reproduction.tables import TABLE_KINDS, summarize_nearness
from termsieve.reproduction.worlds import PARTS, PREPARATION, Multiverse, OpenChoice, Reading
from termsieve.scores import parse_score
from termsieve.study.plan import Contender
from termsieve.study.result_files import SCHEMA
from termsieve.study.results import Comparison

CLAIMS = {"gu": ("GU", 12), "ifs": ("IFS", 8), "pip": ("PIP", 21), "imbalanced": ("LP", 7), "ocfs": ("OCFS", 13)}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A folder of corpora with one of three classes, under the name of a known one."""
    folder = tmp_path_factory.mktemp("corpora")
    random = np.random.default_rng(1)
    words = {"sea.ship": "ship crew port tide", "sea.fish": "fish net tide salt", "land": "farm field wheat barn"}
    rows = []
    for i in range(240):
        label = list(words)[i % 3]
        about = [label if random.random() < 0.6 else random.choice(list(words)) for _ in range(3)]
        drawn = [random.choice(words[one].split()) for one in about] + list(random.choice(["the", "day", "time"], 6))
        labels = [label, "land"] if i % 10 == 0 and label != "land" else [label]
        text = f"Newsgroups: x\nFrom: x{i % 7}\n  and more\nSubject: day\n\n" + " ".join(drawn)
        rows.append({"id": str(i), "split": ["train", "train", "test", None][i % 4], "labels": labels, "text": text})
    with gzip.open(folder / "ohsumed_20000.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return folder


@pytest.fixture
def corpora(small, monkeypatch):
    monkeypatch.setenv("TERMSIEVE_DATA", str(small))
    monkeypatch.setattr("termsieve.reproduction.setting._CORPUS_CACHE", {})


def setting(**fields):
    given = {
        "corpus": "ohsumed_20000", "split": {"column": "split"}, "labels": "first",
        "scores": {"CHI": "chi2", "IG": {"score": "info_gain"}}, "classifiers": {"NB": "multinomial_nb"},
        "sizes": [2, 4, 8],
    }  # fmt: skip
    return Setting.from_dict("small", {**given, **fields})


def tiny_protocol(**fields):
    base = load_protocol("imbalanced")
    given = {
        "settings": {"small": setting()},
        "tables": [
            PrintedTable("t", "Table", "measures", {"NB": {"CHI": 0.9, "IG": 0.5}},
                    where={"group": "small", "size": 4, "measure": "f1_micro"})
        ],
        "claims": [Claim("S-1", "CHI leads.", "order", {"order": [["CHI"]], "measure": "f1_micro"})],
        "multiverse": Multiverse("product", ()),
        "figures": [protocol.Figure("Figure 1", "F1", "small", "NB", "f1_micro")],
        "slice": {"small": {"scores": ["CHI"], "classifiers": ["NB"], "sizes": [2], "measures": ["f1_micro"]}},
        "errata": [], "findings": [],
    }  # fmt: skip
    return replace(base, **{**given, **fields})


# Protocols


@pytest.mark.parametrize("name", PAPERS)
def test_every_protocol_is_whole(name):
    paper = load_protocol(name)
    prefix, number = CLAIMS[name]
    assert [claim.id for claim in paper.claims] == [f"{prefix}-{i + 1}" for i in range(number)]
    assert {claim.check for claim in paper.claims} <= {*CHECKS, "cited"}
    assert {table.kind for table in paper.tables} <= set(TABLE_KINDS)
    assert set(paper.slice) <= set(paper.settings)
    for one in paper.settings.values():
        assert one.plan.names == list(one.scores)
    for figure in paper.figures:
        if figure.kind != "curves":
            continue
        assert any(figure.classifier in one.classifiers for one in paper.groups[figure.group])
    for choice in paper.multiverse.choices:
        assert choice.part in (PREPARATION, *PARTS)
        assert not choice.readings[0].change, "the default comes first"
        assert all(reading.because for reading in choice.readings)
    for used in paper.multiverse.settings or paper.settings:
        layout = TrialLayout(paper.multiverse, paper.settings[used])
        assert layout.needed[0].any()
        assert len({json.dumps(one.settings) for one in layout.contenders}) == len(layout.contenders)


def test_all_claims_of_the_papers_are_there():
    assert sum(len(load_protocol(name).claims) for name in PAPERS) == 61


def test_printed_numbers_are_those_of_the_papers():
    """Against the list of all printed numbers, where it is at hand."""
    path = Path(os.environ.get("TERMSIEVE_DATA", "")).parent / "spec" / "published_results.json"
    if not path.exists():
        assert not os.environ.get("CI"), f"{path} is missing"
        pytest.skip("the list of printed numbers is not here")
    printed = json.loads(path.read_text(encoding="utf-8"))
    pip = {(t.id, t.where["prefix"]): t.cells for t in load_protocol("pip").tables if t.kind == "measures"}
    assert len(pip) == 4
    for (table, data), cells in pip.items():
        said = printed["PIP"]["tables"][table][data]
        assert cells == {row: {c: float(v.strip("'")) for c, v in columns.items()} for row, columns in said.items()}
    lp = next(t for t in load_protocol("imbalanced").tables if t.kind == "measures")
    assert lp.cells == {r: {c: float(v) for c, v in cs.items()} for r, cs in printed["LP"]["tables"][lp.id].items()}
    overlaps = next(t for t in load_protocol("ocfs").tables if t.kind == "overlaps")
    said = printed["OCFS"]["tables"][overlaps.id]
    assert overlaps.cells == {r: {c: int(v) for c, v in cs.items()} for r, cs in said.items()}
    terms = next(t for t in load_protocol("ocfs").tables if t.kind == "differing terms")
    said = printed["OCFS"]["tables"][terms.id]
    assert terms.cells == {name: {"10d": ", ".join(found)} for name, found in said.items()}
    gains = next(t for t in load_protocol("imbalanced").tables if t.kind == "gains")
    for row, name in (("micro_F1", "stated_micro_gains"), ("macro_F1", "stated_macro_gains")):
        assert gains.cells[row] == {c: float(v.strip("%")) for c, v in printed["LP"]["numbers"][name].items()}
    iris = next(t for t in load_protocol("ocfs").tables if t.kind == "iris")
    means = {r: [float(v) for v in printed["OCFS"]["iris_example"][r]] for r in ("m1", "m2", "m3", "m", "s")}
    assert {r: list(cs.values()) for r, cs in iris.cells.items()} == means
    assert {r: [str(v) for v in cs.values()] for r, cs in iris.cells.items()}["s"] == printed["OCFS"]["iris_example"][
        "s"
    ]


def test_unknown_papers_and_fields_are_explained():
    with pytest.raises(OptionError, match="Did you mean 'pip'"):
        load_protocol("pipp")
    with pytest.raises(OptionError, match="unknown field 'sises'"):
        setting(sises=[1])


# Settings


@pytest.mark.usefixtures("corpora")
def test_labels_and_classes():
    assert len(setting().select_documents().texts) == 240
    assert {len(one) for one in setting(labels="all").select_documents().labels} == {1, 2}
    copies = setting(labels="copies").select_documents()
    assert {len(one) for one in copies.labels} == {1}
    assert len(copies.texts) == 240 + sum(len(one) == 2 for one in setting(labels="all").select_documents().labels)
    assert {one[0] for one in setting(level=".").select_documents().labels} == {"sea", "land"}
    assert {one[0] for one in setting(classes=["land"]).select_documents().labels} == {"land"}
    assert len({one[0] for one in setting(classes=2).select_documents().labels}) == 2
    assert len(setting(only_parts=["train", "test"]).select_documents().texts) == 180
    with pytest.raises(InputError, match="no documents of air"):
        setting(classes=["air"]).select_documents()


@pytest.mark.usefixtures("corpora")
def test_samples_are_drawn_by_the_seed():
    drawn = setting(sample={"land": 10, "sea.ship": 20}).select_documents()
    assert sorted(one[0] for one in drawn.labels) == ["land"] * 10 + ["sea.ship"] * 20
    assert drawn == setting(sample={"land": 10, "sea.ship": 20}).select_documents()
    assert drawn != setting(sample={"land": 10, "sea.ship": 20}, seed=1).select_documents()
    with pytest.raises(InputError, match=r"1,000 documents of 'land' were requested, but there are 80"):
        setting(sample={"land": 1000}).select_documents()


@pytest.mark.usefixtures("corpora")
def test_headers_can_be_left_out():
    whole, some, body = (
        setting(**given).select_documents().texts[0]
        for given in ({}, {"without_headers": ["newsgroups", "From"]},
                      {"without_headers": ["*"], "with_headers": ["Subject"]})
    )  # fmt: skip
    assert whole.startswith("Newsgroups:")
    assert some.startswith("Subject: day\n\n")
    assert "and more" not in some
    assert body.startswith("Subject: day\n\n")


@pytest.mark.usefixtures("corpora")
def test_splits():
    assert [len(s.test) for s in setting().study().splits] == [60]
    assert len(setting(split={"folds": 5}).study().splits) == 5
    halves = setting(split={"test": 0.5, "times": 3}).study().splits
    assert [len(s.test) for s in halves] == [120, 120, 120]
    with pytest.raises(OptionError, match="'column', 'folds' or 'test'"):
        setting(split={"third": 1}).study()


def test_changes_merge_tables_and_remove_entries():
    changed = setting(analyzer={"stop_words": "smart"}).with_changes(
        {"analyzer": {"stop_words": "", "min_length": 3}, "split": {"folds": 3}, "scores": {"IG": "bns"}}
    )
    assert changed.analyzer == {"min_length": 3}
    assert changed.split == {"folds": 3}
    assert changed.contenders == [Contender("CHI", "chi2"), Contender("IG", "bns")]


# A whole run


def two_choices(**fields):
    stop = OpenChoice("stop", "?", [Reading("no", "x"), Reading("yes", "x", {"analyzer": {"stop_words": "smart"}})])
    prior = OpenChoice(
        "prior", "?", [Reading("share", "x"), Reading("same", "x", {"classifiers": {"NB": {"fit_prior": False}}})]
    )
    return Multiverse("product", [stop, prior], splits=2, **fields)


@pytest.mark.usefixtures("corpora")
def test_a_protocol_runs_and_goes_on_where_it_stopped(tmp_path):
    lines = []
    tiny = tiny_protocol(settings={"small": setting(split={"folds": 3})}, multiverse=two_choices())
    found = reproduce(tiny, Runner(tmp_path, 1, lines.append, progress=False))
    assert [cell["column"] for cell in found["cells"]] == ["CHI", "IG"]
    assert found["near"]["as printed"]["cells"] == 2
    (claim,) = found["claims"]
    assert claim["verdict"] in VERDICTS
    assert 0 <= claim["share"] <= 1
    assert {"decided_by", "null"} <= set(claim)
    assert found["multiverse"]["worlds"] == 4
    assert len(lines) == 1 + 2 * 2 + 1
    journals = {path: path.read_bytes() for path in tmp_path.glob("*.journal")}
    again = reproduce(tiny, Runner(tmp_path, 1, progress=False))
    assert {path: path.read_bytes() for path in tmp_path.glob("*.journal")} == journals
    assert [again[key] for key in ("cells", "claims", "figures", "slice")] == [
        found[key] for key in ("cells", "claims", "figures", "slice")
    ]
    assert run_slice(tiny, 1) == found["slice"]


@pytest.mark.usefixtures("corpora")
def test_a_run_is_shown_and_written(tmp_path):
    console = Console(record=True, width=150, file=io.StringIO())
    show.run_and_show(tiny_protocol(), Runner(tmp_path, 1), into=tmp_path / "new", console=console)
    text = console.export_text()
    assert "CHI leads." in text
    assert "Of 2 measured cells, as printed" in text
    written = json.loads((tmp_path / "new" / "imbalanced.json").read_text(encoding="utf-8"))
    assert written["cells"][0]["printed"] == 0.9
    assert not list(tmp_path.glob("new/*.tmp*"))


def test_missing_corpora_are_named_before_anything_is_run(tmp_path, monkeypatch):
    monkeypatch.setenv("TERMSIEVE_DATA", str(tmp_path))
    with pytest.raises(InputError, match="termsieve datasets get ohsumed_20000"):
        show.run_and_show(tiny_protocol(), Runner(tmp_path / "journals"), console=Console(quiet=True))
    assert not (tmp_path / "journals").exists()


def by_hand(study, weigh, model, *, drop=False):
    """Micro F1 with four terms by chi-square, weighed and judged step by step."""
    split, corpus = study.splits[0], study.corpus
    X, y = corpus.X.toarray().astype(float), np.array(corpus.classes)[corpus.single_labels]
    counts = Counts.from_matrix(X[split.train], y[split.train])
    order = score(counts, "chi2").order()
    order = order[counts.term_df[order] > 0][:4]
    n = counts.term_df.astype(float)
    idf = np.log(len(split.train) / np.maximum(n, 1) + 0.1) * (n > 0)
    if weigh == "all":
        X = normalize(X * idf)[:, order]
    else:
        X = normalize((X * (idf if weigh else 1.0))[:, order]) if weigh else X[:, order]
    train, test = (part[X[part].any(axis=1)] if drop else part for part in (split.train, split.test))
    return f1_score(y[test], model.fit(X[train], y[train]).predict(X[test]), average="micro")


@pytest.mark.usefixtures("corpora")
@pytest.mark.parametrize(
    ("options", "spelling", "model", "weigh", "drop"),
    [
        ({}, "multinomial_nb", MultinomialNB(), None, False),
        ({"drop_empty": True}, "multinomial_nb", MultinomialNB(), None, True),
        ({"weighting": "tfidf_lp"}, "libsvm", SVC(kernel="linear"), "selected", False),
        ({"weighting": "tfidf_lp"}, "multinomial_nb", MultinomialNB(), "selected", False),
        ({"weighting": "tfidf_lp", "weigh": "all"}, "libsvm", SVC(kernel="linear"), "all", False),
    ],
)
def test_a_study_weighs_and_drops_as_it_would_be_done_by_hand(options, spelling, model, weigh, drop):
    study = setting(options=options, classifiers={"M": spelling}, scores={"CHI": "chi2"}, sizes=[4]).study()
    rows = study.run_all(threads=1, progress=False).table.to_pylist()
    (ours,) = (row["value"] for row in rows if row["measure"] == "f1_micro")
    assert ours == pytest.approx(by_hand(study, weigh, model, drop=drop), abs=1e-12)


@pytest.mark.usefixtures("corpora")
def test_one_classifier_for_each_class_on_one_list():
    study = setting(options={"one_vs_rest": True}, scores={"CHI": "chi2"}, sizes=[4]).study()
    split, corpus = study.splits[0], study.corpus
    order = study_order(study)
    X, Y = corpus.X[:, order].toarray(), corpus.Y.toarray()
    predicted = [MultinomialNB().fit(X[split.train], Y[split.train, c]).predict(X[split.test]) for c in range(3)]
    rows = study.run_all(threads=1, progress=False).table.to_pylist()
    (ours,) = (row["value"] for row in rows if row["measure"] == "f1_micro")
    assert ours == pytest.approx(f1_score(Y[split.test], np.array(predicted).T, average="micro"))


def study_order(study):
    counts = Counts.from_matrix(study.corpus.X[study.splits[0].train], study.corpus.Y[study.splits[0].train],
                                classes=study.corpus.classes)  # fmt: skip
    order = score(counts, "chi2").order()
    return order[counts.term_df[order] > 0][:4]


@pytest.mark.usefixtures("corpora")
def test_frequent_terms_can_be_kept_from_a_contender():
    given = {"ALL": "doc_freq", "FEW": {"score": "doc_freq", "max_tf": 60}}
    measured = Measurements(tiny_protocol(settings={"small": setting(scores=given)}), {}, 1)
    tf = dict(zip(measured.study("small").corpus.terms.to_pylist(),
                  np.asarray(measured.study("small").corpus.X[measured.study("small").splits[0].train].sum(axis=0)).ravel(),
                  strict=True))  # fmt: skip
    assert max(tf[term] for term in measured.ranking("small", "FEW")) <= 60 < tf[measured.ranking("small", "ALL")[0]]


@pytest.mark.usefixtures("corpora")
def test_copies_of_a_document_stay_together():
    study = setting(labels="copies", split={"test": 0.5, "times": 3}).study()
    view = setting(labels="copies").select_documents()
    for split in study.splits:
        train, test = ({view.sources[i] for i in part} for part in (split.train, split.test))
        assert len(train) + len(test) == 240
        assert not train & test


@pytest.mark.usefixtures("corpora")
def test_the_first_label_is_the_first_of_the_classes_asked_for():
    kept = setting(classes=["land"], labels="first").select_documents()
    assert len(kept.texts) == sum("land" in one for one in setting(labels="all").select_documents().labels)


def test_contenders_keep_the_fields_that_are_not_changed():
    given = {"A": {"score": "pip", "max_tf": 30}}
    changed = setting(scores=given).with_changes({"scores": {"A": {"score": "bns"}}})
    assert changed.contenders == [Contender("A", "bns", max_tf=30)]


def test_fresh_runs_forget_journals_and_nothing_else(tmp_path):
    folder = tmp_path / "imbalanced"
    folder.mkdir()
    (folder / "letter.txt").write_text("keep me")
    old = [folder / "old.journal", folder / "worlds" / "old.npy", folder / "sampled" / "old.npz"]
    for path in old:
        path.parent.mkdir(exist_ok=True)
        path.write_text("no journal")
    assert show.prepare_journals(tiny_protocol(), tmp_path, fresh=True) == folder
    assert (folder / "letter.txt").read_text() == "keep me"
    assert not any(path.exists() for path in old)


@pytest.mark.usefixtures("corpora")
def test_places_that_cannot_be_written_are_named_before_anything_is_run(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be created"):
        show.run_and_show(tiny_protocol(), Runner(tmp_path), into=tmp_path / "file" / "in", console=Console(quiet=True))
    assert not list(tmp_path.glob("*.journal"))


def test_optional_settings_are_left_out_where_their_corpora_are_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("TERMSIEVE_DATA", str(tmp_path))
    more = Setting.from_dict("more", {**setting().data, "group": "more", "optional": True})
    assert list(tiny_protocol(settings={"small": setting(), "more": more}).without_missing_corpora().settings) == [
        "small"
    ]


def test_misspelled_fields_of_claims_are_refused():
    with pytest.raises(OptionError, match="unknown field 'slak'"):
        protocol._separate_where({"id": "X-1", "says": "", "check": "order", "slak": 0}, Claim)


def test_the_command_shows_a_paper_and_names_its_mistakes(corpora, tmp_path, monkeypatch):
    monkeypatch.setattr("termsieve.reproduction.protocol.load_protocol", lambda _: tiny_protocol())
    run = CliRunner().invoke
    done = run(app, ["reproduce", "imbalanced", "--into", str(tmp_path), "--journals", str(tmp_path), "--threads", "1"])
    assert done.exit_code == 0
    assert "CHI leads." in done.stdout.replace("\n", " ")
    assert (tmp_path / "imbalanced.json").exists()
    monkeypatch.undo()
    wrong = run(app, ["reproduce", "pipp"])
    assert "Did you mean 'pip'" in str(wrong.exception)


# Tables


def test_nearness_counts_gaps_and_exchanged_rows():
    cells = [
        {"ours": 0.52, "printed": 0.5, "printed_exchanged": 0.9, "scale": 1},
        {"ours": 83.0, "printed": 80.0, "scale": 100},
        {"ours": 7, "printed": 9},
    ]
    near = summarize_nearness(cells)
    assert near["as printed"] == {
        "cells": 2, "within 0.02": 1, "within 0.03": 2, "within 0.05": 2, "mean difference": 0.025,
    }  # fmt: skip
    assert near["rows exchanged"]["within 0.05"] == 1
    lost = [
        {"ours": 0.96, "printed": 0.9, "printed_to": 0.99, "scale": 1},
        {"ours": 0.87, "printed": 0.9, "printed_to": 0.99, "scale": 1},
    ]
    assert summarize_nearness(lost)["as printed"]["mean difference"] == pytest.approx(0.015)


@pytest.mark.usefixtures("corpora")
def test_tables_of_every_kind():
    tiny = tiny_protocol(settings={"small": setting(options={"min_tf": 3})})
    measured = Measurements(tiny, {"small": tiny.settings["small"].study().run_all(threads=1, progress=False)}, 1)

    def cells(kind, printed, **where):
        found = tables.make_cells(measured, [PrintedTable("t", "T", kind, printed, where=where)])
        return {(cell["row"], cell["column"]): cell["ours"] for cell in found}

    shared = cells("overlaps", {"CHI vs IG": {"2d": 2, "8d": 8}})
    assert 0 <= shared["CHI vs IG", "2d"] <= 2
    facts = cells("facts", {"small": {"documents": 1, "training documents": 1, "classes": 3, "documents of: land": 1,
                                      "words more frequent than: 100000": 0, "removed words": 0}})  # fmt: skip
    assert facts["small", "documents"] == 240
    assert facts["small", "training documents"] == 120
    assert facts["small", "documents of: land"] == 80
    assert facts["small", "words more frequent than: 100000"] == 0
    gains = cells(
        "gains", {"micro": {"IG": 1}}, of="CHI", size=4, rows={"micro": {"classifier": "NB", "measure": "f1_micro"}}
    )
    curves = measured.curves("small", "NB", "f1_micro")
    values = dict(zip(curves.scores, curves.values.mean(axis=0)[:, curves.sizes.index(4)], strict=True))
    assert gains["micro", "IG"] == pytest.approx(values["CHI"] - values["IG"])
    terms = cells("differing terms", {"CHI": {"2d": "x"}, "IG": {"2d": "y"}}, size=2)
    assert all(len(said.split(", ")) <= 2 for said in terms.values())


def test_iris_is_that_of_the_paper():
    table = next(t for t in load_protocol("ocfs").tables if t.kind == "iris")
    ours = TABLE_KINDS["iris"](None, table)
    for row, columns in table.cells.items():
        for column, printed in columns.items():
            close = abs(ours(row, column)[0] - printed) < 6e-5
            assert close == ((row, column) != ("s", "4"))
    assert ours("s", "4")[0] == pytest.approx(1.6121, abs=5e-5)


# Claims: each kind passes where it should, and fails where it should


def measured_of(curves, sizes=(10, 100), measure="f1_micro"):
    """Results that are given: score to values by size."""
    scores = {name: parse_score("chi2").spelling for name in curves}
    one = Setting.from_dict("small", {**setting().data, "scores": scores, "sizes": list(sizes)})
    rows = [
        (0, 0, name, "multinomial_nb", k, "", measure, v)
        for name, vs in curves.items()
        for k, v in zip(sizes, vs, strict=True)
    ]
    table = pa.table([pa.array(c, f.type) for c, f in zip(zip(*rows, strict=True), SCHEMA, strict=True)], schema=SCHEMA)
    return Measurements(tiny_protocol(settings={"small": one}), {"small": Comparison(table, {}, {})})


CURVES = {"A": (0.5, 0.9), "B": (0.4, 0.8), "C": (0.1, 0.799)}


@pytest.mark.parametrize(
    ("check", "where", "holds"),
    [
        ("order", {"order": [["A"], ["B"]]}, True),
        ("order", {"order": [["B"], ["A"]]}, False),
        ("order", {"order": [["B"]]}, False),
        ("order", {"order": [["B"], ["C"]], "best": False}, True),
        ("order", {"order": [["B", "A"]]}, True),
        ("last", {"scores": ["C"]}, True),
        ("last", {"scores": ["B"]}, False),
        ("above at every size", {"score": "A"}, True),
        ("above at every size", {"score": "B"}, False),
        ("above at every size", {"score": "B", "over": ["C"]}, True),
        ("near the best", {"score": "B", "within": 0.1000001}, True),
        ("near the best", {"score": "B", "within": 0.05}, False),
        ("near the best", {"score": "B", "within": 0.05, "places": 2}, True),
        ("near the best", {"score": "C", "within": 0.05, "places": 2}, False),
        ("often the best", {"score": "A", "least": 1.0}, True),
        ("often the best", {"score": "B", "least": 0.5}, False),
        ("order", {"order": [["A"], ["B"], ["C"]], "area": True}, True),
        ("order", {"order": [["A"], ["C"], ["B"]], "slack": 0.0}, False),
        ("order", {"order": [["A"]], "pooled": True}, True),
        ("alike", {"scores": ["B", "C"], "within": 0.31}, True),
        ("alike", {"scores": ["B", "C"], "within": 0.1}, False),
        ("best size", {"score": "A", "size": 100}, True),
        ("best size", {"score": "A", "size": 10}, False),
        ("largest gain", {"score": "A", "size": 10}, True),
        ("largest gain", {"score": "A", "size": 100}, False),
        ("spread shrinks", {}, True),
        ("wins", {"scores": ["A"], "at_least": 1, "size": 100}, True),
        ("wins", {"scores": ["B"], "at_least": 1, "size": 100}, False),
        ("wins", {"scores": ["A"], "exactly": 0, "size": 100}, False),
        ("gain", {"score": "A", "size": 100, "within": 0.01, "printed": {"B": 0.1}}, True),
        ("gain", {"score": "A", "size": 100, "within": 0.01, "printed": {"B": 0.2}}, False),
    ],
)
def test_checks_on_curves(check, where, holds):
    claim = Claim("X-1", "It is so.", check, {"measure": "f1_micro", **where})
    (found,) = claims.judge_claims(measured_of(CURVES), [claim])
    assert (found["verdict"] == "holds") is holds
    assert found["evidence"]


class ThreeCases:
    """Measurements of one group with three classifiers: A is best with two of them."""

    groups = ("small",)

    def classifiers(self, group):
        return ["one", "two", "three"]

    def curves(self, group, model, measure):
        return Curves(["A", "B"], [10, 100], np.array([[[0.5, 0.9], [0.4, 1.5 if model == "three" else 0.8]]]))


@pytest.mark.parametrize(("enough", "word"), [({}, "partly"), ({"enough": 3}, "partly"), ({"enough": 2}, "holds")])
def test_a_claim_holds_in_all_cases_or_in_as_many_as_are_enough(enough, word):
    margins = CHECKS["order"](ThreeCases(), {"measure": "f1_micro", "order": [["A"], ["B"]]})
    assert margins.cases == ["one", "two", "three"]
    cases = claims.decide_cases(margins, np.zeros(3))
    assert [case.decided for case in cases] == ["yes", "yes", "no"]
    assert claims.give_verdict(cases, enough.get("enough", 3))[0] == word


def test_contexts_are_pooled_by_their_means():
    (pooled,) = make_contexts(ThreeCases(), {"measure": "f1_micro", "pooled": True})
    assert pooled.name == "mean over 3 cases"
    assert pooled.of("B").ravel().tolist() == pytest.approx([0.4, 3.1 / 3])
    assert list(pooled.best_first(pooled.average())) == ["B", "A"]
    assert format_values(pooled.best_first(pooled.values[..., 1])) == "B 1.033, A 0.900"


class SeveralCases:
    """Two groups, of which the second has fewer replicates and other sizes, in no order."""

    groups = ("small", "large")

    def classifiers(self, group):
        return ["one", "two"] if group == "small" else ["one"]

    def curves(self, group, model, measure):
        sizes, n = ([10, 20, 50, 100], 3) if group == "small" else ([1000, 100, 20, 10], 2)
        values = np.array(
            [[[k / 1000 + replicate + 10 * s for k in sizes] for s in range(2)] for replicate in range(n)]
        )
        return Curves(["A", "B"], sizes, values)


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ({"measure": "f1_macro"}, ["small, one", "small, two", "large"]),
        ({"measure": "f1_macro", "group": "small"}, ["one", "two"]),
        ({"measure": "f1_macro", "classifier": "one"}, ["small", "large"]),
        ({"measure": "f1_macro", "group": "large"}, ["f1_macro"]),
        ({"measures": ["f1_macro", "accuracy"], "group": "large"}, ["f1_macro", "accuracy"]),
        (
            {"measures": ["f1_macro", "accuracy"], "groups": ["small", "large"], "classifiers": ["two"]},
            ["small, f1_macro", "small, accuracy", "large, f1_macro", "large, accuracy"],
        ),
    ],
)
def test_contexts_are_named_by_what_differs(where, names):
    assert [one.name for one in make_contexts(SeveralCases(), where)] == names


@pytest.mark.parametrize("sizes", [[20, 50], [50, 20], [11, 99]])
def test_a_context_has_the_sizes_that_are_asked_for_and_both_ends(sizes):
    (context,) = make_contexts(
        SeveralCases(), {"measure": "f1_macro", "group": "small", "classifier": "one", "sizes": sizes}
    )
    assert context.sizes == [20, 50]
    assert context.of("B", "A")[1].tolist() == [[11.02, 11.05], [1.02, 1.05]]


def test_pooled_contexts_have_the_sizes_and_replicates_that_all_have():
    (pooled,) = make_contexts(SeveralCases(), {"measure": "f1_macro", "pooled": True})
    assert pooled.sizes == [10, 20, 100]
    assert pooled.values.shape == (2, 2, 3)
    assert pooled.of("A")[0, 0].tolist() == pytest.approx([0.01, 0.02, 0.1])


def test_the_best_score_of_a_context_has_the_highest_mean_over_replicates():
    context = Context("x", ["A", "B", "C"], [10], np.zeros((4, 3, 1)))
    values = np.array([[0.9, 0.6, 0.1], [0.1, 0.6, 0.1], [0.1, 0.5, 0.4], [0.1, 0.5, 0.8]])
    found = context.best_first(values)
    assert list(found) == ["B", "C", "A"]
    assert list(found.values()) == pytest.approx([0.55, 0.35, 0.3])
    assert context.others(["B"]) == ["A", "C"]
    with pytest.raises(OptionError, match=r"There is no score 'D'[.] Scores: A, B, C"):
        context.of("A", "D")


def test_the_area_weighs_sizes_by_their_distance():
    context = Context("x", ["A", "B"], [10, 30, 110], np.array([[[0.5, 0.7, 0.9], [0.9, 0.7, 0.6]]]))
    assert context.average()[0].tolist() == pytest.approx([0.7, 2.2 / 3])
    assert context.average(area=True)[0].tolist() == pytest.approx([(0.6 * 20 + 0.8 * 80) / 100, 0.68])
    one = Context("x", ["A"], [10], np.array([[[0.5]]]))
    assert one.average(area=True)[0].tolist() == [0.5]


def split_measurements(gaps):
    """A and B in one split for each gap: A is ahead by it."""
    rows = [
        (0, fold, name, "multinomial_nb", k, "", "f1_micro", 0.5 + (gap if name == "A" else 0.0))
        for fold, gap in enumerate(gaps) for name in ("A", "B") for k in (10, 100)
    ]  # fmt: skip
    table = pa.table([pa.array(c, f.type) for c, f in zip(zip(*rows, strict=True), SCHEMA, strict=True)], schema=SCHEMA)
    one = Setting.from_dict("small", {**setting().data, "scores": {"A": "chi2", "B": "bns"}, "sizes": [10, 100]})
    return Measurements(tiny_protocol(settings={"small": one}), {"small": Comparison(table, {"test_ratio": 0.25}, {})})


@pytest.mark.parametrize(
    ("gaps", "check", "word"),
    [
        ([0.10, 0.11, 0.09, 0.10], "order", "holds"),
        ([-0.10, -0.11, -0.09, -0.10], "order", "does not hold"),
        ([0.10, -0.09, 0.08, -0.07], "order", "undecided"),
        ([0.020, 0.021, 0.019, 0.020], "alike", "does not hold"),
        ([0.02, -0.03, 0.03, 0.01], "alike", "holds"),
    ],
)
def test_verdicts_are_by_sampling_error(gaps, check, word):
    where = {"order": [["A"], ["B"]], "scores": ["A", "B"], "within": 0.005, "measure": "f1_micro"}
    (found,) = claims.judge_claims(split_measurements(gaps), [Claim("X-1", "It is so.", check, where)])
    assert found["verdict"] == word, found


def test_a_citation_is_no_claim():
    (found,) = claims.judge_claims(measured_of(CURVES), [Claim("X-1", "Others say so.", "cited", note="Not theirs.")])
    assert found == {"id": "X-1", "verdict": "not a claim", "evidence": "Not theirs."}


# Worlds


@pytest.mark.usefixtures("corpora")
@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize(
    "spelling", ["multinomial_nb", "bernoulli_nb", "poisson_nb(alpha=0.1)", 'vocabulary_nb(total="all")']
)
def test_worlds_of_naive_bayes_have_what_a_study_has(spelling, per_class, tmp_path):
    """Shared counts, rankings and sums give what each world gives by itself: words left out, another prior."""
    options = {"per_class": True} if per_class else {"one_vs_rest": True}
    base = setting(
        split={"folds": 3}, options=options, classifiers={"NB": spelling}, scores={"CHI": "chi2", "GU": "gu(min_df=1)"}
    )
    words = OpenChoice(
        "words", "?", [Reading("all", "x"), Reading("few", "x", {"options": {"without_words": "smart"}})]
    )
    rare = OpenChoice("rare", "?", [Reading("kept", "x"), Reading("out", "x", {"options": {"min_df": 20}})])
    z = OpenChoice("z", "?", [Reading("rates", "x"), Reading("counts", "x", {"scores": {"GU": {"z": "counts"}}})])
    both = Multiverse("product", [words, rare, z], splits=2)
    grid = BayesRunner(tmp_path).run(both, base)
    assert grid.values.shape[:3] == (4, 2, 3)
    world = np.array([[1, 1, 1]])
    change = {
        "analyzer": {"stop_words": "smart"},
        "options": {"min_df": 20},
        "scores": {"GU": 'gu(z="counts", min_df=1)'},
    }
    rows = base.with_changes(change).study().run_all(threads=1, progress=False).table.to_pylist()
    for measure in ("f1_macro", "precision_macro", "recall_macro"):
        ours = grid.gather(world, "NB", measure)[0]
        for row in rows:
            if row["label"] == "" and row["measure"] == measure and row["fold"] < 2:
                at = grid.layout.names.index(row["score"]), grid.layout.sizes.index(row["k"])
                assert ours[(row["fold"], *at)] == pytest.approx(row["value"], abs=1e-6)
    again = BayesRunner(tmp_path).run(both, base)
    np.testing.assert_allclose(again.values, grid.values, atol=1e-6)


@pytest.mark.usefixtures("corpora")
def test_a_published_split_is_sampled(tmp_path):
    base = setting(options={"drop_empty": True}, classifiers={"SVM": "libsvm"})
    grid = FittedRunner(tmp_path).run(DEFAULT_ONLY, base)
    rows = base.study().run_all(threads=1, progress=False).table.to_pylist()
    ours = grid.gather(np.zeros((1, 0), int), "SVM", "f1_micro")[0]
    assert len(ours) == 201
    for row in rows:
        if row["label"] == "" and row["measure"] == "f1_micro":
            at = grid.layout.names.index(row["score"]), grid.layout.sizes.index(row["k"])
            assert ours[(0, *at)] == pytest.approx(row["value"])
            assert 0 < ours[(slice(1, None), *at)].std() < 0.2
    np.testing.assert_array_equal(FittedRunner(tmp_path).run(DEFAULT_ONLY, base).values, grid.values)


def test_an_orthogonal_design_is_balanced():
    choices = [
        OpenChoice(f"c{i}", "?", [Reading("a", "x"), Reading("b", "x", {"seed": i})], crossed=i == 5) for i in range(6)
    ]
    worlds = Multiverse("orthogonal", choices).worlds
    assert len(worlds) == 16
    assert not worlds[0].any()
    for a in range(6):
        for b in range(a):
            _, times = np.unique(worlds[:, [a, b]], axis=0, return_counts=True)
            assert times.tolist() == [4, 4, 4, 4]
    three = OpenChoice("d", "?", [Reading(n, "x", {"seed": 1}) for n in "abc"])
    with pytest.raises(OptionError, match="two readings"):
        _ = Multiverse("orthogonal", [three]).worlds
    with pytest.raises(OptionError, match="one part"):
        _ = OpenChoice("e", "?", [Reading("a", "x", {"seed": 1, "scores": {}})]).part


@pytest.mark.usefixtures("corpora")
def test_shuffled_names_take_away_what_is_true(tmp_path):
    """Of three scores one is far worse: the claim holds in all worlds, and in a third of them by luck."""
    given = {"CHI": "chi2", "IG": "info_gain", "WF": "doc_freq"}
    tiny = tiny_protocol(
        settings={"small": setting(scores=given, split={"folds": 3}, sizes=[2, 4])}, multiverse=two_choices(),
        claims=[Claim("S-1", "WF is last.", "last", {"scores": ["WF"], "measure": "f1_micro"})],
    )  # fmt: skip
    (claim,) = reproduce(tiny, Runner(tmp_path, 1, progress=False))["claims"]
    assert claim["share"] == 1.0
    assert claim["decided_by"] == "nothing"
    assert 0.15 < claim["null"]["share"] < 0.55
    assert claim["null"]["as_high"] == claim["null"]["share"]


@pytest.mark.usefixtures("corpora")
def test_shares_have_an_interval_over_splits_or_samples(tmp_path):
    claim = Claim("S-1", "CHI leads.", "order", {"order": [["CHI"]], "measure": "f1_micro"})
    model = {"NB": 'linear_svm(solver="liblinear")'}
    stop = OpenChoice("stop", "?", [Reading("no", "x"), Reading("yes", "x", {"analyzer": {"stop_words": "smart"}})])
    for fields, splits, kind in (
        ({"split": {"folds": 3}}, 3, "splits"), ({"classifiers": model}, 1, "samples of the test documents"),
    ):  # fmt: skip
        tiny = tiny_protocol(
            settings={"small": setting(**fields)}, multiverse=Multiverse("product", [stop], splits), claims=[claim]
        )
        found = reproduce(tiny, Runner(tmp_path, 1, progress=False))
        assert found["multiverse"]["replicates"] == [splits if splits > 1 else 200, kind]
        low, high = found["claims"][0]["interval"]
        assert 0 <= low <= high <= 1
        assert found["multiverse"]["held"]["null"]["shuffles"] == 2, "all orders of two names"


@pytest.mark.usefixtures("corpora")
def test_claims_on_rankings_are_judged_where_a_choice_can_change_them(tmp_path):
    claim = Claim("S-1", "All frequent words are high.", "frequent terms are high",
                  {"score": "doc_freq", "cuts": {"small": 200}, "high": 1, "choices": ["stop"]})  # fmt: skip
    tiny = tiny_protocol(settings={"small": setting(split={"folds": 3})}, multiverse=two_choices(), claims=[
        claim, Claim("S-2", "CHI leads.", "order", {"order": [["CHI"]], "measure": "f1_micro"})])  # fmt: skip
    first, _ = reproduce(tiny, Runner(tmp_path, 1, progress=False))["claims"]
    assert (first["verdict"], first["share"], first["decided_by"]) == ("holds", 1.0, "nothing")


@pytest.mark.usefixtures("corpora")
def test_claims_about_classifiers_of_the_default_alone_have_no_share(tmp_path):
    slow = replace(setting(split={"folds": 3}, classifiers={"binary": "bernoulli_nb"}), name="slow", group="small")
    where = {"order": [["CHI"]], "measure": "f1_micro", "best": True}
    tiny = tiny_protocol(
        settings={"small": setting(split={"folds": 3}), "slow": slow},
        multiverse=two_choices(settings=["small"]),
        claims=[Claim("S-1", "CHI leads.", "order", {**where, "classifier": "binary"}),
                Claim("S-2", "CHI leads with both.", "order", where)],
    )  # fmt: skip
    found = reproduce(tiny, Runner(tmp_path, 1, progress=False))
    first, second = found["claims"]
    assert first["share"] is None
    assert first["decided_by"].startswith("not run in worlds")
    assert second["share"] is not None
    assert found["multiverse"]["held"]["claims"] == 1


def test_a_family_is_as_good_as_its_best_member():
    curves = {"A": (0.5, 0.5), "B": (0.1, 0.1), "C": (0.4, 0.9)}
    where = {"order": [["family"]], "families": {"family": ["B", "C"]}, "measure": "f1_micro"}
    (found,) = claims.judge_claims(measured_of(curves), [Claim("X-1", "It is so.", "order", where)])
    assert found["verdict"] == "holds"
    where = {**where, "families": {"family": ["A", "B"]}}
    (found,) = claims.judge_claims(measured_of(curves), [Claim("X-1", "It is so.", "order", where)])
    assert found["verdict"] == "does not hold"


def test_spread_that_grows_does_not_shrink():
    claim = Claim("X-1", "It is so.", "spread shrinks", {"measure": "f1_micro"})
    (found,) = claims.judge_claims(measured_of({"A": (0.5, 0.9), "B": (0.5, 0.1)}), [claim])
    assert found["verdict"] == "does not hold"


@pytest.mark.parametrize(
    ("check", "where", "verdict"),
    [
        ("bounded", {"score": "ifs", "low": 0, "high": 1}, "holds"),
        ("bounded", {"score": "chi2", "low": 0, "high": 1}, "does not hold"),
        ("zero when equally present", {"score": "ifs"}, "holds"),
        ("zero when equally present", {"score": "odds_ratio"}, "does not hold"),
        ("iris features", {"features": [3, 1]}, "does not hold"),
        ("iris features", {"features": [3, 4]}, "holds"),
        ("order", {"group": "gone", "why": "It is gone."}, "cannot be checked"),
        ("all of", {"parts": [{"check": "bounded", "score": "ifs", "low": 0, "high": 1}]}, "holds"),
        (
            "all of",
            {
                "parts": [
                    {"check": "iris features", "features": [3, 4]},
                    {"check": "bounded", "score": "chi2", "low": 0, "high": 1},
                ]
            },
            "partly",
        ),
    ],
)
def test_checks_on_scores_alone(check, where, verdict):
    (found,) = claims.judge_claims(measured_of(CURVES), [Claim("X-1", "It is so.", check, where)])
    assert found["verdict"] == verdict


@pytest.mark.usefixtures("corpora")
def test_checks_on_rankings_and_time():
    tiny = tiny_protocol()
    measured = Measurements(tiny, {"small": tiny.settings["small"].study().run_all(threads=1, progress=False)}, 1)
    asked = [
        ("shared terms", {"pairs": [["CHI", "CHI"]], "at": [2, 4], "least": 1.0}, True),
        ("shared terms", {"pairs": [["CHI", "IG"]], "at": [2], "most": -0.1}, False),
        ("differing terms", {"scores": ["CHI", "CHI"], "size": 3, "exactly": 0}, True),
        ("differing terms", {"scores": ["CHI", "IG"], "size": 3, "exactly": 3}, False),
        ("time ratio", {"score": "CHI", "most": 1e9}, True),
        ("time ratio", {"score": "CHI", "most": 1e-9}, False),
        ("linear cost", {"scores": ["chi2"], "most": 9.0}, True),
        ("linear cost", {"scores": ["chi2"], "most": -9.0}, False),
        ("frequent terms are high", {"score": "doc_freq", "cuts": {"small": 200}, "high": 1}, True),
        ("frequent terms are high", {"score": "doc_freq", "cuts": {"small": 200}, "high": 1e9}, False),
        ("lower", {"low": "f1_micro", "high": "f1_micro", "by": 0.0}, True),
        ("lower", {"low": "f1_micro", "high": "f1_micro", "by": 0.1}, False),
    ]
    for check, where, holds in asked:
        (found,) = claims.judge_claims(measured, [Claim("X-1", "It is so.", check, where)])
        assert (found["verdict"] == "holds") is holds, (check, found)


def test_unknown_checks_are_refused():
    with pytest.raises(OptionError, match="unknown check 'guess'"):
        claims.judge_claims(measured_of(CURVES), [Claim("X-1", "It is so.", "guess")])


# The page


def test_figures_are_drawn():
    curves = {"kind": "curves", "measure": "f1_macro", "curves": {"A": [[10, 0.5], [100, 0.7]]}}
    bars = {"kind": "seconds", "bars": {"A": 0.5, "B": 0.25}}
    shares = {"kind": "class shares", "bars": {"A": 5, "B": 2}}
    points = {"kind": "iris", "points": [["class 1", 1.0, 2.0], ["class 2", 2.0, 1.0]]}
    readings = [{"choice": "case", "reading": "kept", "of": 2, "shares": [0.5, 1.0]}]
    curve = {"claims": 3, "default": 2, "levels": [1, 2], "worlds": [30, 2], "readings": readings, "null": [0.9, 0.1]}
    worlds = {"kind": "worlds", "curve": curve}
    marks = ("macro F1", "CPU seconds", "documents", "length of the petals", "claims that hold, of 3")
    for figure, mark in zip((curves, bars, shares, points, worlds), marks, strict=True):
        svg = draw_figure({"title": "F1 <of> all", **figure})
        assert svg.startswith("<svg")
        assert mark in svg
        assert "F1 &lt;of&gt; all" in svg


def test_tables_escape_what_would_break_them():
    assert format_table(["a"], [["x|y\nz"]]).splitlines()[-1] == "| x\\|y z |"
