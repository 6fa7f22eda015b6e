"""The file of counts: it comes back equal, or is refused; and it can be read without termsieve."""

import hashlib
import io
import json
import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from oracles import naive
from oracles.counts_files import TRAILER, arrow_stream, index_of, sealed, stream_of, table_of
from oracles.texts import CHAR_OPTIONS, NASTY_TEXT, columns, documents

import termsieve as ts
from termsieve.errors import CountsFileError, OutputError, TermsieveError
from termsieve.files import check_target, write_atomically

CELL_COLUMNS = ("class", "class_df", "class_tf", "class_tf2")


@pytest.fixture
def path(counts, tmp_path):
    path = tmp_path / "corpus.counts"
    counts.save(path)
    return path


def refused(path, data, said=None):
    path.write_bytes(data)
    with pytest.raises(CountsFileError, match=said) as caught:
        ts.Counts.load(path)
    assert str(path) in str(caught.value)


# Round trips


@given(documents(NASTY_TEXT), CHAR_OPTIONS)
def test_counts_of_any_text_come_back_equal(pairs, options):
    counts = ts.count(*columns(pairs), analyzer=ts.Analyzer(**options))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.counts"
        counts.save(path)
        again = ts.Counts.load(path)
        assert again == counts
        assert naive.facts(again) == naive.facts(counts)
        again.save(path.with_name("y.counts"))
        assert path.with_name("y.counts").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "make",
    [
        lambda: ts.count([], []),
        lambda: ts.count(["", ""], ["x", "y"]),
        lambda: ts.count(["aa bb", "cc"]),
        lambda: ts.count(["aa bb", "aa"], [["x", "y"], []]),
        lambda: ts.count(["aa"], ["x"], vocabulary=["zz", "aa"]),
        lambda: ts.count(["aa"], ["x"], vocabulary=[]),
        lambda: ts.count(["aa bb"], ["\0 é\n"]).prune(drop=["aa"]),
        lambda: ts.count(["a\0b"], ["x"], analyzer=ts.Analyzer(analyzer="char", ngram_range=(1, 3))),
        lambda: ts.count(["aa bb"], ["x"], analyzer=ts.Analyzer(stop_words="smart", stemmer="english")),
        lambda: ts.count(["aa bb"], ["x"], analyzer=ts.Analyzer(tokenizer=str.split)),
        lambda: ts.Counts.from_matrix(np.array([[0.5, 0.0], [1 / 3, 1e100]]), ["x", "y"]),
        lambda: ts.Counts.from_matrix(np.zeros((2, 3)), ["x", "y"]),
        lambda: ts.Counts.from_matrix([[2**31 - 1]], ["x"]),
    ],
)
def test_counts_of_every_kind_come_back_equal(make, tmp_path):
    make().save(tmp_path / "x.counts")
    again = ts.Counts.load(tmp_path / "x.counts")
    assert again == make()
    assert again.cells.values.dtype == make().cells.values.dtype


def test_loaded_counts_work_on(path, counts):
    loaded = ts.Counts.load(str(path))
    assert loaded + counts - loaded == counts
    assert loaded.prune(min_df=2) == counts.prune(min_df=2)
    assert repr(loaded) == repr(counts)


def test_loaded_counts_outlive_their_file(path, counts):
    loaded = ts.Counts.load(path)
    ts.count(["other"], ["x"]).save(path)
    path.unlink()
    assert loaded == counts


def test_equal_counts_give_equal_bytes(path, texts, labels, tmp_path):
    (ts.count(texts[6:], labels[6:]) + ts.count(texts[:6], labels[:6])).save(tmp_path / "other.counts")
    assert (tmp_path / "other.counts").read_bytes() == path.read_bytes()


