"""No mistake of a user ends in a traceback: one line that says what is wrong, and the right exit code."""

import os
import sys
import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termsieve.cli import app, memory_limit, run
from termsieve.errors import TermsieveError

FILES = {
    "ok.csv": b"text,label\naa bb cc,x\ndd ee,y\nff cc,x\ngg dd,y\n",
    "header.csv": b"text,label\n",
    "empty.csv": b"",
    "empty.txt": b"",
    "empty.jsonl": b"",
    "binary.csv": b"\0\1\2\xff\xfe",
    "binary.jsonl": b"\0\1\2\xff\xfe",
    "binary.txt": b"\0\1\2\xff\xfe",
    "binary.parquet": b"\0\1\2\xff\xfe",
    "binary.arrow": b"\0\1\2\xff\xfe",
    "binary.counts": b"\0\1\2\xff\xfe",
    "binary.skops": b"\0\1\2\xff\xfe",
    "cut.csv.gz": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x01",
    "one.csv": b"text,label\naa bb,x\ncc dd,x\n",
    "wide.csv": b"text,label\naa,x\nbb,y,z\n",
    "quote.csv": b'text,label\n"aa,x\nbb,y\n',
    "nolabel.csv": b"text,label\naa,x\nbb,\n",
    "noterms.csv": b"text,label\n!,x\n?,y\n",
    "ambiguous.csv": b"body,message,label\na,b,c\n",
    "none.csv": b"foo,bar\na,b\n",
    "bad.jsonl": b'{"text": "aa", "label": "x"}\n{"text": "bb", "label": "y"}\n{oops\n',
    "list.json": b'[{"text": "a"}]',
    "a.txt": b"aa bb\n",
    "b.txt": b"cc dd\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("files")
    for name, content in FILES.items():
        (path / name).write_bytes(content)
    (path / "folder").mkdir()
    return path


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def one_line(err):
    """The last line is the complaint, and it is the only one."""
    said = [line for line in err.splitlines() if line.startswith("termsieve: ")]
    assert len(said) == 1, err
    assert "Traceback" not in err
    return said[0]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("rank nowhere.csv", "There is no file nowhere.csv"),
        ("rank OK.csv", "Did you mean 'ok.csv'?"),
        ("rank header.csv", "has no rows"),
        ("rank empty.csv", "has no bytes"),
        ("rank empty.jsonl", "has no bytes"),
        ("rank empty.txt a.txt", "empty.txt is empty"),
        ("rank a.txt", "Name another to compare it with"),
        ("rank a.txt binary.txt", "zero byte"),
        ("rank binary.csv", "Say which with --text"),
        ("rank binary.jsonl", "line 1: not valid utf-8"),
        ("rank binary.parquet", "cannot be read"),
        ("rank binary.arrow", "cannot be read"),
        ("rank binary.counts", "not a counts file"),
        ("rank ok.csv binary.counts", "ok.csv: is not a counts file, as binary.counts is"),
        ("rank cut.csv.gz", "cut.csv.gz"),
        ("rank one.csv", "The label column may be the wrong one"),
        ("rank wide.csv --strict", "wide.csv, line 3: wrong number of cells"),
        ("rank quote.csv", "quote.csv, line 2"),
        (
            "rank nolabel.csv --strict",
            "nolabel.csv, line 3: missing label. (Without --strict such rows are skipped.)",
        ),
        ("rank noterms.csv", "have no terms"),
        ("rank ambiguous.csv", "'body' and 'message' could both hold the text"),
        ("rank none.csv", "Columns: 'foo', 'bar'"),
        ("rank bad.jsonl --strict", "bad.jsonl, line 3: not valid JSON"),
        ("rank list.json", "one JSON array"),
        ("rank folder", "without class folders"),
        ("rank *.nothing", "No file matches"),
        ("rank ok.csv a.txt", "a.txt: its ending does not tell"),
        ("rank a.txt ok.csv", "it is a text file; ok.csv has columns. The two kinds cannot be read together"),
        ("rank a.txt folder", "it is a text file; folder is a folder"),
        ("rank a.txt a.txt", "a.txt: is the same file as a.txt, which was named before"),
        ("rank a.txt b.txt folder/../a.txt", "folder/../a.txt: is the same file as a.txt"),
        ("rank ok.csv ok.csv --by-file", "ok.csv: is the same file as ok.csv"),
        ("rank ok.csv --by-file", "name two or more"),
        ("rank ok.csv --text body", "there is no column 'body'"),
        ("rank ok.csv --label lable", "Did you mean 'label'?"),
        ("rank ok.csv --split label=z", "No row has 'z'"),
        ("rank ok.csv -o folder", "is a folder"),
        ("rank ok.csv -o nowhere/x.csv", "there is no folder nowhere"),
        ("merge ok.csv -o x.counts", "not a counts file"),
        ("merge nowhere.counts -o x.counts", "There is no file nowhere.counts"),
        ("count ok.csv -o nowhere/x.counts", "there is no folder"),
        ("compare one.csv", "documents have 'x'. The label column may be the wrong one"),
        ("compare ok.csv --cv nowhere", "there is no column 'nowhere'"),
        ("compare ok.csv --cv 2 --journal a.txt", "is not a journal"),
        ("compare ok.csv --cv 2 --classifier linear_svm(C=-1)", "cannot learn from 2 documents"),
        ("compare ok.csv -o x.html --figures a.txt", "charts cannot be written there"),
        ("compare ok.csv -o x.html --figures a.txt/figures", "charts cannot be written there"),
        ("report ok.csv -o x.html --figures a.txt", "charts cannot be written there"),
        ("report binary.parquet -o x.html", "cannot be read"),
        ("report nowhere.parquet -o x.html", "There is no file"),
        ("report binary.counts -o x.html", "not a counts file"),
        ("train one.csv -o x.skops", "The label column may be the wrong one"),
        ("train ok.csv -o x.skops --cv 0 -s gu -k 2 -c linear_svm(C=-1)", "cannot learn from 4 documents"),
        ("predict nowhere.skops ok.csv", "There is no file nowhere.skops"),
        ("predict binary.skops ok.csv", "is not a model of termsieve"),
        ("predict folder ok.csv", "Is a directory"),
    ],
)
def test_a_mistake_is_one_line_and_code_1(arguments, said, typed, folder):
    before = sorted(folder.iterdir())
    code, out, err = typed(*arguments.split(" "))
    assert code == 1
    assert out == ""
    assert said in one_line(err)
    assert sorted(folder.iterdir()) == before


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("rank a.txt b.txt --text body", "--text NAME says nothing"),
        ("rank ok.csv --score bms", "Did you mean 'bns'?"),
        ("rank ok.csv --score mi", "means two things"),
        ("rank ok.csv --score bns(floor=9)", "'floor' of 'bns' must be"),
        ("rank ok.csv --class z", "There is no class 'z'"),
        ("rank ok.csv --min-df 99", "No term is left"),
        ("rank ok.csv --encoding klingon", "encoding must be"),
        ("rank ok.csv --stemmer klingon", "unknown stemmer"),
        ("rank ok.csv --stop-words nowhere", "there is no file 'nowhere'"),
        ("rank ok.csv --pattern (", "not a regular expression"),
        ("select ok.csv --rule gu", "'gu' is a score"),
        ("select ok.csv --rule energy(9)", "must be a number in [0, 1]"),
        ("select ok.csv --score f1 --rule fdr(0.05)", "f1"),
        ("select ok.csv --aggregate nope", "Unknown aggregation"),
        ("compare ok.csv --cv 50", "cannot split these documents"),
        ("compare ok.csv --score nope", "Unknown score"),
        ("compare ok.csv --classifier nope", "Unknown classifier"),
        ("compare ok.csv --weighting nope", "Unknown weighting"),
        ("compare ok.csv --cv 2 --measure f1", "Unknown measure 'f1'"),
        ("compare ok.csv --cv 2 --measure accuracy --per-class", "Unknown measure 'accuracy'"),
        ("compare ok.csv --cv 2 -k 99999999999", "2,147,483,647 or less"),
        ("train ok.csv -o x.skops", "With 10 documents of each class there would be an answer"),
        ("train ok.csv -o x.skops --cv 0", "must each be given"),
        ("train ok.csv -o x.skops --classifier nope", "Unknown classifier"),
        ("scores nope", "Unknown score"),
    ],
)
def test_an_option_that_makes_no_sense_is_one_line_and_code_2(arguments, said, typed, folder):
    before = sorted(folder.iterdir())
    code, out, err = typed(*arguments.split(" "))
    assert (code, out) == (2, "")
    assert said in one_line(err)
    assert sorted(folder.iterdir()) == before


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "arguments",
    [
        "rank ok.csv -o ok.csv",
        "rank ok.csv -o folder/../ok.csv",
        "rank a.txt b.txt -o b.txt",
        "rank ok.csv --stop-words a.txt -f csv -o a.txt",
        "select ok.csv -o ok.csv",
        "count ok.csv -o ok.csv",
        "compare ok.csv -o means.csv -o ok.csv",
        "compare ok.csv --journal empty.csv -o empty.csv",
        "report list.json -o list.json",
        "report binary.parquet -o binary.parquet",
        "train ok.csv -o ok.csv",
        "predict binary.skops a.txt -o a.txt",
        "predict binary.skops a.txt -f csv -o binary.skops",
    ],
)
def test_an_input_is_not_overwritten(arguments, typed, folder):
    code, out, err = typed(*arguments.split(" "))
    assert (code, out) == (1, "")
    assert "is read as an input" in one_line(err)
    assert {name: (folder / name).read_bytes() for name in FILES} == FILES


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("rank", "Missing argument"),
        ("rank ok.csv --top 0", "--top"),
        ("rank ok.csv --top many", "--top"),
        ("rank ok.csv --format xml", "xml"),
        ("rank ok.csv -o x.xyz", ".parquet"),
        ("rank ok.csv --overall --against", "--overall"),
        ("rank ok.csv --min-df few", "--min-df"),
        ("rank ok.csv --ngrams two", "--ngrams"),
        ("rank ok.csv --split nonsense", "COLUMN=VALUE"),
        ("rank ok.csv --threads 0", "--threads"),
        ("rank - ok.csv", "standard input"),
        ("rank ok.csv --text \udcff", "is not valid UTF-8"),
        ("rank ok.csv --score \udcff", "is not valid UTF-8"),
        ("train ok.csv -o x.skops --classifier \udcff", "is not valid UTF-8"),
        ("scores \udcff", "is not valid UTF-8"),
        ("report ok.csv -o page.txt", "a page has the extension .html"),
        ("select ok.csv -k five", "not a number of terms"),
        ("select ok.csv -k 0", "not a number of terms"),
        ("select ok.csv -k 5 --rule top(5)", "not both"),
        ("count ok.csv", "give the file to write"),
        ("compare ok.csv -k x", "not a number of terms"),
        ("compare ok.csv -o x.doc", ".html"),
        ("compare ok.csv --figures folder", "give -o report.html"),
        ("train ok.csv -o x.skops -k 5 --rule top(5)", "not both"),
        ("train ok.csv -o x.skops -k five", "not a number of terms"),
        ("nonsense", "No such command"),
        ("--nonsense", "No such option"),
    ],
)
def test_wrong_usage_is_code_2(arguments, said, typed):
    code, out, err = typed(*arguments.split(" "))
    assert (code, out) == (2, "")
    assert said in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err


