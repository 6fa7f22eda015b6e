"""Every command that reads documents reads standard input, once, and makes of it what it makes of a file."""

import io
import json
import sys

import pytest

import termsieve as ts
from termsieve.model import Model

WORDS = ["free", "win", "prize", "claim", "cash", "urgent", "lunch"]
OTHERS = ["meeting", "noon", "home", "later", "see", "come", "today"]
SMALL = ("--score", "chi2", "--classifier", "multinomial_nb", "-k", "3,all", "--cv", "3")
# commands; {} is the file, and what begins with out is written
COMMANDS = [
    ("rank", "{}"),
    ("rank", "{}", "--pvalues", "--intervals", "--dispersion"),
    ("rank", "{}", "-o", "out.csv"),
    ("select", "{}", "-k", "5"),
    ("select", "{}", "-k", "5", "--stability"),
    ("select", "{}", "-k", "5", "--explain"),
    ("select", "{}", "--rule", "cmim(5)"),
    ("select", "{}", "--rule", "stable(5, share=0.5)"),
    ("select", "{}", "--rule", "stable(5, share=0.5)", "--explain"),
    ("count", "{}", "-o", "out.counts"),
    ("count", "{}", "-o", "out.counts", "--memory", "1GB"),
    ("compare", "{}", *SMALL),
    ("compare", "{}", *SMALL, "--journal", "study"),
    ("compare", "{}", *SMALL, "-o", "out.csv"),
    ("train", "{}", *SMALL, "-o", "out.skops"),
    ("train", "{}", *SMALL[:4], "-k", "3", "--cv", "0", "-o", "out.skops"),
    ("multiverse", "{}", "--vary", "lowercase", "--vary", "min_df=1,2", "--score", "chi2,bns", "-k", "3", "--cv", "3"),
    ("compress", "{}", "--bytes", "300", "-o", "out.bin"),
    ("keywords", "{}", "--reference", "reference.jsonl"),
    ("keywords", "other.jsonl", "--reference", "{}"),
    ("kwic", "{}", "prize"),
    ("kwic", "{}", "prize", "--sort", "right"),
    ("kwic", "{}", "prize", "--collocates"),
    ("changes", "{}", "--by", "month"),
    ("changes", "other.counts", "{}"),
    ("sources", "{}", "--by", "month", "-k", "5"),
    ("forget", "other.counts", "{}", "-o", "out.counts", "--receipt", "receipts"),
    ("predict", "model.skops", "{}"),
    ("predict", "model.skops", "{}", "--explain"),
    ("predict", "model.skops", "{}", "--label", "label"),
    ("export", "model.skops", "--bytes", "300", "--documents", "{}", "-o", "out.js"),
]


def write_lines(path, records):
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file of documents, and what commands need beside it."""
    folder = tmp_path_factory.mktemp("stdin")
    documents = []
    for i in range(60):
        mine = WORDS if i % 2 else OTHERS
        words = [mine[(i * j) % 7] for j in range(1, 5)] + [(WORDS + OTHERS)[(i * 5 + i // 7) % 14]]
        documents.append({"text": " ".join(words).title(), "label": ["ham", "spam"][i % 2], "month": f"2024-0{i % 3}"})
    write_lines(folder / "documents.jsonl", documents)
    write_lines(folder / "other.jsonl", documents[::3])
    write_lines(folder / "reference.jsonl", [{"word": word, "freq": n} for n, word in enumerate(WORDS + OTHERS, 5)])
    ts.count(ts.read(folder / "documents.jsonl")).save(folder / "other.counts")
    model = ts.train(ts.read(folder / "documents.jsonl"), scores="chi2", ks=5, classifiers="linear_svm", cv=0)
    model.save(folder / "model.skops")
    return folder


@pytest.fixture
def type_with(folder, typed, monkeypatch, tmp_path):
    """Type a command, with the documents as a file or as standard input; and what it wrote."""

    def type_(command, given, content):
        monkeypatch.chdir(tmp_path)
        for path in tmp_path.iterdir():
            path.unlink()
        for path in folder.iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        code, out, said = typed(*(one.replace("{}", given) for one in command))
        assert code == 0, said
        return out, {path.name: path.read_bytes() for path in sorted(tmp_path.glob("out*"))}

    return type_


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_standard_input_gives_what_the_file_gives(command, folder, type_with):
    name = "reference.jsonl" if command[:2] == ("keywords", "other.jsonl") else "documents.jsonl"
    from_file = type_with(command, name, b"")
    from_stdin = type_with(command, "-", (folder / name).read_bytes())
    assert from_stdin == from_file
    assert from_file[0] or from_file[1]


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "{}", *SMALL[:4], "-k", "3", "--cv", "3", "-o", "out.html"),
        ("multiverse", "{}", "--vary", "lowercase", *SMALL[:2], "-k", "3", "--cv", "3", "-o", "out.html"),
    ],
)
def test_pages_from_standard_input_have_all_that_they_have_from_a_file(command, folder, type_with):
    pages = [
        type_with(command, given, content)[1]["out.html"].decode()
        for given, content in (("documents.jsonl", b""), ("-", (folder / "documents.jsonl").read_bytes()))
    ]
    assert pages[0].count("<h2") == pages[1].count("<h2") > 5
    assert pages[0].count("<svg") == pages[1].count("<svg")
    assert "half-samples" in pages[0]
    assert "half-samples" in pages[1]


def test_a_page_of_terms_from_standard_input_says_what_it_lacks(folder, typed, monkeypatch, tmp_path):
    content = (folder / "documents.jsonl").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    code, _, said = typed("report", "-", "-o", tmp_path / "x.html")
    assert code == 0
    assert "no excerpts" in said
    assert "no excerpts" not in typed("report", folder / "documents.jsonl", "-o", tmp_path / "x.html")[2]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("count", "-", "--update", "log.counts"), "is one of files"),
        (("count", "-", "--engine", "spark", "-o", "x.counts"), "spark reads files"),
        (("changes", "-", "-"), "cannot be given twice"),
        (("keywords", "-", "--reference", "-"), "not both"),
        (("rank", "-", "-"), "together with other files"),
        (("forget", "log.counts", "-"), "is one of files"),
    ],
)
def test_what_must_be_files_is_refused_before_anything_is_read(command, said, folder, typed, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert typed("count", folder / "documents.jsonl", "--update", "log.counts")[0] == 0
    before = (tmp_path / "log.counts").read_bytes()
    stdin = io.BytesIO((folder / "documents.jsonl").read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stdin))
    code, _, error = typed(*command)
    assert code
    assert said in " ".join(error.split())
    assert stdin.tell() == 0
    assert (tmp_path / "log.counts").read_bytes() == before


def test_an_open_file_can_be_compared_and_learned_from(folder):
    """What can be read once serves a comparison with its excerpts and the stability of its terms, and a model."""
    with (folder / "documents.jsonl").open("rb") as file:
        result = ts.compare(ts.read(file), scores=["chi2"], classifiers=["multinomial_nb"], ks=[3], cv=3)
    assert "stable_terms" in result.settings
    assert result.excerpts
    with (folder / "documents.jsonl").open("rb") as file:
        assert isinstance(ts.train(ts.read(file), scores="chi2", ks=3, cv=3), Model)
