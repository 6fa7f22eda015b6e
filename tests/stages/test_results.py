"""Results: one file for all of it, and what is recommended."""

import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pages.samples import documents, plain_result

import termsieve as ts
from termsieve.classify.curves import predict_curve
from termsieve.errors import InputError, OptionError, OutputError
from termsieve.evaluate.significance import correlated_t
from termsieve.study import split_data
from termsieve.study.journal import DUALITY_GAP, find_largest_gaps
from termsieve.study.result_files import DIGITS, MARK, SCHEMA, add_checksum, is_saved
from termsieve.study.results import Comparison


def table_of(means, folds=(-0.02, 0.0, 0.02)):
    rows = [
        (0, fold, score, model, k, "", "f1_macro", mean + noise)
        for fold, noise in enumerate(folds)
        for (score, model, k), mean in means.items()
    ]
    return pa.table(dict(zip(SCHEMA.names, zip(*rows, strict=True), strict=True)), schema=SCHEMA)


def test_a_comparison_knows_what_it_counted():
    texts, labels = documents()
    result = plain_result()
    assert result.counts == ts.count(texts, labels)
    assert result.excerpts
    assert result.settings["origin"] == {"files": []}
    assert [result.settings[name] for name in ("cv", "groups", "repeats", "seed")] == [3, None, 1, 0]


def test_excerpts_may_be_left_out():
    texts, labels = documents(60)
    result = ts.compare(texts, labels, scores=["gu"], classifiers=["multinomial_nb"], ks=[2], cv=2, excerpts=False)
    assert result.excerpts == {}
    assert result.counts is not None


def test_all_of_it_comes_back_from_one_file(tmp_path):
    result = plain_result()
    result.save(tmp_path / "result.parquet")
    assert [file.name for file in tmp_path.iterdir()] == ["result.parquet"]
    again = Comparison.load(tmp_path / "result.parquet")
    assert again.table == result.table
    assert again.counts == result.counts
    assert again.excerpts == result.excerpts
    assert again.settings == result.settings
    assert again.seconds == result.seconds
    assert again.near_duplicates == result.near_duplicates != []


@pytest.mark.parametrize("per_class", [False, True])
def test_the_largest_duality_gap_of_all_solutions_is_kept(per_class, tmp_path, monkeypatch):
    gaps = []

    def predict_and_note(*arguments):
        found = predict_curve(*arguments)
        gaps.extend([] if found.gaps is None else found.gaps.tolist())
        return found

    monkeypatch.setattr(split_data, "predict_curve", predict_and_note)
    texts, labels = documents(60)
    options = {"scores": ["chi2", "gu"], "classifiers": ["multinomial_nb", "linear_svm"], "ks": [2, 5], "cv": 2}
    result = ts.compare(texts, labels, **options, per_class=per_class, journal=tmp_path / "journal", excerpts=False)
    assert result.settings["duality_gaps"] == {"linear_svm": max(gaps)}
    assert 0 < max(gaps) <= 1e-8
    assert f"linear_svm: {max(gaps):.1e}." in result.describe_gaps()
    assert not [one for one in result.table["measure"].unique().to_pylist() if "gap" in one]
    result.save(tmp_path / "result.parquet")
    assert Comparison.load(tmp_path / "result.parquet").describe_gaps() == result.describe_gaps()
    gaps.clear()
    again = ts.compare(texts, labels, **options, per_class=per_class, journal=tmp_path / "journal", excerpts=False)
    assert not gaps  # nothing was solved again
    assert again.settings["duality_gaps"] == result.settings["duality_gaps"]


def test_a_gap_that_is_not_known_of_every_trial_is_not_told():
    trials = [[0, fold, "chi2", "linear_svm", 5, "", "f1_macro", 0.5] for fold in (0, 1)]
    gaps = [[0, fold, "chi2", "linear_svm", 5, "", DUALITY_GAP, 1e-9 * (1 + fold)] for fold in (0, 1)]
    assert find_largest_gaps([*trials, *gaps]) == {"linear_svm": 2e-9}
    assert find_largest_gaps([*trials, gaps[0]]) == {}
    assert plain_result().describe_gaps() == ""


def test_any_reader_of_parquet_sees_the_table(tmp_path):
    plain_result().save(tmp_path / "result.parquet")
    assert pq.read_table(tmp_path / "result.parquet").replace_schema_metadata(None) == plain_result().table
    assert pq.read_schema(tmp_path / "result.parquet").metadata == {b"termsieve": b"comparison"}


