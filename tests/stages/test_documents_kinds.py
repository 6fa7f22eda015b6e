"""What people have: other separators, sheets, encodings, nested folders, partitions, URIs, relations, markup."""

from __future__ import annotations

import csv
import io
import json
import sys
import zipfile

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import termsieve as ts
from termsieve.documents import read
from termsieve.documents.encodings import find_fitting
from termsieve.documents.remote import hide_secrets, is_uri
from termsieve.documents.separators import SEPARATORS, detect_separator
from termsieve.errors import CountsError, InputError, MissingExtraError, OptionError, TermsieveWarning
from termsieve.tokens.analyzer import Analyzer
from termsieve.tokens.markup import strip_markup

ROWS = [
    ("cheap pills, now; or never", "spam"),
    ("buy | cheap pills", "spam"),
    ("lunch at noon", "ham"),
    ("noon", "ham"),
]


def found(docs, extra=()):
    return [tuple(row.values()) for batch in docs.batches(extra) for row in batch.to_pylist()]


EXPECTED = [(text, [label]) for text, label in ROWS]


def cells(sep, rows=ROWS, header=("text", "label")):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=sep, lineterminator="\n").writerows([header, *rows])
    return out.getvalue().encode()


# --- separators ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sep", SEPARATORS)
@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
def test_separators_are_recognised_and_said(tmp_path, sep, ending):
    path = tmp_path / f"x.{ending}"
    if ending.endswith("gz"):
        with pa.CompressedOutputStream(str(path), "gzip") as file:
            file.write(cells(sep))
    else:
        path.write_bytes(cells(sep))
    docs = read(path)
    assert found(docs) == EXPECTED
    usual = sep == ("\t" if ending == "tsv" else ",")
    assert (f"cells separated by {SEPARATORS[sep]}" in docs.chosen_columns.note) != usual
    assert found(read(path, sep=sep)) == EXPECTED
    assert read(path, sep=sep).chosen_columns.note == "text from the column 'text', labels from 'label'"


@given(
    st.sampled_from(list(SEPARATORS)),
    st.lists(st.tuples(st.text('ab,;|\t "\n'), st.text("xy", min_size=1)), min_size=1),
)
def test_any_cells_that_are_written_with_a_separator_are_recognised(sep, rows):
    data = cells(sep, [(1, *row) for row in rows], ("id", "text", "label"))
    assert detect_separator(data, ",", whole=True) == sep


def test_one_column_and_odd_headers_keep_the_usual_separator():
    assert detect_separator(b"text\na;b\nc;d\n", ",", whole=True) == ","
    assert detect_separator(b"question; answer\nplain\nplain too\nmore\n", ",", whole=True) == ","
    assert detect_separator(b"", "\t", whole=True) == "\t"
    ragged = b"text,label\n" + b"one, two, three,x\n" * 10
    assert detect_separator(ragged, ",", whole=True) == ","


def test_a_given_separator_makes_cells_of_any_file(tmp_path, typed):
    (tmp_path / "x.txt").write_bytes(cells("\t"))
    assert found(read(tmp_path / "x.txt", sep="tab")) == EXPECTED
    code, out, _ = typed("rank", tmp_path / "x.txt", "--sep", "\\t")
    assert code == 0
    assert "pills" in out
    code, _, err = typed("rank", tmp_path / "x.txt", "--sep", "ab")
    assert (code, "termsieve: --sep must be one ASCII character" in err) == (2, True)
    (tmp_path / "y.csv").write_bytes(cells(",", header=("comment_text", "Sentiment label")))
    assert (
        read(tmp_path / "y.csv").chosen_columns.note
        == "text from the column 'comment_text', labels from 'Sentiment label'"
    )


# --- rows without text or label --------------------------------------------------------------------------


