"""``train`` and ``predict``."""

import csv
import json
import re
from itertools import chain

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, brier_score_loss, f1_score
from sklearn.preprocessing import MultiLabelBinarizer

import termsieve as ts
from termsieve.cli.agreement import LabelAgreement
from termsieve.model import Model

SPAM = ["cheap pills now", "buy cheap watches", "cheap cheap offer now", "buy pills offer", "watches offer now"]
HAM = ["meeting at noon", "lunch at noon", "meeting moved to ten", "lunch with the team", "the team at ten"]
FIXED = ["--score", "chi2", "-k", "8", "--classifier", "multinomial_nb"]


@pytest.fixture
def mail(tmp_path):
    path = tmp_path / "mail.csv"
    rows = [f"{i},{text},spam" for i, text in enumerate(SPAM)] + [f"{i + 5},{text},ham" for i, text in enumerate(HAM)]
    path.write_text("\n".join(["number,body,folder", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def model(mail, tmp_path, typed):
    target = tmp_path / "m.skops"
    code, _, err = typed("train", mail, *FIXED, "--cv", "2", "-o", target)
    assert code == 0, err
    return target


def rows_of(out):
    return list(csv.DictReader(out.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))


def test_train_says_what_was_chosen_and_how_good_it_is(mail, tmp_path, typed):
    target = tmp_path / "m.skops"
    code, out, err = typed("train", mail, "--score", "gu,chi2", "-k", "4,8,all", "--cv", "2", "-o", target, "-v")
    assert code == 0, err
    made = Model.load(target).settings
    [said] = rows_of(out)
    assert (said["score"], said["rule"], said["classifier"]) == (made["score"], made["rule"], made["classifier"])
    assert float(said["f1_macro"]) == made["f1_macro"]
    assert int(said["candidates"]) == len(made["candidates"]) == 12  # 2 classifiers x 2 scores x 3 sizes
    assert err.count("±") == 12
    assert f"written to {target}" in err


def test_train_for_people(mail, tmp_path, typed):
    _, out, _ = typed("train", mail, "--cv", "2", "-o", tmp_path / "m.skops", "--format", "table")
    assert "cross-validated in 2 splits" in " ".join(out.split())
    assert "Too little to say: class 'ham' has 5 documents" in " ".join(out.split())
    assert re.search(r"chosen among \d+ that were tried", " ".join(out.split()))
    assert "calibration on 10 held-out documents; Brier score 0." in " ".join(out.split())
    plain = ["--cv", "0", "--calibrate", "0", "-o", tmp_path / "m.skops", "--format", "table"]
    _, out, _ = typed("train", mail, *FIXED, *plain)
    assert out == "multinomial_nb on count of 8 terms (top(8) by chi2), 2 classes\n"


def test_predict_labels_as_the_model_does(model, mail, typed):
    code, out, err = typed("predict", model, mail)
    assert code == 0
    assert err == "text from the column 'body'\n"  # remembered from training
    found = rows_of(out)
    made = Model.load(model)
    assert [row["label"] for row in found] == made.predict([*SPAM, *HAM])
    chances = made.predict_proba([*SPAM, *HAM]).max(axis=1)
    assert [float(row["probability"]) for row in found] == pytest.approx(chances, abs=1e-6)
    assert [int(row["line"]) for row in found] == list(range(2, 12))  # the first is the header


def test_predict_hands_on_names_and_all_probabilities(model, mail, typed):
    _, out, _ = typed("predict", model, mail, "--id", "number", "--probabilities", "--format", "json")
    found = json.loads(out)
    assert [row["number"] for row in found] == [str(i) for i in range(10)]
    assert all(row["p_ham"] + row["p_spam"] == pytest.approx(1, abs=1e-5) for row in found)


def test_predict_explains(model, mail, typed):
    _, out, _ = typed("predict", model, mail, "--explain", "--top", "2", "--format", "json")
    for row, [why] in zip(json.loads(out), Model.load(model).explain([*SPAM, *HAM], n=2), strict=True):
        assert row["against"] == why.against
        assert row["because"] == [[part.term, round(part.part, 6)] for part in why.parts]
    _, out, _ = typed("predict", model, mail, "--explain", "--format", "table")
    assert "cheap +" in out
    assert "cheap pills now" in out
    assert "without terms" not in out


def test_predict_says_when_the_terms_alone_had_another_label(tmp_path, typed):
    # "blue" speaks for b, which is so rare that a is more probable
    texts, labels = ["green"] * 18 + ["blue"] * 2 + ["blue green"] * 2, ["a"] * 20 + ["b"] * 2
    made = ts.train(texts, labels, scores="chi2", ks=2, classifiers="multinomial_nb", cv=0, calibrate=0)
    [[why]] = made.explain(["blue"])
    assert (why.label, why.margin > 0, why.margin - why.rest < 0) == ("a", True, True)
    made.save(tmp_path / "m.skops")
    (tmp_path / "new.csv").write_text("text\nblue\ngreen\n", encoding="utf-8")
    _, out, _ = typed("predict", tmp_path / "m.skops", tmp_path / "new.csv", "--explain", "--format", "table")
    assert f"blue {why.parts[0].part:+.2f}  without terms {why.rest:+.2f}" in out
    assert out.count("without terms") == 1


def test_predict_says_how_well_labels_agree(model, mail, typed):
    _, _, err = typed("predict", model, mail, "--label", "folder")
    assert "against the labels in 'folder': macro F1 1.000, accuracy 1.000, 10 documents" in err
    found = Model.load(model).predict_proba([*SPAM, *HAM])
    expected = brier_score_loss(["spam"] * 5 + ["ham"] * 5, found[:, 1], pos_label="spam")
    assert f"probabilities: Brier score {expected:.4f}, expected calibration error" in err


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("bcd")), min_size=1))
def test_agreement_is_that_of_scikit_learn(pairs):
    known, said = zip(*pairs, strict=True)
    checked = LabelAgreement()
    checked.add([[one] for one in known], said)
    assert checked.f1() == pytest.approx(f1_score(known, said, average="macro"))
    assert f"accuracy {accuracy_score(known, said):.3f}" in checked.describe("x")[0]