def test_a_name_without_a_folder(counts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    counts.save("here.counts")
    assert ts.Counts.load("here.counts") == counts


# The documented format


def test_the_file_can_be_read_with_arrow_alone(path, counts):
    data = path.read_bytes()
    index, stream = index_of(data), stream_of(data)
    assert data[-TRAILER:-40] == b"TSCOUNTS"
    assert data[-32:] == hashlib.sha256(stream[: index["blocks"][0]["start"]] + data[len(stream) : -TRAILER]).digest()
    assert index == index_of(sealed(stream))  # an index that this test has made
    table = table_of(data)
    about = json.loads(table.schema.metadata[b"termsieve"])
    facts = naive.facts(counts)
    rows = table.to_pylist()
    assert [row["term"] for row in rows] == facts["terms"]
    assert {row["term"]: (row["df"], row["tf"], row["tf2"]) for row in rows} == facts["totals"]
    assert facts["cells"] == {
        (about["classes"][number], row["term"]): (df, tf, tf2)
        for row in rows
        for number, df, tf, tf2 in zip(*(row[name] for name in CELL_COLUMNS), strict=True)
    }
    assert about["format"] == 2
    assert dict(zip(about["classes"], about["class_sizes"], strict=True)) == facts["class_sizes"]
    assert (about["n_docs"], about["n_multilabel"]) == (facts["n_docs"], facts["n_multilabel"])
    assert about["settings"] == counts.settings
    assert (about["fixed"], about["pruned"]) == (False, "")


def test_documented_types(path, tmp_path):
    lists = {name: str(table_of(path.read_bytes()).schema.field(name).type) for name in ("term", "df", "tf", "class")}
    assert lists == {"term": "large_string", "df": "int64", "tf": "int64", "class": "large_list<item: int32>"}
    ts.Counts.from_matrix([[0.5]], ["x"]).save(tmp_path / "real.counts")
    schema = table_of((tmp_path / "real.counts").read_bytes()).schema
    assert [str(schema.field(name).type) for name in ("df", "tf", "tf2")] == ["int64", "double", "double"]


# Refusals


def test_every_altered_byte_is_noticed(path):
    data = path.read_bytes()
    for at in [*range(0, len(data), 17), *range(len(data) - TRAILER, len(data))]:
        altered = bytearray(data)
        altered[at] ^= 1 << at % 8
        refused(path, altered)


def test_every_truncation_is_noticed(path):
    data = path.read_bytes()
    for length in [*range(0, len(data), 29), *range(len(data) - TRAILER - 1, len(data))]:
        refused(path, data[:length])


def test_what_was_cut_out_is_noticed(path):
    """Also where the head and the index, which have a checksum of their own, are whole."""
    data = path.read_bytes()
    for start in range(0, len(data), 97):
        for size in (1, 8, 100):
            path.write_bytes(data[:start] + data[start + size :])
            with pytest.raises(CountsFileError):
                ts.Counts.load(path)


def test_what_was_appended_is_noticed(path):
    data = path.read_bytes()
    for more in (b"\0", b"\n", data, data[-TRAILER:]):
        refused(path, data + more)


def foreign_files():
    table = pa.table({"term": ["aa"], "df": [1]})
    parquet, zipped = pa.BufferOutputStream(), io.BytesIO()
    pq.write_table(table, parquet)
    with zipfile.ZipFile(zipped, "w") as file:
        file.writestr("a.txt", "aa")
    return {
        "empty": b"",
        "one byte": b"x",
        "text": b"term,df\naa,1\n" * 20,
        "parquet": parquet.getvalue().to_pybytes(),
        "zip": zipped.getvalue(),
        "arrow": arrow_stream(table),
        "trailer alone": sealed(b""),
        "sealed text": sealed(b"term,df\naa,1\n" * 20),
        "sealed zeros": sealed(bytes(1000)),
        "sealed arrow": sealed(arrow_stream(table)),
        "sealed arrow of another": sealed(arrow_stream(table.replace_schema_metadata({"pandas": "{}"}))),
        **{
            f"sealed metadata {about}": sealed(arrow_stream(table.replace_schema_metadata({"termsieve": about})))
            for about in ("", "{", "[]", "null", "7", '"x"', "{}", '{"format": 2}', '{"format": null}')
        },
    }


FOREIGN = foreign_files()


@pytest.mark.parametrize("data", FOREIGN.values(), ids=FOREIGN)
def test_foreign_files_are_refused(data, tmp_path):
    refused(tmp_path / "x.counts", data)


@pytest.mark.parametrize("column", ["term", "df", "tf2", "class", "class_tf"])
def test_a_sealed_file_without_a_column_is_refused(path, column):
    refused(path, sealed(arrow_stream(table_of(path.read_bytes()).drop_columns([column]))))


@pytest.mark.parametrize("column", ["term", "df", "class", "class_tf"])
def test_a_sealed_file_with_a_column_of_another_type_is_refused(path, column):
    table = table_of(path.read_bytes())
    at = table.column_names.index(column)
    other = pa.array([None] * len(table), pa.date32())
    refused(path, sealed(arrow_stream(table.set_column(at, column, other))))


def with_metadata(data, **changes):
    table = table_of(data)
    about = json.loads(table.schema.metadata[b"termsieve"]) | changes
    return sealed(arrow_stream(table.replace_schema_metadata({"termsieve": json.dumps(about)})))


def test_a_newer_format_says_so(path):
    refused(path, with_metadata(path.read_bytes(), format=3), r"version 3 .*reads version 2.*newer termsieve")


def test_the_forger_of_these_tests_can_forge(path, counts):
    path.write_bytes(with_metadata(path.read_bytes()))
    assert ts.Counts.load(path) == counts


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "no.counts", tmp_path):
        with pytest.raises(CountsFileError, match=str(path)) as caught:
            ts.Counts.load(path)
        assert isinstance(caught.value, TermsieveError)
        assert isinstance(caught.value, ValueError)