@contextmanager
def as_nobody():
    """Without the rights of root, who may read and write everything."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.skipif(os.name != "posix", reason="rights are another matter there")
def test_files_that_may_not_be_read_or_written(typed):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for file, mode in (("x.csv", 0), ("y.csv", 0o644)):
            (folder / file).write_bytes(FILES["ok.csv"])
            (folder / file).chmod(mode)
        (folder / "closed").mkdir(mode=0o555)
        with as_nobody():
            unread = typed("rank", folder / "x.csv")
            unwritten = typed("rank", folder / "y.csv", "-o", folder / "closed" / "x.csv")
        for (code, out, err), said in ((unread, "x.csv"), (unwritten, "is not writable")):
            assert (code, out) == (1, "")
            assert said in " ".join(err.split())


OPTIONS = [
    "--score", "--top", "--overall", "--against", "--class", "--text", "--label", "--label-sep", "--split", "--ngrams",
    "--min-df", "--max-df", "--stop-words", "--pattern", "--min-length", "--format", "--by-file", "--keep-case", "-q",
    "--rule", "-k", "--characters", "--encoding",
]  # fmt: skip
VALUES = [
    "",
    "x",
    "0",
    "-1",
    "1e9",
    "50%",
    "gu",
    "chi2,gu",
    "text",
    "label",
    "label=x",
    "tsv",
    "json",
    "(",
    "é",
    "\x1b",
    "utf-16",
]


@given(
    st.sampled_from(["rank", "select"]),
    st.lists(st.sampled_from(sorted(FILES)), min_size=1, max_size=2),
    st.lists(st.sampled_from(OPTIONS + VALUES) | st.text(max_size=5), max_size=5),
)
def test_whatever_is_typed_ends_with_a_code(folder, command, files, rest):
    """No exception but the program's own comes out; what they become, `run` says."""
    names = [str(folder / name) for name in files]
    try:
        app([command, *names, *rest], prog_name="termsieve")
    except TermsieveError as error:
        assert str(error)  # noqa: PT017
    except SystemExit as end:
        assert end.code in (0, 2)  # noqa: PT017