@given(st.lists(st.tuples(st.sets(st.sampled_from("abc")), st.sets(st.sampled_from("abc"))), min_size=1))
def test_agreement_of_several_labels_is_that_of_scikit_learn(pairs):
    names = sorted({name for both in pairs for some in both for name in some})
    assume(len(names) > 1)  # scikit-learn takes one column for two classes
    known, said = (MultiLabelBinarizer(classes=names).fit_transform(part) for part in zip(*pairs, strict=True))
    checked = LabelAgreement()
    checked.add([sorted(a) for a, _ in pairs], [sorted(b) for _, b in pairs])
    assert checked.f1() == pytest.approx(f1_score(known, said, average="macro"))
    assert f"accuracy {accuracy_score(known, said):.3f}" in checked.describe("x")[0]


def test_a_table_shows_the_first_but_all_are_checked(model, tmp_path, typed):
    path = tmp_path / "many.csv"
    lines = chain(["body,folder"], (f"{SPAM[0]},spam" for _ in range(150)))
    path.write_text("\n".join(lines), encoding="utf-8")
    _, out, err = typed("predict", model, path, "--format", "table", "--label", "folder")
    assert out.count(SPAM[0]) == 100
    assert "... and more" in out
    assert "150 documents" in err


def test_a_file_has_all_labels(model, tmp_path, typed):
    path = tmp_path / "many.csv"
    path.write_text("\n".join(["body", *([SPAM[0], HAM[0]] * 120)]), encoding="utf-8")
    code, out, err = typed("predict", model, path, "-o", tmp_path / "labels.txt")
    assert (code, out) == (0, "")
    assert f"written to {tmp_path / 'labels.txt'}" in err
    assert (tmp_path / "labels.txt").read_text("utf-8") == "spam\nham\n" * 120
    assert typed("predict", model, path, "-f", "txt")[1] == "spam\nham\n" * 120
    assert typed("predict", model, path, "-f", "table", "-o", tmp_path / "table.txt")[0] == 0
    assert (tmp_path / "table.txt").read_text("utf-8").count(SPAM[0]) == 120