# Written whole or not at all


@pytest.mark.parametrize("function", ["replace", "fsync", "fdopen"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failure_while_writing_leaves_the_old_file_alone(path, function, error, monkeypatch):
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(os, function, fail)
        with pytest.raises(type(error)):
            ts.count(["other"], ["x"]).save(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_saving_replaces_the_file(path, counts):
    (counts + counts).save(path)
    assert ts.Counts.load(path) == counts + counts
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_the_file_has_the_usual_mode(counts, tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        counts.save(tmp_path / "x.counts")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x.counts").stat().st_mode) == mode


def test_a_folder_that_is_not_there_is_named(counts, tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        counts.save(tmp_path / "nowhere" / "x.counts")


@pytest.mark.parametrize(("place", "said"), [("nowhere/x.counts", "there is no folder"), (".", "is a folder")])
def test_a_place_that_cannot_be_written_is_named(place, said, tmp_path):
    with pytest.raises(OutputError, match=said):
        ts.count(["aa"], ["x"]).save(tmp_path / place)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_file_that_is_replaced_keeps_its_mode(path, counts, mode):
    path.chmod(mode)
    (counts + counts).save(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_link_stays_one_and_the_file_behind_it_is_written(path, counts, tmp_path):
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "x.counts"
    link.symlink_to(path)
    (counts + counts).save(link)
    assert link.is_symlink()
    assert ts.Counts.load(path) == counts + counts
    assert [one.name for one in link.parent.iterdir()] == ["x.counts"]


def test_links_in_a_circle_are_refused(counts, tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OutputError, match="cannot be written"):
        counts.save(tmp_path / "a")
    assert (tmp_path / "a").is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_written_into_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, [b"one ", b"two"])
        assert os.read(reader, 100) == b"one two"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [one.name for one in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.skipif(os.name != "posix", reason="pipes have names in /dev/fd on Unix alone")
def test_an_open_pipe_can_be_named():
    reader, writer = os.pipe()
    try:
        write_atomically(f"/dev/fd/{writer}", [b"one"])
        assert os.read(reader, 100) == b"one"
    finally:
        os.close(reader)
        os.close(writer)


def test_an_input_is_no_target(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"x")
    (tmp_path / "link.csv").symlink_to(tmp_path / "x.csv")
    (tmp_path / "news" / "sport").mkdir(parents=True)
    (tmp_path / "news" / "sport" / "1.txt").write_bytes(b"x")
    for target, source in [("x.csv", "x.csv"), ("link.csv", "x.csv"), ("x.csv", "link.csv"),
                           ("news/sport/1.txt", "news")]:  # fmt: skip
        with pytest.raises(OutputError, match="is read as an input"):
            check_target(tmp_path / target, inputs=["nowhere", tmp_path / source])
    for target in ("y.csv", "news/terms.csv"):
        assert check_target(tmp_path / target, inputs=[tmp_path / "x.csv", tmp_path / "news"]) == tmp_path / target


# A checksum that fits tells nothing of who wrote the file


@pytest.mark.parametrize(
    "changes",
    [
        {"n_docs": -5},
        {"n_docs": 1},
        {"n_docs": True},
        {"n_docs": 12.0},
        {"n_docs": "12"},
        {"n_docs": 2**63},
        {"n_docs": None},
        {"n_multilabel": -1},
        {"n_multilabel": 1000},
        {"n_multilabel": 0.5},
        {"classes": None},
        {"classes": "neg"},
        {"classes": []},
        {"classes": [1, 2]},
        {"classes": ["pos", "neg"]},
        {"classes": ["neg", "neg"]},
        {"classes": ["neg", "\ud800"]},
        {"class_sizes": []},
        {"class_sizes": [1]},
        {"class_sizes": [-1, 4]},
        {"class_sizes": [1.5, 2]},
        {"class_sizes": [2**70, 2]},
        {"class_sizes": "ab"},
        {"class_sizes": [True, True]},
        {"class_sizes": [5, 5]},
        {"settings": []},
        {"settings": "Analyzer()"},
        {"fixed": 1},
        {"fixed": None},
        {"pruned": 7},
        {"pruned": "\ud800"},
        {"format": [1]},
    ],
    ids=str,
)
def test_sealed_facts_that_no_counts_have_are_refused(changes, tmp_path):
    data = ts.count(["aa bb", "bb cc cc", "bb"], ["neg", "pos", "pos"]).to_bytes()
    refused(tmp_path / "x.counts", with_metadata(data, **changes))


def test_sealed_metadata_that_is_nested_without_end_is_refused(tmp_path):
    table = table_of(ts.count(["aa"], ["x"]).to_bytes())
    about = '{"format":2,"settings":' + "[" * 100_000
    refused(tmp_path / "x.counts", sealed(arrow_stream(table.replace_schema_metadata({"termsieve": about}))))


# Of "aa bb", "bb cc cc", "bb" in the classes neg, pos, pos: terms aa, bb, cc; cells aa neg, bb neg, bb pos, cc pos
@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("term", ["aa", "cc", "bb"]),
        ("term", ["aa", "aa", "cc"]),
        ("term", ["aa", None, "cc"]),
        ("df", [1, 4, 1]),
        ("df", [1, -3, 1]),
        ("df", [1, 2, 1]),
        ("df", [1, None, 1]),
        ("tf", [1, 3, 1]),
        ("tf", [2, 3, 2]),
        ("tf2", [1, 3, 3]),
        ("tf2", [1, 3, 5]),
        ("tf2", [1, 3, 2**62]),
        ("class", [[0], [1, 0], [1]]),
        ("class", [[0], [1, 1], [1]]),
        ("class", [[0], [0, 2], [1]]),
        ("class", [[-1], [0, 1], [1]]),
        ("class", [[0], [0, 1], None]),
        ("class", [[0], [0, None], [1]]),
        ("class", [[0], [0], [1]]),
        ("class", [[], [0, 0], [1, 1]]),
        ("class_df", [[1], [1], [2, 1]]),
        ("class_df", [[0], [1, 2], [1]]),
        ("class_df", [[1], [2, 2], [1]]),
        ("class_df", [[1], [1, 1], [1]]),
        ("class_tf", [[1], [1, 1], [2]]),
        ("class_tf", [[1], [1, 2], [2**62]]),
        ("class_tf2", [[1], [1, 2], [1]]),
    ],
    ids=str,
)
def test_sealed_counts_that_no_documents_have_are_refused(column, values, tmp_path):
    data = ts.count(["aa bb", "bb cc cc", "bb"], ["neg", "pos", "pos"]).to_bytes()
    table = table_of(data)
    place = table.column_names.index(column)
    table = table.set_column(place, table.schema.field(column), pa.array(values, table.schema.field(column).type))
    refused(tmp_path / "x.counts", sealed(arrow_stream(table)))


@pytest.mark.parametrize(("column", "values"), [("tf", [np.nan]), ("tf", [np.inf]), ("tf2", [-1.0]), ("df", [3])])
def test_sealed_real_counts_that_are_no_numbers_are_refused(column, values, tmp_path):
    table = table_of(ts.Counts.from_matrix([[0.5], [0.25]], ["x", "y"]).to_bytes())
    field = table.schema.field(column)
    table = table.set_column(table.column_names.index(column), field, pa.array(values, field.type))
    refused(tmp_path / "x.counts", sealed(arrow_stream(table)))


def test_a_term_cannot_be_in_more_documents_than_are_outside_of_the_classes_it_is_not_in(tmp_path):
    """With several labels, sums over the classes do not tell."""
    data = ts.count(["aa", "bb", "bb"], [["x", "y"], ["x"], ["x"]]).to_bytes()
    table = table_of(data)
    lists = {"class": [[1], [0]], "class_df": [[1], [2]], "class_tf": [[1], [2]], "class_tf2": [[1], [2]]}
    for name, values in lists.items():
        field = table.schema.field(name)
        table = table.set_column(table.column_names.index(name), field, pa.array(values, field.type))
    refused(tmp_path / "x.counts", sealed(arrow_stream(table)), "no documents have such counts as the term 'aa'")


def test_a_small_file_that_would_fill_the_memory_is_refused(tmp_path):
    """Refused by what its buffers say of themselves: nothing of that size is made."""
    terms = pa.array(["\0" * 50_000_000] * 4, pa.large_string())
    table = table_of(ts.count(["aa bb cc dd"], ["x"]).to_bytes())
    table = table.set_column(0, table.schema.field("term"), terms)
    stream = arrow_stream(table, compression="zstd")
    assert len(stream) < 100_000
    refused(tmp_path / "x.counts", sealed(stream), "would become 200,")


def test_the_command_refuses_sealed_counts_in_one_line(tmp_path):
    path = tmp_path / "x.counts"
    path.write_bytes(with_metadata(ts.count(["aa bb", "bb"], ["x", "y"]).to_bytes(), n_docs=-5))
    command = [sys.executable, "-m", "termsieve", "rank", str(path), "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(f"termsieve: {path}: ")


CUT_WHILE_LOADED = """
import os, sys
import termsieve as ts

counts = ts.Counts.load(sys.argv[1])
os.truncate(sys.argv[1], 0)
print(counts.terms[0], counts.term_df.sum())
"""


def test_counts_stay_when_their_file_is_cut(path, counts):
    command = [sys.executable, "-c", CUT_WHILE_LOADED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [counts.terms[0], str(counts.term_df.sum())], done.stderr


def test_sums_of_a_pruned_file_are_whole_numbers_of_any_size(tmp_path):
    ts.count_frequencies(["a1", "b1"], [2**60 + 1, 1]).save(tmp_path / "words.counts")
    assert ts.CountsFile(tmp_path / "words.counts").prune(drop=["b1"]).population.n_occurrences == 2**60 + 1


def test_a_name_that_no_file_can_have_is_told():
    with pytest.raises(CountsFileError, match="cannot be read"):
        ts.Counts.load("a\0b.counts")
