"""Nothing that a term holds steers a terminal or runs in a spreadsheet, and nothing is lost in a file."""

import csv
import io
import json
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.text import Text

from termsieve.cli import run
from termsieve.cli.messages import escape_controls
from termsieve.cli.output import Format, OutputOptions, Sheet, escape_formula
from termsieve.cli.screen import bar_shares, draw_bar, format_number, make_cell, render_plain
from termsieve.errors import OutputError
from termsieve.views import format_percent

HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "a\u202eb",
    "\u2066x",
    "c1 \x9b31m",
    "del \x7f",
    "tab\there",
    "new\nline",
    "back\\slash",
    "[red]markup[/red]",
    ":smile:",
    "=cmd|'/c calc'!A0",
    "שלום",
    "漢字" * 40,
]
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200f\u202a-\u202e\u2066-\u2069]")
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)


def sheet_of(terms):
    return Sheet(("term", "score"), [[term, 1.5] for term in terms], lambda: Text("view"), lambda: terms)


def printed(terms, how, *, safe_csv=False, tmp_path):
    path = tmp_path / "x"
    OutputOptions(path, Format(how), safe_csv).write(sheet_of(terms))
    return path.read_bytes().decode("utf-8")


@given(texts)
def test_visible_text_has_no_control(text):
    shown = escape_controls(text)
    assert not FORBIDDEN.search(shown)
    assert all(unicodedata.category(char) not in ("Cc", "Zl", "Zp") for char in shown)


@given(st.text(st.characters(categories=("L", "N", "P", "S", "M", "Zs"))))
def test_what_is_visible_stays_as_it_is(text):
    assert escape_controls(text) == text


@given(texts)
def test_a_cell_is_one_line_without_control(text):
    shown = render_plain(make_cell(text))
    assert shown.count("\n") == 1
    assert not FORBIDDEN.search(shown.rstrip("\n"))


@pytest.mark.parametrize("term", HOSTILE)
def test_no_term_steers_the_terminal(term, tmp_path, capsys, monkeypatch):
    path = tmp_path / "x.jsonl"
    rows = [{"text": term, "label": f"class {term}"}, {"text": "plain", "label": "b"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    for how in ("table", "tsv", "csv", "json"):
        assert run(["rank", str(path), "--pattern", r"(?s).+", "--format", how]) == 0
        said = capsys.readouterr()
        assert not FORBIDDEN.search(said.out), how
        assert not FORBIDDEN.search(said.err)


def test_messages_are_harmless(tmp_path, capsys):
    assert run(["rank", str(tmp_path / "\x1b[31mno\x1b[0m.csv")]) == 1
    assert "\x1b" not in capsys.readouterr().err


@given(st.lists(texts))
def test_tab_separated_text_is_lossless(tmp_path_factory, terms):
    content = printed(terms, "tsv", tmp_path=tmp_path_factory.mktemp("x"))
    lines = content.split("\n")
    assert lines[0] == "term\tscore"
    assert [line.split("\t") for line in lines[1:-1]] == [[_escaped(term), "1.5"] for term in terms]
    assert [_unescaped(_escaped(term)) for term in terms] == terms


def _escaped(term):
    """A second way to the same: character by character."""
    named = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}
    return "".join(
        named.get(char) or (f"\\x{ord(char):02x}" if unicodedata.category(char) == "Cc" else char) for char in term
    )


def _unescaped(text):
    codes = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
    return re.sub(
        r"\\(x..|.)", lambda found: chr(int(found[1][1:], 16)) if found[1][0] == "x" else codes[found[1]], text
    )


@given(st.lists(texts))
def test_csv_and_json_are_lossless(tmp_path_factory, terms):
    folder = tmp_path_factory.mktemp("x")
    content = printed(terms, "csv", tmp_path=folder)
    assert [row[0] for row in csv.reader(io.StringIO(content, newline=""))][1:] == terms
    assert [row["term"] for row in json.loads(printed(terms, "json", tmp_path=folder))] == terms
    lines = printed(terms, "jsonl", tmp_path=folder).split("\n")[:-1]
    assert [json.loads(line)["term"] for line in lines] == terms


def test_infinity_is_null_in_json_and_inf_elsewhere(tmp_path):
    sheet = Sheet(("score",), [[float("inf")], [-1.0]], lambda: Text(""))
    OutputOptions(tmp_path / "x.json").write(sheet)
    assert json.loads((tmp_path / "x.json").read_text()) == [{"score": None}, {"score": -1.0}]
    OutputOptions(tmp_path / "x.csv").write(sheet)
    assert (tmp_path / "x.csv").read_text() == "score\ninf\n-1.0\n"


@pytest.mark.parametrize("how", ["csv", "tsv"])
def test_safe_csv_has_no_formula(how, tmp_path):
    formulas = ["=1+1", "+1", "-1", "@sum", "\t=1", " =1", "＝1", "\r=1"]  # noqa: RUF001
    assert all(not line.startswith("'") for line in printed(formulas, how, tmp_path=tmp_path).split("\n"))
    content = printed(["plain", *formulas], how, safe_csv=True, tmp_path=tmp_path)
    cells = [row[0] for row in csv.reader(io.StringIO(content, newline=""), delimiter="," if how == "csv" else "\t")]
    assert cells[1] == "plain"
    assert all(one.startswith("'") for one in cells[2:])


def test_safe_csv_has_all_text_in_quotes(tmp_path):
    """Where a semicolon divides cells, it does not do so within quotes."""
    rows = [["x;=1+1", -1.5, 2, True, ["a"]], ["", None, 0, False, []]]
    sheet = Sheet(("term", "score", "n", "there", "parts"), rows, lambda: "")
    OutputOptions(tmp_path / "x.csv", safe_csv=True).write(sheet)
    assert (tmp_path / "x.csv").read_text("utf-8").splitlines() == [
        '"term","score","n","there","parts"',
        '"x;=1+1",-1.5,2,true,"[""a""]"',
        '"",,0,false,"[]"',
    ]


def test_numbers_are_no_formulas():
    assert (escape_formula(-1.5), escape_formula(None), escape_formula("a=b")) == (-1.5, None, "a=b")


def test_a_term_of_two_lines_is_no_line(tmp_path):
    with pytest.raises(OutputError, match="line break"):
        printed(["a\nb"], "txt", tmp_path=tmp_path)
    assert not (tmp_path / "x").exists()


# How numbers look


@given(st.floats(0, 1))
def test_percentages_are_short_and_near(share):
    shown = format_percent(share)
    assert len(shown) <= 9
    if not shown.startswith(("<", ">")):
        value = float(shown.removesuffix(" %")) / 100
        assert abs(value - share) <= max(0.051 * share, 0.00001)
        assert (value == 0) == (share == 0)
        assert (value == 1) == (share == 1)


@given(st.floats(allow_nan=False))
def test_numbers_are_short(x):
    assert len(format_number(x)) <= 12


@given(st.lists(st.floats(allow_nan=False), min_size=1))
@example([9.873980177948425e300, -1.797693036122514e308])
@example([1e292, -1.7e308])
@example([1e308, -1e308])
def test_bars_fit(values):
    shares = bar_shares(values)
    assert all(0 <= share <= 1 for share in shares)
    assert all(len(draw_bar(share, 12)) <= 12 for share in shares)
    finite = [x for x in values if abs(x) != float("inf")]
    if finite and max(finite) > 0:
        assert shares[values.index(max(finite))] == 1