def test_text_files_are_labelled_line_by_line(model, tmp_path, typed):
    (tmp_path / "new.txt").write_text("cheap pills\n\nlunch at noon\n", encoding="utf-8")
    _, out, _ = typed("predict", model, tmp_path / "new.txt")
    assert [row["label"] for row in rows_of(out)] == ["spam", "ham"]


def test_labels_carry_the_line_of_the_input(model, tmp_path, typed):
    """They carried the number of the document among those that were kept: a join gave labels to other texts."""
    data = f'body,part\n{SPAM[0]},1\nragged\n\n"{HAM[0]}\n\n{HAM[1]}",1\n{HAM[2]},2\n{SPAM[1]},1\n'
    (tmp_path / "x.csv").write_text(data, encoding="utf-8")
    code, out, err = typed("predict", model, tmp_path / "x.csv", "--split", "part=1")
    assert code == 0
    assert [(row["line"], row["label"]) for row in rows_of(out)] == [("2", "spam"), ("5", "ham"), ("9", "spam")]
    assert "skipped 1 bad row (line 3)" in err
    _, out, err = typed("predict", model, tmp_path / "x.csv", "--split", "part=1", "--format", "table")
    assert [line.split()[0] for line in out.splitlines() if "spam" in line or "ham" in line] == ["2", "5", "9"]
    assert "skipped 1 bad row (line 3)" in err


def test_labels_carry_the_file_where_there_are_several(model, tmp_path, typed):
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "x.jsonl").write_text(f'\n{{"body": "{SPAM[0]}"}}\n', encoding="utf-8")
    pq.write_table(pa.table({"body": [HAM[0]]}), tmp_path / "x.parquet")
    _, out, _ = typed("predict", model, tmp_path / "x.jsonl", tmp_path / "x.parquet", "--format", "json")
    found = [(row["file"], row["line"], row["row"], row["label"]) for row in json.loads(out)]
    assert found == [(str(tmp_path / "x.jsonl"), 2, None, "spam"), (str(tmp_path / "x.parquet"), None, 1, "ham")]
    _, out, _ = typed("predict", model, tmp_path / "x.parquet", "--format", "json")
    assert [list(row)[:2] for row in json.loads(out)] == [["row", "label"]]
    for name in ("a", "b"):
        (tmp_path / "root" / name).mkdir(parents=True)
        (tmp_path / "root" / name / "1.txt").write_text(SPAM[0], encoding="utf-8")
    _, out, _ = typed("predict", model, tmp_path / "root", "--format", "json")
    assert [row["file"] for row in json.loads(out)] == [str(tmp_path / "root" / name / "1.txt") for name in "ab"]
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"{SPAM[0]}\n\n{HAM[0]}\n", encoding="utf-8")
    _, out, _ = typed("predict", model, tmp_path / "a.txt", tmp_path / "b.txt", "--format", "json")
    assert [(row["file"], row["line"]) for row in json.loads(out)] == [
        (str(tmp_path / name), line) for name in ("a.txt", "b.txt") for line in (1, 3)
    ]


def test_a_column_to_hand_on_may_have_the_name_of_a_place(model, tmp_path, typed):
    (tmp_path / "x.csv").write_text(f"body,line,label\n{SPAM[0]},first,x\n", encoding="utf-8")
    _, out, _ = typed("predict", model, tmp_path / "x.csv", "--id", "line", "--format", "json")
    assert list(json.loads(out)[0].items())[:2] == [("input_line", 2), ("line", "first")]
    code, _, err = typed("predict", model, tmp_path / "x.csv", "--id", "label")
    assert code == 2
    assert "--id label: the output has a column of that name" in err