@pytest.mark.parametrize("command", ["count ok.csv", "train ok.csv --cv 0 -k 2", "merge ok.counts"])
def test_the_name_of_standard_input_is_not_written_to(command, typed, folder, monkeypatch):
    monkeypatch.chdir(folder)
    code, _, err = typed(*command.split(), "-o", "-")
    assert (code, "is no name for a file to write" in err) == (1, True), err
    assert not (folder / "-").exists()


@pytest.mark.parametrize("typed_name", ["~nobody_of_that_name", "~nobody_of_that_name/mail.csv"])
def test_the_home_of_nobody_is_a_file_that_is_not_there(typed_name, typed):
    code, _, err = typed("rank", typed_name)
    assert (code, "There is no file" in err) == (1, True), err


def test_what_is_no_mistake_of_the_user_is_not_hidden(monkeypatch, tmp_path):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("termsieve.cli.reading.read_counts", broken)
    (tmp_path / "x.csv").write_bytes(FILES["ok.csv"])
    with pytest.raises(ZeroDivisionError):
        run(["rank", str(tmp_path / "x.csv")])


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "not enough memory"),
        (OSError(28, "No space left on device", "x.csv"), "x.csv: No space left on device."),
    ],
)
def test_failures_of_the_machine_are_one_line(error, said, monkeypatch, tmp_path, typed):
    def broken(*_):
        raise error

    monkeypatch.setattr("termsieve.cli.reading.read_counts", broken)
    (tmp_path / "x.csv").write_bytes(FILES["ok.csv"])
    code, _, err = typed("rank", tmp_path / "x.csv")
    assert code == 1
    assert said in one_line(err)