def test_rows_without_text_or_label_are_skipped_counted_and_named(tmp_path, typed):
    path = tmp_path / "x.csv"
    path.write_bytes(cells(",", [*ROWS[:2], ("", "ham"), *ROWS[2:], ("no label", "")]))
    docs = read(path)
    with pytest.warns(TermsieveWarning, match=r"skipped 2 bad rows, 2 lines \(line 4; line 7\) of 6: missing text 1"):
        assert found(docs) == EXPECTED
    assert docs.skipped_reasons == {"missing text": 1, "missing label": 1}
    with pytest.raises(InputError, match=r"line 4: missing text: .*\(strict=False skips such rows\.\)"):
        found(read(path, strict=True))
    code, _, err = typed("count", path, "-o", tmp_path / "x.counts")
    assert (code, err.count("skipped 2 bad rows")) == (0, 1)
    assert ts.Counts.load(tmp_path / "x.counts").n_docs == 4
    assert typed("count", path, "--strict", "-o", tmp_path / "y.counts")[0] == 1


def test_a_pass_that_is_cut_short_reports_what_it_skipped():
    docs = read({"text": ["a", None, *"bcd"], "label": list("xyxyx")})
    next(batches := docs.batches())
    batches.close()
    assert docs.skipped == 1


# --- sheets ----------------------------------------------------------------------------------------------

_XLSX = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default '
    'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
    'ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-'
    'officedocument.spreadsheetml.sheet.main+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
    'Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>',
}


