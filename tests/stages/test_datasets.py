"""The catalogue of corpora, where they are looked for, and the real ones where they are here."""

import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import zipfile
import zlib
from collections import Counter
from pathlib import Path

import pytest
from oracles import layouts
from typer.testing import CliRunner

from termsieve import datasets
from termsieve.cli import app
from termsieve.cli.completion import complete_corpora
from termsieve.datasets import CORPORA
from termsieve.datasets.json_form import ConversionSummary, compress_lines
from termsieve.errors import InputError, OptionError

COMMAND = str(Path(sys.executable).with_name("termsieve"))
PAPERS = {"gu", "ifs", "pip", "imbalanced", "ocfs"}
REAL = [name for name, record in CORPORA.items() if record.fingerprint]
LAYOUTS = {
    "20news_19997": layouts.newsgroups_archive,
    "20news_bydate": layouts.newsgroups_archive,
    "reuters21578": layouts.reuters_archive,
    "enron1": layouts.enron_archive,
    "ohsumed_20000": layouts.ohsumed_archive,
}


# The catalogue


@pytest.mark.parametrize("record", CORPORA.values(), ids=CORPORA)
def test_a_record_is_complete_and_makes_sense(record):
    assert re.fullmatch(r"[a-z0-9_]+", record.name)
    assert all((record.title, record.licence, record.citation, record.home.startswith("http"), record.classes > 1))
    assert set(record.papers) <= PAPERS
    assert not record.splits or sum(record.splits.values()) == record.documents
    assert bool(record.archives) == bool(record.converter) != bool(record.stand_in_for)
    assert (record.sha256 is None) == (record.fingerprint is None)
    for value in (record.sha256, record.fingerprint, *(archive.sha256 for archive in record.archives)):
        assert value is None or re.fullmatch(r"[0-9a-f]{64}", value)
    for archive in record.archives:
        assert all(re.match(r"https?://[^/]+/", url) for url in archive.urls)


def test_every_paper_has_a_corpus():
    assert {paper for record in CORPORA.values() for paper in record.papers} == PAPERS


def test_stand_ins_stand_in_for_corpora_that_we_could_not_have():
    stand_ins = {record.name: record.stand_in_for for record in CORPORA.values() if record.stand_in_for}
    assert stand_ins == {"arxiv_abstracts": "rcv1", "arxiv_titles": "odp"}
    assert all(CORPORA[name].fingerprint is None for name in stand_ins.values())


def test_records_cannot_be_changed():
    with pytest.raises(AttributeError):
        CORPORA["enron1"].documents = 1
    with pytest.raises(TypeError):
        CORPORA["mine"] = CORPORA["enron1"]


def test_a_corpus_that_is_not_here_is_answered_with_the_place_and_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("TERMSIEVE_DATA", str(tmp_path))
    monkeypatch.setattr("termsieve.datasets.locations.user_cache_path", lambda name, **_: tmp_path / "cache")
    for name in CORPORA:
        assert datasets.locate(name) is None
        with pytest.raises(InputError) as caught:
            datasets.load(name)
        assert f"no {name}.jsonl.gz in {tmp_path} and {tmp_path / 'cache'}" in str(caught.value)
        assert (f"termsieve datasets get {name}" in str(caught.value)) == bool(CORPORA[name].archives)


def test_an_unknown_corpus_is_answered_with_known_ones():
    with pytest.raises(OptionError, match=r"Did you mean 'enron1'\? Known are: 20news_19997"):
        datasets.find("enron")


# The command


def test_a_pipe_gets_one_line_for_each_corpus(tmp_path):
    folders = dict.fromkeys(("TERMSIEVE_DATA", "XDG_CACHE_HOME", "HOME"), str(tmp_path))
    (tmp_path / "enron1.jsonl.gz").write_bytes(b"")
    done = subprocess.run([COMMAND, "datasets"], capture_output=True, text=True, check=True, env=os.environ | folders)
    header, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    found = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    assert list(found) == list(CORPORA)
    assert {name for name, row in found.items() if row["here"] == "true"} == {"enron1"}
    assert found["enron1"]["place"] == str(tmp_path / "enron1.jsonl.gz")
    assert found["reuters21578"]["documents"] == "21578"
    assert found["reuters21578"]["papers"] == "pip imbalanced"
    assert found["arxiv_titles"]["stand_in_for"] == "odp"
    assert all(row["licence"] for row in found.values())