NULL_RESULT = "<function _find_and_load> returned NULL without setting an exception"


def run_with_failure(error, monkeypatch, tmp_path, *, limit, peak):
    """Have a command fail in a process with a limit of memory, both in MB."""
    sizes = {"VmPeak": peak << 20, "VmSize": 0}
    monkeypatch.setattr(memory_limit, "find_limit", lambda: limit and limit << 20)
    monkeypatch.setattr(memory_limit, "_read_status", sizes.get)

    def broken(*_):
        raise error

    monkeypatch.setattr("termsieve.cli.reading.read_counts", broken)
    (tmp_path / "x.csv").write_bytes(FILES["ok.csv"])
    return run(["rank", str(tmp_path / "x.csv")])


@pytest.mark.parametrize(
    "error", [SystemError(NULL_RESULT), RuntimeError("can't start new thread"), ImportError("no", name="termsieve.x")]
)
def test_any_failure_at_the_limit_of_memory_is_one_line(error, monkeypatch, tmp_path, capsys):
    assert run_with_failure(error, monkeypatch, tmp_path, limit=700, peak=690) == 1
    said = one_line(capsys.readouterr().err)
    assert "not enough memory" in said
    assert "700 MB" in said
    assert str(error) in said


@pytest.mark.parametrize(("limit", "peak"), [(None, 690), (700, 600)])
def test_a_failure_far_from_the_limit_of_memory_is_not_hidden(limit, peak, monkeypatch, tmp_path):
    with pytest.raises(SystemError):
        run_with_failure(SystemError(NULL_RESULT), monkeypatch, tmp_path, limit=limit, peak=peak)


def test_a_lack_of_memory_that_a_library_has_wrapped_is_one_line(monkeypatch, tmp_path, capsys):
    error = RuntimeError("it failed")
    error.__cause__ = MemoryError()
    assert run_with_failure(error, monkeypatch, tmp_path, limit=None, peak=0) == 1
    assert "not enough memory" in one_line(capsys.readouterr().err)


@pytest.mark.skipif(sys.platform != "linux", reason="sizes of processes as Linux tells them")
def test_sizes_of_this_process_are_found():
    assert 0 < memory_limit._read_status("VmSize") <= memory_limit._read_status("VmPeak")
    assert memory_limit._read_status("VmNothing") is None


@pytest.mark.parametrize(("used", "is_refused"), [(600, True), (100, False)])
def test_a_large_library_is_loaded_only_where_there_is_memory_for_it(used, is_refused, monkeypatch):
    monkeypatch.setattr(memory_limit, "find_limit", lambda: 700 << 20)
    monkeypatch.setattr(memory_limit, "_read_status", {"VmSize": used << 20}.get)
    monkeypatch.setattr(memory_limit, "count_cores", lambda: 2)
    guard = memory_limit._LibraryGuard()
    assert guard.find_spec("json", None) is None
    with pytest.raises(MemoryError) if is_refused else nullcontext():
        guard.find_spec("scipy.linalg", None)
