"""Results: one file for all of it, and what is recommended."""

import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pages.samples import documents, plain_result

import termsieve as ts
from termsieve.errors import InputError, OptionError, OutputError
from termsieve.results import SCHEMA, Comparison


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


def test_any_reader_of_parquet_sees_the_table(tmp_path):
    plain_result().save(tmp_path / "result.parquet")
    assert pq.read_table(tmp_path / "result.parquet").replace_schema_metadata(None) == plain_result().table
    assert pq.read_schema(tmp_path / "result.parquet").metadata == {b"termsieve": b"comparison"}


def test_a_file_that_is_no_result_or_half_of_one_is_refused(tmp_path):
    pq.write_table(plain_result().table, tmp_path / "plain.parquet")
    plain_result().save(tmp_path / "whole.parquet")
    content = (tmp_path / "whole.parquet").read_bytes()
    (tmp_path / "half.parquet").write_bytes(content[: len(content) // 2])
    for name in ("plain.parquet", "half.parquet", "missing.parquet"):
        with pytest.raises(InputError, match="no saved comparison"):
            Comparison.load(tmp_path / name)


ABOUT = {"settings": {"n_splits": 3}, "seconds": {}, "excerpts": {}}


@pytest.mark.parametrize(
    ("about", "change"),
    [
        ([], None),
        ("nothing", None),
        ({}, None),
        ({**ABOUT, "settings": None}, None),
        ({**ABOUT, "settings": []}, None),
        ({**ABOUT, "settings": {"n_splits": "three"}}, None),
        ({**ABOUT, "settings": {"n_splits": 3, "origin": 7}}, None),
        ({**ABOUT, "settings": {"n_splits": 3, "scores": 7}}, None),
        ({**ABOUT, "settings": {"n_splits": 3, "min_df": None}}, None),
        ({**ABOUT, "seconds": {"a": "long"}}, None),
        ({**ABOUT, "excerpts": {"a": 1}}, None),
        ({**ABOUT, "excerpts": {"a": [["too", "short"]]}}, None),
        (ABOUT, lambda table: table.drop_columns(["k"])),
        (ABOUT, lambda table: table.set_column(4, "k", table["k"].cast(pa.string()))),
        (ABOUT, lambda table: table.slice(0, 0)),
    ],
)
def test_a_damaged_result_is_refused(about, change, tmp_path):
    table = plain_result().table if change is None else change(plain_result().table)
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"termsieve.about": json.dumps(about)})
    (tmp_path / "x.parquet").write_bytes(sink.getvalue())
    with pytest.raises(InputError, match=r"x\.parquet: is no saved comparison, or a damaged one"):
        Comparison.load(tmp_path / "x.parquet")


def test_only_measures_of_all_classes_are_taken():
    for name in ("f1", "recall", "f1_makro"):
        with pytest.raises(OptionError, match="Measured of all classes: accuracy, precision_micro"):
            plain_result().best(name)
    with pytest.raises(OptionError, match="Did you mean 'f1_macro'"):
        plain_result().summary("f1_makro")


def test_counts_that_were_altered_are_refused(tmp_path):
    result = plain_result()
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, result.table.schema) as writer:
        writer.write_table(result.table)
        writer.add_key_value_metadata({"termsieve.about": json.dumps(ABOUT), "termsieve.counts": "AAAA"})
    (tmp_path / "x.parquet").write_bytes(sink.getvalue())
    with pytest.raises(InputError, match="counts file"):
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


def test_the_fewest_terms_of_all_classifiers_are_recommended():
    means = {("gu", "nb", 100): 0.895, ("gu", "nb", 10): 0.5, ("chi2", "svm", 500): 0.9, ("chi2", "svm", 100): 0.85}
    result = Comparison(table_of(means), {"n_splits": 3}, {})
    choice = result.recommended()
    assert (choice.classifier, choice.score, choice.k) == ("nb", "gu", 100)
    assert "within one standard error (0.012) of the best, 0.900 by chi2 with 500 and svm" in choice.reason
    assert result.best()["svm"].k == 500


def test_a_curve_has_a_row_for_each_split():
    ks, values = plain_result().curve("gu", "multinomial_nb")
    assert ks == plain_result().ks
    assert ks == [2, 5, 10, 20, 40, 60]
    assert values.shape == (3, len(ks))
    summary = plain_result().summary().to_pylist()
    means = [row["mean"] for row in summary if (row["score"], row["classifier"]) == ("gu", "multinomial_nb")]
    np.testing.assert_allclose(values.mean(axis=0), means)