def test_several_labels(tmp_path, typed):
    path = tmp_path / "x.jsonl"
    rows = [{"text": text, "labels": ["spam"]} for text in SPAM] + [{"text": text, "labels": ["ham"]} for text in HAM]
    rows += [{"text": f"{a} {b}", "labels": ["spam", "ham"]} for a, b in zip(SPAM, HAM, strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert typed("train", path, *FIXED, "--cv", "2", "-o", tmp_path / "m.skops")[0] == 0
    _, out, err = typed("predict", tmp_path / "m.skops", path, "-e", "--label", "labels", "--format", "json")
    found = json.loads(out)
    assert [row["label"] for row in found] == Model.load(tmp_path / "m.skops").predict([row["text"] for row in rows])
    assert all(row["because"].keys() == set(row["label"]) for row in found)
    assert all(len(row["probability"]) == len(row["label"]) for row in found)
    assert "15 documents" in err
    assert typed("predict", tmp_path / "m.skops", path, "-e", "--format", "table")[0] == 0


def test_what_a_model_cannot_do_is_told_first(mail, tmp_path, typed):
    target = tmp_path / "m.skops"
    typed("train", mail, "-s", "chi2", "-k", "8", "-c", "linear_svm", "--cv", "0", "--calibrate", "0", "-o", target)
    for option in (["--probabilities"], ["--min-confidence", "0.5"]):
        code, out, err = typed("predict", target, mail, *option)
        assert (code, out) == (2, "")
        assert "linear_svm has none of its own" in err
        assert "--calibrate 0" in err
    assert "probability" not in typed("predict", target, mail)[1]


def test_options_of_the_analyzer_are_kept(mail, tmp_path, typed):
    target = tmp_path / "m.skops"
    typed("train", mail, *FIXED, "--cv", "0", "-o", target, "--stop-words", "english", "--ngrams", "2")
    settings = Model.load(target).settings["analyzer"]
    assert ts.Analyzer.from_settings(settings) == ts.Analyzer(stop_words="english", ngram_range=(1, 2))


def test_what_is_not_sure_enough_has_no_label(mail, tmp_path, typed):
    model = tmp_path / "m.skops"
    typed("train", mail, *FIXED, "--cv", "0", "--calibrate", "0", "-o", model)
    made = Model.load(model)
    chances = made.predict_proba([*SPAM, *HAM]).max(axis=1)
    limit = sorted(chances)[5]
    options = ["--min-confidence", repr(float(limit)), "--label", "folder", "--format", "json"]
    code, out, err = typed("predict", model, mail, *options)
    assert code == 0
    found = json.loads(out)
    assert [row["label"] for row in found] == made.predict([*SPAM, *HAM], min_confidence=limit)
    empty = sum(row["label"] is None for row in found)
    assert 0 < empty < 10
    assert [row["note"] for row in found] == ["not sure enough" if row["label"] is None else "" for row in found]
    assert [row["probability"] for row in found] == pytest.approx(chances, abs=1e-6)
    assert f"{empty} of 10 documents ({empty}0 %) have no label: nothing as probable as" in err
    assert f"answered {10 - empty} of 10 (coverage 0.{10 - empty}00), accuracy of these 1.000" in err
    assert typed("predict", model, mail, "--min-confidence", "1", "-f", "txt")[1] == "\n" * 10
    table = typed("predict", model, mail, "--min-confidence", "1", "-e", "-f", "table")
    assert table[0] == 0
    assert table[1].count("(not sure enough)") == 10


def test_texts_with_none_of_the_terms_are_told(model, tmp_path, typed):
    (tmp_path / "new.csv").write_text("body\nzzz\ncheap\n", encoding="utf-8")
    _, out, err = typed("predict", model, tmp_path / "new.csv", "--explain", "--format", "json")
    unknown, known = json.loads(out)
    assert (unknown["note"], unknown["probability"], unknown["because"]) == ("none of the model's terms", 0.5, [])
    assert (known["note"], known["because"][0][0]) == ("", "cheap")
    assert "1 of 2 documents (50 %) has none of the model's terms" in err
    for options in ([], ["--explain"]):
        assert "none of the model's terms" in typed("predict", model, tmp_path / "new.csv", *options, "-f", "table")[1]