def test_a_file_that_is_no_result_or_half_of_one_is_refused(tmp_path):
    pq.write_table(plain_result().table, tmp_path / "plain.parquet")
    plain_result().save(tmp_path / "whole.parquet")
    content = (tmp_path / "whole.parquet").read_bytes()
    (tmp_path / "half.parquet").write_bytes(content[: len(content) // 2])
    for name in ("plain.parquet", "half.parquet"):
        with pytest.raises(InputError, match="not a saved comparison"):
            Comparison.load(tmp_path / name)
    with pytest.raises(InputError, match=r"missing\.parquet: cannot be read: No such file"):
        Comparison.load(tmp_path / "missing.parquet")


ABOUT = {"settings": {"n_splits": 3}, "seconds": {}, "excerpts": {}}


def by_hand(table, facts):
    """The bytes of a file with that content; the checksum fits."""
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({**facts, "termsieve.checksum": (MARK + b"0" * DIGITS).decode()})
    return add_checksum(sink.getvalue().to_pybytes())


def test_a_file_by_hand_is_read(tmp_path):
    (tmp_path / "x.parquet").write_bytes(by_hand(plain_result().table, {"termsieve.about": json.dumps(ABOUT)}))
    assert Comparison.load(tmp_path / "x.parquet").table == plain_result().table


def value_is(value):
    return lambda table: table.set_column(7, "value", pa.array([value, *table["value"].to_pylist()[1:]], pa.float64()))


def has(**changed):
    return {**ABOUT, "settings": {"n_splits": 3, **changed}}


@pytest.mark.parametrize(
    ("about", "change", "said"),
    [
        ([], None, "indices must be integers"),
        ("nothing", None, "indices must be integers"),
        ({}, None, "settings"),
        ({**ABOUT, "settings": None}, None, "not iterable"),
        ({**ABOUT, "settings": []}, None, "how many splits"),
        (has(n_splits="three"), None, "'n_splits' is 'three'"),
        (has(n_splits=True), None, "'n_splits' is True"),
        (has(origin=7), None, "'origin' is 7"),
        (has(scores=7), None, "'scores' is 7"),
        (has(min_df=None), None, "'min_df' is None"),
        ({**ABOUT, "seconds": {"a": "long"}}, None, "seconds are not numbers"),
        ({**ABOUT, "seconds": {"a": float("nan")}}, None, "seconds are not numbers"),
        ({**ABOUT, "excerpts": {"a": 1}}, None, "excerpts of 'a'"),
        ({**ABOUT, "excerpts": {"a": [["too", "short"]]}}, None, "excerpts of 'a'"),
        ({**ABOUT, "excerpts": {"a": [["l", "b", "m", 4]]}}, None, "excerpts of 'a'"),
        (ABOUT, lambda table: table.drop_columns(["k"]), "its columns are"),
        (ABOUT, lambda table: table.set_column(4, "k", table["k"].cast(pa.string())), "its columns are"),
        (ABOUT, lambda table: table.slice(0, 0), "no row with the f1_macro"),
        (ABOUT, value_is(float("nan")), "not numbers"),
        (ABOUT, value_is(float("inf")), "not numbers"),
        (ABOUT, value_is(None), "empty cells"),
        (ABOUT, lambda table: table.slice(1), "not of the same scores, classifiers and numbers of terms"),
        (ABOUT, lambda table: pa.concat_tables([table, table]), "there twice"),
        (ABOUT, lambda table: table.take(pa.array(range(table.num_rows))[::-1]), None),
        (ABOUT, lambda table: table.sort_by("k"), "not in the same order"),
        (
            ABOUT,
            lambda table: table.filter((pc.field("score") != "gu") | (pc.field("fold") > 0)),
            "not of the same scores",
        ),
        (has(n_terms="many"), None, "'n_terms' is 'many'"),
        (has(margin="small"), None, "'margin' is 'small'"),
        (has(duality_gaps=1e-9), None, "'duality_gaps' is 1e-09"),
        (has(duality_gaps={"linear_svm": "small"}), None, "duality gaps are not numbers"),
        (has(duality_gaps={"linear_svm": float("nan")}), None, "duality gaps are not numbers"),
        ({**ABOUT, "near_duplicates": [["a", "b"]]}, None, "missing"),
        ({**ABOUT, "near_duplicates": [["a", "b", 4, 3, 0.5, 0.1, 0.1]]}, None, "near-duplicates have"),
        ({**ABOUT, "near_duplicates": [["a", "b", 4, 3, 0.75, 0.1, float("inf")]]}, None, "near-duplicates have"),
        ({**ABOUT, "near_duplicates": [["a", 7, 4, 3, 0.75, 0.1, 0.1]]}, None, "near-duplicates have"),
        (ABOUT, lambda table: table.set_column(4, "k", pc.negate(table["k"])), "negative"),
    ],
)
def test_a_damaged_result_is_refused(about, change, said, tmp_path):
    table = plain_result().table if change is None else change(plain_result().table)
    (tmp_path / "x.parquet").write_bytes(by_hand(table, {"termsieve.about": json.dumps(about)}))
    if said is None:  # another order of the same
        assert Comparison.load(tmp_path / "x.parquet").table == table
        return
    with pytest.raises(InputError, match=rf"x\.parquet: is not a saved comparison, or is damaged: .*({said})"):
        Comparison.load(tmp_path / "x.parquet")


def groups_are(*groups):
    return {**ABOUT, "term_groups": [list(group) for group in groups]}


def test_groups_of_terms_come_back(tmp_path):
    about = groups_are((["ship", "sail"], [1, 2], [1.0, 0.0]))
    (tmp_path / "x.parquet").write_bytes(by_hand(plain_result().table, {"termsieve.about": json.dumps(about)}))
    [group] = Comparison.load(tmp_path / "x.parquet").term_groups
    assert tuple(group) == (["ship", "sail"], [1, 2], [1.0, 0.0])


@pytest.mark.parametrize(
    "group",
    [
        (["ship"], [1], [1.0]),
        (["ship", "sail"], [1, 2], [1.0]),
        (["ship", "sail"], [1], [1.0, 0.5]),
        (["ship", 7], [1, 2], [1.0, 0.5]),
        (["ship", "sail"], [1, 0], [1.0, 0.5]),
        (["ship", "sail"], [1, 2.0], [1.0, 0.5]),
        (["ship", "sail"], [1, 2], [1.0, 1.1]),
        (["ship", "sail"], [1, 2], [1.0, -0.1]),
        (["ship", "sail"], [1, 2], [1.0, "0.5"]),
    ],
)
def test_groups_of_terms_that_cannot_be_are_refused(group, tmp_path):
    about = json.dumps(groups_are(group))
    (tmp_path / "x.parquet").write_bytes(by_hand(plain_result().table, {"termsieve.about": about}))
    with pytest.raises(InputError, match="its groups of terms have"):
        Comparison.load(tmp_path / "x.parquet")


def test_metadata_has_a_limit(tmp_path, monkeypatch):
    plain_result().save(tmp_path / "x.parquet")
    monkeypatch.setattr("termsieve.study.result_files._MAX_METADATA_BYTES", 1000)
    with pytest.raises(InputError, match="not a saved comparison"):
        Comparison.load(tmp_path / "x.parquet")


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("scores", [{}]),
        ("classifiers", [None]),
        ("ks", [1.5]),
        ("notes", [3]),
        ("origin", {"files": None}),
        ("origin", {"counts": [3]}),
        ("stable_terms", {"score": None}),
        ("stable_terms", {"k": "x"}),
        ("stable_terms", {"shares": None}),
        ("stable_terms", {"shares": {"a": 2}}),
    ],
)
def test_settings_that_no_page_can_show_are_refused(name, given, tmp_path):
    result = plain_result()
    changed = Comparison(result.table, {**result.settings, name: given}, result.seconds)
    changed.save(tmp_path / "x.parquet")
    with pytest.raises(InputError, match="not a saved comparison"):
        Comparison.load(tmp_path / "x.parquet")