def write_xlsx(path, sheets):
    """A workbook, by hand: cells are strings in line, or numbers; None is no cell."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    listed = "".join(f'<sheet name="{name}" sheetId="{i}" r:id="s{i}"/>' for i, name in enumerate(sheets, 1))
    targets = "".join(
        f'<Relationship Id="s{i}" Type="{relation}/worksheet" Target="worksheets/sheet{i}.xml"/>'
        for i in range(1, len(sheets) + 1)
    )
    with zipfile.ZipFile(path, "w") as book:
        for name, content in _XLSX.items():
            book.writestr(name, content)
        book.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{relation}"><sheets>{listed}</sheets></workbook>'
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{targets}</Relationships>',
        )
        for i, rows in enumerate(sheets.values(), 1):
            lines = "".join(
                f'<row r="{r}">{"".join(_xlsx_cell(v, f"{chr(65 + c)}{r}") for c, v in enumerate(row))}</row>'
                for r, row in enumerate(rows, 1)
            )
            content = f'<worksheet xmlns="{main}"><sheetData>{lines}</sheetData></worksheet>'
            book.writestr(f"xl/worksheets/sheet{i}.xml", content)
    return path


def _xlsx_cell(value, place):
    if value is None:
        return ""
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def write_ods(path, rows):
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    lines = "".join(f"<table:table-row>{''.join(cell.format(v) for v in row)}</table:table-row>" for row in rows)
    names = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<office:document-content xmlns:office="{names}:office:1.0" xmlns:table="{names}:table:1.0" '
        f'xmlns:text="{names}:text:1.0"><office:body><office:spreadsheet><table:table table:name="One">{lines}'
        "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        book.writestr("META-INF/manifest.xml", f'<manifest:manifest xmlns:manifest="{names}:manifest:1.0"/>')
        book.writestr("content.xml", content)
    return path


def test_sheets_give_what_csv_gives(tmp_path, typed):
    rows = [("text", "label"), *ROWS]
    path = write_xlsx(
        tmp_path / "x.xlsx", {"Mails": rows, "Other": [("text", "label"), ("second", "b"), ("sheet", "c")]}
    )
    docs = read(path)
    assert found(docs) == EXPECTED
    assert "the first of 2 sheets, 'Mails' (sheet=NAME reads another)" in docs.chosen_columns.note
    assert found(read(path, sheet="Other")) == found(read(path, sheet=2)) == [("second", ["b"]), ("sheet", ["c"])]
    assert found(read(write_ods(tmp_path / "x.ods", rows))) == EXPECTED
    with pytest.raises(OptionError, match=r"no sheet 'Mail'\. Did you mean 'Mails'\? Sheets: 'Mails', 'Other'"):
        found(read(path, sheet="Mail"))
    code, out, err = typed("rank", path, "--sheet", "2")
    assert (code, "second" in out) == (0, True), err
    assert "--sheet NAME reads another" in typed("rank", path)[2]


@pytest.mark.filterwarnings("ignore:skipped")
def test_cells_that_are_no_strings_and_rows_that_are_empty(tmp_path):
    rows = [(), (None, "text", "label"), (None, "one", 1), (), (None, 7, 2.5), (None, None, 1), (None, "x", None)]
    docs = read(write_xlsx(tmp_path / "x.xlsx", {"A": rows}))
    assert found(docs) == [("one", ["1"]), ("7", ["2.5"])]
    assert docs.skipped_places == "rows 6-7"  # as the program numbers them


def test_sheets_that_cannot_be_read_are_refused_by_name(tmp_path, monkeypatch):
    (tmp_path / "x.xlsx").write_bytes(b"no workbook")
    with pytest.raises(InputError, match=r"x\.xlsx: the sheet cannot be read, it may be damaged"):
        found(read(tmp_path / "x.xlsx"))
    whole = write_xlsx(tmp_path / "y.xlsx", {"A": [("text", "label"), ("a", "b")]}).read_bytes()
    for size in range(0, len(whole), 97):
        (tmp_path / "y.xlsx").write_bytes(whole[:size])
        with pytest.raises(InputError):
            found(read(tmp_path / "y.xlsx"))
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    (tmp_path / "y.xlsx").write_bytes(whole)
    with pytest.raises(MissingExtraError, match=r"y\.xlsx: reading a sheet needs .* pip install 'termsieve\[excel\]'"):
        found(read(tmp_path / "y.xlsx"))


# --- encodings -------------------------------------------------------------------------------------------

GERMAN = "Der Bär fährt über die Straße nach Köln."


@pytest.mark.parametrize(("text", "encoding"), [
    (GERMAN, "cp1252"), ("Привет, как дела? Сегодня хорошая погода", "cp1251"), ("今天天气很好，我们去公园", "gb18030"),  # noqa: RUF001
    ("Łódź jest piękna, źdźbło trawy", "cp1250"), (GERMAN, "utf-16-le"), (GERMAN, "utf-16"),
])  # fmt: skip
def test_the_likeliest_encoding_comes_first(text, encoding):
    fits = find_fitting(text.encode(encoding), "utf-8")
    assert fits[0].encoding == encoding
    assert fits[0].word in text


@pytest.mark.parametrize("ending", ["csv", "jsonl", "txt", "folder"])
def test_bytes_that_are_not_utf8_name_the_encoding(tmp_path, ending, typed):
    (tmp_path / "in").mkdir()
    data = GERMAN.encode("cp1252")
    if ending == "folder":
        for name in "ab":
            (tmp_path / "in" / name).mkdir()
            (tmp_path / "in" / name / "1.txt").write_bytes(data if name == "b" else b"plain")
        files = [tmp_path / "in"]
    elif ending == "txt":
        files = [tmp_path / "in" / "a.txt", tmp_path / "in" / "b.txt"]
        for file, content in zip(files, (b"plain", b"one\n" + data), strict=True):
            file.write_bytes(content)
    else:
        files = [tmp_path / "in" / f"x.{ending}"]
        lines = [b"text,label", b"plain,a", data + b",b"]
        if ending == "jsonl":
            lines = [b'{"text": "plain", "label": "a"}', b'{"text": "%s", "label": "b"}' % data]
        files[0].write_bytes(b"\n".join(lines))
    code, _, err = typed("rank", *files)
    assert code == 1
    assert "not valid utf-8" in err
    assert "cp1252 ('Bär')" in err
    assert "Read it with --encoding cp1252" in err
    assert "(--encoding-errors skip skips such rows.)" in err
    code, out, _ = typed("rank", *files, "--encoding", "cp1252")
    assert (code, "bär" in out) == (0, True)
    code, out, _ = typed("rank", *files, "--encoding-errors", "replace")
    assert (code, "fahrt" not in out, "die" in out) == (0, True, True)


# --- folders ---------------------------------------------------------------------------------------------


def make_folders(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_nested_class_folders(tmp_path):
    files = {"ham/1.txt": "noon", "ham/old/deep/2.txt": "lunch", "spam/new/1.txt": "pills"}
    docs = read(make_folders(tmp_path / "root", files))
    assert found(docs, ["path"]) == [
        (text, [name.partition("/")[0]], str(tmp_path / "root" / name)) for name, text in files.items()
    ]
    assert "2 folders ('ham/old', 'spam/new') inside class folders" in docs.chosen_columns.note
    (tmp_path / "root" / "ham" / "old" / "loop").symlink_to(tmp_path / "root" / "ham")
    assert len(found(docs)) == 3
    splits = make_folders(
        tmp_path / "split", {f"{a}/{b}/1.txt": "x" for a in ("test", "train") for b in ("neg", "pos")}
    )
    assert f"if 2 folders ('neg', 'pos') are the classes, name {splits / 'test'}" in read(splits).chosen_columns.note


def test_link_to_nothing_in_a_class_folder_is_told(tmp_path):
    for name in ("ham", "spam"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.txt").write_text("hello")
    (tmp_path / "spam" / "2.txt").symlink_to(tmp_path / "gone")
    docs = read(tmp_path)
    with pytest.raises(InputError, match=r"There is no file .*2\.txt"):
        _ = docs.total_bytes
    with pytest.raises(InputError, match=r"There is no file .*2\.txt"):
        list(docs)


def test_predictions_of_class_folders_are_judged_by_the_folders(tmp_path, typed):
    """F1 0.000 was reported: whatever column is named, the folder is the label."""
    files = {
        f"{c}/part/{i}.txt": f"{word} number{i}" for c, word in (("ham", "noon"), ("spam", "pills")) for i in range(6)
    }
    root, model = make_folders(tmp_path / "root", files), tmp_path / "m.skops"
    arguments = ("--score", "chi2", "-k", "2", "--classifier", "multinomial_nb", "--cv", "2")
    assert typed("train", root, "-o", model, *arguments)[0] == 0
    code, out, err = typed("predict", model, root, "--label", "anything", "--id", "path")
    assert code == 0
    assert "against the names of the class folders: macro F1 1.000" in err
    assert "there is no column 'anything' to read" in err
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0][:2] == ["path", "label"]
    assert {line[0]: line[1] for line in lines[1:]} == {str(root / name): name.partition("/")[0] for name in files}
    other = make_folders(
        tmp_path / "other", {name.replace("ham", "nein").replace("spam", "ja"): t for name, t in files.items()}
    )
    code, _, err = typed("predict", model, other, "--label", "anything")
    assert code == 1
    assert "No label of the names of the class folders is a class of the model" in err


# --- partitions, patterns, URIs ----------------------------------------------------------------------------


@pytest.fixture
def partitioned(tmp_path):
    table = pa.table({"text": [text for text, _ in ROWS], "label": [label for _, label in ROWS], "year": [1, 1, 2, 2]})
    root = tmp_path / "parts"
    pq.write_to_dataset(table, root, partition_cols=["year", "label"], compression="zstd")
    (root / "_SUCCESS").write_bytes(b"")
    return root


def test_partitioned_folders_have_the_columns_of_their_names(partitioned, typed):
    docs = read(partitioned)
    assert sorted(found(docs)) == sorted(EXPECTED)
    assert sorted(found(read(partitioned, label="year"))) == sorted((t, ["12"[i > 1]]) for i, (t, _) in enumerate(ROWS))
    assert found(read(partitioned, split=("year", 2)), ["year"]) == [(*row, "2") for row in EXPECTED[2:]]
    assert ts.count(read(partitioned)) == ts.count([t for t, _ in ROWS], [c for _, c in ROWS])
    assert typed("rank", partitioned)[0] == 0
    empty = pa.table({"text": pa.array([], pa.string())})
    pq.write_table(empty, partitioned / "year=2" / "label=ham" / "empty.parquet")
    assert len(found(read(partitioned))) == 4
    (partitioned / "year=3").mkdir()
    pq.write_table(pa.table({"text": ["x"]}), partitioned / "year=3" / "x.parquet")
    with pytest.raises(InputError, match="must have the same"):
        read(partitioned)


def test_values_of_partitions_may_be_missing_or_quoted(tmp_path):
    for value in ("a%2Fb", "__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / f"kind={value}").mkdir()
        (tmp_path / f"kind={value}" / "x.csv").write_text("text,label\nt,x\n", encoding="utf-8")
    assert found(read(tmp_path), ["kind"]) == [("t", ["x"], None), ("t", ["x"], "a/b")]


@pytest.mark.parametrize("uri", ["http://key:secret@[bad/x.csv", "file://[bad/x.csv", "s3://[bad/*.csv"])
def test_uri_that_is_none_is_told_without_its_secrets(uri):
    with pytest.raises(InputError, match=r"(is not valid|cannot be opened|pattern can stand)") as caught:
        read(uri)
    assert "secret" not in str(caught.value)


def test_file_uris_and_patterns(tmp_path, typed):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in ("a b", "c"):
        (tmp_path / "deep" / "er" / f"{name}.csv").write_bytes(cells(","))
    one = (tmp_path / "deep" / "er" / "a b.csv").as_uri()
    assert "%20" in one
    assert found(read(one)) == EXPECTED
    assert found(read(f"file://{tmp_path}/**/*.csv")) == found(read(str(tmp_path / "**" / "*.csv"))) == EXPECTED * 2
    assert typed("rank", one)[0] == 0
    with pytest.raises(InputError, match="same file"):
        read([one, tmp_path / "deep" / "er" / "a b.csv"])
    with pytest.raises(InputError, match="There is no file"):
        read((tmp_path / "nothing.csv").as_uri())
    with pytest.raises(InputError, match="No file matches"):
        read(f"file://{tmp_path}/*.nothing")
    with pytest.raises(InputError, match=r"ftp://host/x\.csv: cannot be opened.*s3://"):
        read("ftp://user:secret@host/x.csv")
    assert not is_uri("C://x")
    assert "secret" not in hide_secrets("s3://key:secret@bucket/x?endpoint_override=h")


# --- engines -----------------------------------------------------------------------------------------------


def test_relations_and_lazy_frames_give_what_files_give(tmp_path):
    table = pa.table({"id": list(range(4)), "text": [t for t, _ in ROWS], "label": [c for _, c in ROWS]})
    pq.write_table(table, tmp_path / "x.parquet")
    connection = duckdb.connect()
    relation = connection.sql(f"select *, 'it''s' as \"odd \"\"name\" from '{tmp_path / 'x.parquet'}' order by id")
    plain = ts.count(read(tmp_path / "x.parquet"))
    for source in (relation, pl.scan_parquet(tmp_path / "x.parquet"), pa.dataset.dataset(tmp_path / "x.parquet")):
        docs = read(source)
        assert found(docs) == found(docs) == EXPECTED, source
        assert ts.count(docs) == plain
        assert [row[2] for row in found(docs, ["id"])] == [0, 1, 2, 3]
        assert found(read(source, split=("id", 2))) == EXPECTED[2:3]
        with pytest.raises(InputError, match=r"there is no column 'body'\. Columns: 'id', 'text', 'label'"):
            found(read(source, text="body"))
    assert found(read(relation), ['odd "name'])[0][2] == "it's"
    with pytest.raises(InputError, match="the LazyFrame cannot be read: "):
        found(read(pl.LazyFrame({"text": ["a"], "label": ["x"]}).with_columns(label=pl.col("label").cast(pl.Int64))))
    first = iter(read(relation).batches())
    next(first)
    first.close()  # and the connection is free again
    assert connection.sql("select 1").fetchall() == [(1,)]


# --- markup --------------------------------------------------------------------------------------------------

MAIL = "From: me@example.org\nSubject: Re: lunch\nX-Odd: a\n  folded\n\nSee you: at noon.\n\nFrom: nobody\n"
PAGE = (
    "<html><head><style>p {color: red}</style></head><body><p>Caf&eacute; un<b>bro</b>ken</p>"
    "<table><td>a</td><td>b</td></table>"
    "<script>x()</script></body>"
)


def test_markup_is_removed():
    assert strip_markup(MAIL, ["mail-headers"]) == "See you: at noon.\n\nFrom: nobody\n"
    for text in ("See: this is no mail\n\nbody", "plain", "", "Note:\n\n", "Subject"):
        assert strip_markup(text, ["mail-headers"]) == text
    assert strip_markup("Subject: only\nbody of it", ["mail-headers"]) == "body of it"
    assert strip_markup(PAGE, ["html"]).split() == ["Café", "unbroken", "a", "b"]
    assert strip_markup("a < b & c", ["html"]) == "a < b & c"
    assert Analyzer(strip=["html", "mail-headers"])("Subject: x\n\n<i>w</i>ord<br>two") == ["word", "two"]


def test_counts_with_and_without_markup_do_not_add():
    texts, labels = [PAGE, "<p>cheap</p>"], ["a", "b"]
    plain, stripped = (ts.count(texts, labels, analyzer=Analyzer(strip=strip)) for strip in ((), ["html"]))
    assert list(stripped.terms) == ["café", "cheap", "unbroken"]
    assert "color" in list(plain.terms)
    with pytest.raises(CountsError, match="strip"):
        plain + stripped
    assert plain.settings == ts.count(texts, labels).settings
    assert Analyzer.from_settings(json.loads(json.dumps(stripped.settings))) == Analyzer(strip=("html",))
    for wrong in ("html", ["htm"], 3):
        with pytest.raises(OptionError, match="strip"):
            Analyzer(strip=wrong)
    with pytest.raises(OptionError, match="strip"):
        Analyzer(strip=["html"], analyzer="tokens")


def test_both_ways_of_counting_remove_markup():
    from termsieve._kernels import use_way

    texts, labels = [PAGE, MAIL] * 3, ["a", "b"] * 3
    counted = []
    for way in ("plain", "compiled"):
        with use_way(way):
            counted.append(ts.count(texts, labels, analyzer=Analyzer(strip=["html", "mail-headers"])))
    assert counted[0] == counted[1]


def test_a_model_removes_markup_from_new_texts(tmp_path, typed):
    rows = [
        {"text": f"<p class=spam>{word} w{i}</p>", "label": c}
        for c, word in (("a", "noon"), ("b", "pills"))
        for i in range(6)
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    arguments = ("--strip", "html", "--score", "chi2", "-k", "2", "--classifier", "multinomial_nb", "--cv", "2")
    assert typed("train", tmp_path / "x.jsonl", "-o", tmp_path / "m.skops", *arguments)[0] == 0
    model = ts.Model.load(tmp_path / "m.skops")
    assert model.settings["analyzer"]["strip"] == ["html"]
    assert list(model.predict(["<b>pi</b>lls", "<pills>noon"])) == ["b", "a"]


def test_a_tokenizer_that_is_typed_is_imported_from_the_current_folder(tmp_path, monkeypatch, typed):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cutter_of_test.py").write_text("def cut(text):\n    return text.split('-')\n", encoding="utf-8")
    (tmp_path / "x.csv").write_text("text,label\nred-green,a\nblue sky-red,b\n", encoding="utf-8")
    before = list(sys.path)
    code, out, err = typed("rank", "x.csv", "--tokenizer", "cutter_of_test:cut")
    assert code == 0, err
    assert "blue sky" in out
    assert sys.path == before
    code, _, err = typed("rank", "x.csv", "--tokenizer", "cutter_of_test:gone")
    assert (code, "cannot be imported" in err) == (2, True)
    assert typed("rank", "x.csv", "--tokenizer", "no_colon")[0] == 2