def test_a_terminal_gets_a_table():
    done = CliRunner().invoke(app, ["datasets", "--format", "table"], env={"COLUMNS": "160"})
    assert done.exit_code == 0
    for record in CORPORA.values():
        (line,) = [line for line in done.stdout.splitlines() if line.startswith(f"{record.name} ")]
        assert record.licence in line
        assert f"stand-in for {record.stand_in_for}" in line or not record.stand_in_for


def test_a_mistake_is_one_line_and_exit_code_2():
    done = subprocess.run([COMMAND, "datasets", "get", "enrom1"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("termsieve: There is no corpus 'enrom1'. Did you mean 'enron1'?")
    assert "Traceback" not in done.stderr


def test_names_are_completed():
    assert dict(complete_corpora("")) == {name: record.title for name, record in CORPORA.items()}
    assert [name for name, _ in complete_corpora("20")] == ["20news_19997", "20news_bydate"]


# The real ones


@pytest.fixture
def real():
    """The path of a corpus that is here; where all must be, its absence is a failure."""

    def path(name):
        found = datasets.locate(name)
        if found is None and not os.environ.get("CI"):
            pytest.skip(f"the corpus {name} is not here; TERMSIEVE_DATA names the folder")
        return found or datasets.find(name)

    return path


@pytest.mark.parametrize("name", REAL)
def test_a_real_corpus_is_what_its_record_says(name, real):
    record, content = CORPORA[name], real(name).read_bytes()
    assert (len(content), hashlib.sha256(content).hexdigest()) == (record.size, record.sha256)
    lines = gzip.decompress(content)
    assert hashlib.sha256(lines.replace(rb"\r\n", rb"\n")).hexdigest() == record.fingerprint
    assert list(json.loads(lines[: lines.index(b"\n")]))[:4] == ["id", "split", "labels", "text"]
    splits, classes, ids = Counter(), set(), set()
    for batch in datasets.load(name).batches(["id", "split"]):
        splits.update(batch["split"].to_pylist())
        classes.update(batch["labels"].flatten().unique().to_pylist())
        ids.update(batch["id"].to_pylist())
    assert (len(ids), len(classes)) == (record.documents, record.classes)
    assert splits == (record.splits or {None: record.documents})


def test_a_real_corpus_is_read_as_documents(real):
    real("reuters21578")
    splits, labels = Counter(), Counter()
    for batch in datasets.load("reuters21578").batches(["split", "meta"]):
        for split, topics, meta in zip(*(batch[name].to_pylist() for name in ("split", "labels", "meta")), strict=True):
            splits[split] += 1
            labels.update(topics if json.loads(meta)["lewissplit"] == "TRAIN" and split else [])
    assert splits == CORPORA["reuters21578"].splits
    top = {"earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "wheat", "ship", "corn"}
    assert {topic for topic, _ in labels.most_common(10)} == top


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_the_real_layout_gives_the_real_corpus(name, real, tmp_path):
    """Put the real documents into an archive as their corpus has it, and convert that: the same documents come out."""
    record, tally = CORPORA[name], ConversionSummary()
    documents = [json.loads(line) for line in gzip.decompress(real(name).read_bytes()).split(b"\n")[:-1]]
    path = tmp_path / "archive"
    path.write_bytes(layouts.tar_bytes(LAYOUTS[name](documents), ""))
    found = [json.loads(line) for line in tally.encode_documents(record.converter({record.archives[0].name: path}))]
    assert tally.fingerprint == record.fingerprint
    different = [one["id"] for one, other in zip(found, documents, strict=True) if one != other]
    assert len(different) == (3 if name == "enron1" else 0)  # mails with the ends of lines that the archive has


@pytest.mark.skipif("ng" in zlib.ZLIB_RUNTIME_VERSION, reason="zlib-ng packs in its own way")
def test_the_real_layout_gives_the_real_bytes(real, tmp_path):
    record, content = CORPORA["sms_spam"], real("sms_spam").read_bytes()
    documents = [json.loads(line) for line in gzip.decompress(content).split(b"\n")[:-1]]
    path = tmp_path / "archive"
    path.write_bytes(layouts.zip_bytes(layouts.sms_archive(documents)))
    with zipfile.ZipFile(path) as archive:  # the checksum of this file, as others have published it
        published = "7d039a24a6083ed9ef0f806ebad56bbb976e3aeb8de05669173bfdc4996c239d"
        assert hashlib.sha256(archive.read("SMSSpamCollection")).hexdigest() == published
    assert (
        b"".join(
            compress_lines(ConversionSummary().encode_documents(record.converter({record.archives[0].name: path})))
        )
        == content
    )