def test_a_small_file_of_many_rows_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "x.parquet"
    about = {"termsieve.about": json.dumps(ABOUT)}
    row = plain_result().table.slice(0, 1)
    many = row.take(pa.array(np.zeros(1 << 16, np.int64)))
    long = many.set_column(5, "label", pa.DictionaryArray.from_arrays(np.zeros(len(many), np.int32), ["x" * (1 << 18)]))
    path.write_bytes(by_hand(long, about))
    assert path.stat().st_size < 1_000_000
    with pytest.raises(InputError, match=r"texts of 262,144 bytes in 65,536 rows"):
        Comparison.load(path)
    path.write_bytes(by_hand(many, about))
    monkeypatch.setattr("termsieve.study.result_files._MAX_ROWS", 1000)
    with pytest.raises(InputError, match="65,536 rows; at most 1,000 are read"):
        Comparison.load(path)


def test_an_altered_result_is_refused_before_arrow_sees_it(tmp_path, monkeypatch):
    path = tmp_path / "x.parquet"
    plain_result().save(path)
    assert is_saved(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    monkeypatch.setattr("pyarrow.parquet.ParquetFile", None)
    with pytest.raises(InputError, match="its checksum is wrong"):
        Comparison.load(path)
    pq.write_table(plain_result().table, path)
    assert not is_saved(path)
    assert not is_saved(tmp_path / "nothing.parquet")
    with pytest.raises(InputError, match="it has no checksum"):
        Comparison.load(path)


def test_only_measures_of_all_classes_are_taken():
    for name in ("f1", "recall", "f1_makro"):
        with pytest.raises(OptionError, match="Measured of all classes: accuracy, precision_micro"):
            plain_result().best(name)
    with pytest.raises(OptionError, match="Did you mean 'f1_macro'"):
        plain_result().summary("f1_makro")


@pytest.mark.parametrize(("counts", "said"), [("AAAA", "counts file"), ("?", "or is damaged")])
def test_counts_that_were_altered_are_refused(counts, said, tmp_path):
    facts = {"termsieve.about": json.dumps(ABOUT), "termsieve.counts": counts}
    (tmp_path / "x.parquet").write_bytes(by_hand(plain_result().table, facts))
    with pytest.raises(InputError, match=said):
        Comparison.load(tmp_path / "x.parquet")


@pytest.mark.skipif(os.name == "nt", reason="folders have no such modes there")
def test_a_result_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "result.parquet"
    plain_result().save(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OutputError, match="no space left"):
        plain_result().save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["result.parquet"]


def test_repetitions_count_when_two_scores_are_compared():
    rng = np.random.default_rng(0)
    rows = [
        (repeat, fold, score, "nb", 10, "", "f1_macro", rng.normal(mean, 0.05))
        for repeat in range(3) for fold in range(4) for score, mean in (("gu", 0.8), ("chi2", 0.78))
    ]  # fmt: skip
    table = pa.table(dict(zip(SCHEMA.names, zip(*rows, strict=True), strict=True)), schema=SCHEMA)
    first, second = (table.filter(pc.field("score") == name)["value"].to_numpy() for name in ("gu", "chi2"))
    found = Comparison(table, {"n_splits": 12}, {}).compared("gu", "chi2", k=10)
    assert found == correlated_t(first, second, repeats=3)
    assert found != correlated_t(first, second, repeats=1)


@pytest.mark.parametrize(("classifier", "k"), [("linear_svm", 5), (None, 3), (None, "5"), (7, 5)])
def test_scores_are_not_compared_by_what_was_not_measured(classifier, k):
    with pytest.raises(OptionError, match="Nothing was measured for classifier="):
        plain_result().contrast(classifier, k=k)


def test_a_curve_has_a_row_for_each_split():
    ks, values = plain_result().curve("gu", "multinomial_nb")
    assert ks == plain_result().ks
    assert ks == [2, 5, 10, 20, 40, 60, plain_result().settings["n_terms"]]
    assert values.shape == (3, len(ks))
    summary = plain_result().summary().to_pylist()
    means = [row["mean"] for row in summary if (row["score"], row["classifier"]) == ("gu", "multinomial_nb")]
    np.testing.assert_allclose(values.mean(axis=0), means)


def test_a_curve_that_was_not_measured_has_no_splits():
    ks, values = plain_result().curve("gu", "linear_svm")
    assert (ks, values.shape) == ([], (0, 0))


def test_a_summary_has_the_types_of_the_table():
    summary = plain_result().summary()
    assert summary.schema.names == ["classifier", "score", "k", "mean", "standard_error"]
    assert summary.schema.types[:4] == [SCHEMA.field(name).type for name in ("classifier", "score", "k", "value")]
