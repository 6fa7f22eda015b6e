"""Getting a corpus: from a server, here one of our own, or from a file; and what is refused on the way."""

import gzip
import hashlib
import json
import threading
from collections import Counter
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType

import pytest
from oracles import layouts
from typer.testing import CliRunner

from termsieve import datasets
from termsieve.cli import app
from termsieve.datasets import catalogue, downloads
from termsieve.datasets.records import Archive
from termsieve.errors import InputError, OptionError, OutputError

MESSAGES = [
    {"id": f"sms-{i:04d}", "split": None, "labels": ["spam" if i % 3 else "ham"], "text": f"message {i} £"}
    for i in range(1, 8)
]
ARCHIVE = layouts.zip_bytes(layouts.sms_archive(MESSAGES))
LINES = "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in MESSAGES).encode()
SUM = hashlib.sha256(ARCHIVE).hexdigest()
SIZE, COUNT = len(ARCHIVE), len(MESSAGES)
NAME = "smsspamcollection.zip"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A user without corpora: the cache is an empty folder."""
    monkeypatch.delenv("TERMSIEVE_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("termsieve.datasets.locations.user_cache_path", lambda name, **_: tmp_path / "cache" / name)
    return tmp_path / "cache" / "termsieve"


class Server:
    """Serves files on this machine, and counts who asked for what."""

    def __init__(self):
        self.files = {}
        self.asked = Counter()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.asked[self.path] += 1
                content, length = server.files.get(self.path, (None, 0))
                self.send_response(404 if content is None else 200)
                if self.path.endswith(".gz"):  # as an old Apache does
                    self.send_header("Content-Encoding", "x-gzip")
                self.send_header("Content-Length", str(length))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def put(self, path, content, length=None):
        self.files[path] = (content, len(content) if length is None else length)
        return self.url + path


@pytest.fixture
def server():
    server = Server()
    yield server
    server.http.shutdown()
    server.http.server_close()


@pytest.fixture
def known(monkeypatch):
    """Change what is known of a corpus."""

    def change(name, **facts):
        changed = dict(catalogue.CORPORA) | {name: replace(catalogue.CORPORA[name], **facts)}
        monkeypatch.setattr(catalogue, "CORPORA", MappingProxyType(changed))

    return change


@pytest.fixture
def sms(server, known):
    """The SMS corpus with seven messages, on our server."""
    url = server.put("/sms.zip", ARCHIVE)

    def change(urls=(url,), sha256=SUM, size=SIZE, documents=COUNT, **facts):
        known("sms_spam", archives=(Archive(NAME, tuple(urls), sha256, size),), documents=documents, **facts)

    change()
    return change


def contents(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


# Download


def test_a_corpus_is_downloaded_verified_converted_and_cached(sms, server, home):
    said = []
    path = datasets.get("sms_spam", tell=said.append)
    assert path == home / "sms_spam.jsonl.gz" == datasets.find("sms_spam")
    assert gzip.decompress(path.read_bytes()) == LINES
    assert contents(home) == [f"archives/{NAME}", "sms_spam.jsonl.gz"]
    assert any("7 documents in 2 classes" in line for line in said)
    assert any("differ slightly from those of our results" in line for line in said)
    assert datasets.get("sms_spam") == path
    assert server.asked == {"/sms.zip": 1}
    batch = next(datasets.load("sms_spam").batches(["id", "split"]))
    assert batch.to_pylist() == MESSAGES


def test_the_same_archive_gives_the_same_bytes(sms, tmp_path):
    first = datasets.get("sms_spam", folder=tmp_path / "a").read_bytes()
    second = datasets.get("sms_spam", folder=tmp_path / "b" / "c").read_bytes()
    assert first == second
    assert first[4:8] == bytes(4)  # no date
    assert datasets.get("sms_spam", folder=tmp_path / "a", progress=True).read_bytes() == first


def test_the_documents_of_our_results_are_recognised(sms):
    sms(fingerprint=hashlib.sha256(LINES).hexdigest())
    said = []
    datasets.get("sms_spam", tell=said.append)
    assert "the documents are identical to those of our results" in said


def test_the_folder_is_that_of_the_variable(sms, tmp_path, monkeypatch, home):
    monkeypatch.setenv("TERMSIEVE_DATA", str(tmp_path / "mine"))
    assert datasets.get("sms_spam") == tmp_path / "mine" / "sms_spam.jsonl.gz"
    assert not home.exists()
    monkeypatch.setenv("TERMSIEVE_DATA", str(tmp_path / "other"))
    with pytest.raises(InputError, match="is not on this machine"):
        datasets.find("sms_spam")
    datasets.get("sms_spam", folder=home)
    assert datasets.find("sms_spam") == home / "sms_spam.jsonl.gz"  # the cache is looked into as well


def test_an_archive_that_is_here_is_not_downloaded_again(sms, server, tmp_path):
    datasets.get("sms_spam", folder=tmp_path)
    (tmp_path / "sms_spam.jsonl.gz").unlink()
    datasets.get("sms_spam", folder=tmp_path)
    assert server.asked == {"/sms.zip": 1}


def test_an_archive_that_was_altered_here_is_downloaded_again(sms, server, tmp_path):
    datasets.get("sms_spam", folder=tmp_path)
    (tmp_path / "archives" / NAME).write_bytes(ARCHIVE[:-1] + b"x")
    assert gzip.decompress(datasets.get("sms_spam", folder=tmp_path).read_bytes()) == LINES
    assert server.asked == {"/sms.zip": 2}


def test_a_copy_is_taken_where_the_home_fails(sms, server, tmp_path):
    changed = server.put("/changed.zip", ARCHIVE + b"x")
    sms(urls=[server.url + "/gone.zip", changed, server.put("/copy.zip", ARCHIVE)])
    datasets.get("sms_spam", folder=tmp_path)
    assert server.asked == {"/gone.zip": 1, "/changed.zip": 1, "/copy.zip": 1}


def test_a_packed_file_is_kept_as_it_is_sent(server, known, tmp_path):
    documents = [{"id": "enron1/ham/1", "split": None, "labels": ["ham"], "text": "Subject: x\n"}]
    content = layouts.tar_bytes(layouts.enron_archive(documents))
    url = server.put("/enron1.tar.gz", content)
    archive = Archive("enron1.tar.gz", (url,), hashlib.sha256(content).hexdigest())
    known("enron1", archives=(archive,), documents=1)
    assert rows(datasets.get("enron1", folder=tmp_path)) == documents
    assert (tmp_path / "archives" / "enron1.tar.gz").read_bytes() == content


def test_a_wrong_checksum_is_refused_and_nothing_is_left(sms, server, tmp_path):
    sms(urls=[server.put("/changed.zip", ARCHIVE[:-1] + b"x")])
    with pytest.raises(InputError, match="has another checksum than it should have"):
        datasets.get("sms_spam", folder=tmp_path)
    assert contents(tmp_path) == []


@pytest.mark.parametrize(("path", "said"), [("/gone", "404"), ("", "there is no connection")])
def test_a_server_that_fails_is_named_with_the_reason(sms, server, tmp_path, path, said):
    sms(urls=[server.url + path if path else "http://127.0.0.1:9/x"])
    with pytest.raises(InputError, match=rf"(?s)could not be downloaded.*{said}.*--from"):
        datasets.get("sms_spam", folder=tmp_path)
    assert contents(tmp_path) == []


def test_a_download_that_is_too_large_is_stopped(sms, server, tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "SIZE_SLACK", 10)
    sms(urls=[server.put("/large.zip", bytes(300_000))], sha256=None)
    with pytest.raises(InputError, match=r"sends more than \d+ bytes, which is the limit"):
        datasets.get("sms_spam", folder=tmp_path)
    assert contents(tmp_path) == []


def test_a_download_that_breaks_off_is_refused(sms, server, tmp_path):
    sms(urls=[server.put("/short.zip", ARCHIVE[:100], length=len(ARCHIVE))], sha256=None)
    with pytest.raises(InputError):
        datasets.get("sms_spam", folder=tmp_path)
    assert contents(tmp_path) == []


# Where nobody has published a checksum


def test_the_first_checksum_is_said_written_down_and_held_to(sms, server, tmp_path):
    sms(sha256=None)
    said = []
    datasets.get("sms_spam", folder=tmp_path, tell=said.append)
    note = tmp_path / "archives" / f"{NAME}.sha256"
    assert note.read_text() == f"{SUM}  {NAME}\n"
    assert any(SUM in line for line in said)
    (tmp_path / "archives" / NAME).unlink()
    server.put("/sms.zip", layouts.zip_bytes(layouts.sms_archive(MESSAGES[::-1])))
    with pytest.raises(InputError, match="another checksum"):
        datasets.get("sms_spam", folder=tmp_path)


def test_the_checksum_of_an_archive_that_is_no_good_is_not_written_down(sms, server, tmp_path):
    sms(urls=[server.put("/error.html", b"<html>try later</html>")], sha256=None)
    with pytest.raises(InputError):
        datasets.get("sms_spam", folder=tmp_path)
    assert contents(tmp_path) == []


# Files of the user


def test_a_file_of_the_user_is_taken_and_left_alone(sms, server, tmp_path):
    mine = tmp_path / "any name"
    mine.write_bytes(ARCHIVE)
    path = datasets.get("sms_spam", mine, tmp_path / "out")
    assert gzip.decompress(path.read_bytes()) == LINES
    assert contents(tmp_path) == ["any name", "out/sms_spam.jsonl.gz"]
    assert not server.asked


def test_another_edition_is_refused_unless_asked_for(sms, tmp_path):
    other = tmp_path / "other.zip"
    other.write_bytes(layouts.zip_bytes(layouts.sms_archive(MESSAGES[:5])))
    with pytest.raises(InputError, match=rf"has the checksum [0-9a-f]+, but {NAME} has {SUM}"):
        datasets.get("sms_spam", other, tmp_path)
    assert not (tmp_path / "sms_spam.jsonl.gz").exists()
    path = datasets.get("sms_spam", other, tmp_path, unverified=True)
    assert len(gzip.decompress(path.read_bytes()).splitlines()) == 5


def test_a_wrong_number_of_documents_is_an_error_with_both_numbers(sms, tmp_path):
    sms(documents=5_574, splits={None: 7, "train": 2})
    (tmp_path / "old").write_bytes(ARCHIVE)
    (tmp_path / "sms_spam.jsonl.gz").write_bytes(b"before")
    with pytest.raises(InputError, match=r"has 7 documents instead of 5,574, 0 documents of train instead of 2"):
        datasets.get("sms_spam", tmp_path / "old", tmp_path)
    assert (tmp_path / "sms_spam.jsonl.gz").read_bytes() == b"before"
    assert contents(tmp_path) == ["old", "sms_spam.jsonl.gz"]


def test_an_archive_of_something_else_has_no_document(sms, tmp_path):
    (tmp_path / "x").write_bytes(layouts.zip_bytes([("readme", b"")]))
    with pytest.raises(InputError, match="has no document of SMS Spam Collection"):
        datasets.get("sms_spam", tmp_path / "x", tmp_path, unverified=True)


def test_missing_classes_are_said(sms, tmp_path):
    (tmp_path / "x").write_bytes(layouts.zip_bytes([("SMSSpamCollection", b"ham\thello\n")]))
    said = []
    datasets.get("sms_spam", tmp_path / "x", tmp_path, unverified=True, tell=said.append)
    assert "note: 2 classes were expected, but it has ham" in said


def test_a_file_that_is_not_there_is_named(sms, tmp_path):
    with pytest.raises(InputError, match="nowhere: there is no such file"):
        datasets.get("sms_spam", tmp_path / "nowhere", tmp_path)


# Several archives


@pytest.fixture
def rcv1(known, tmp_path):
    documents = [
        {"id": "1", "split": "train", "labels": ["CCAT"], "text": "a b", "topics": ["CCAT"]},
        {"id": "2", "split": "test", "labels": ["MCAT"], "text": "c", "topics": ["MCAT"]},
    ]
    files = layouts.rcv1_files(documents)
    archives = tuple(replace(archive, sha256=None) for archive in catalogue.CORPORA["rcv1"].archives)
    known("rcv1", documents=2, splits={"train": 1, "test": 1}, archives=archives)
    folder = tmp_path / "given"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder, documents


def rows(path):
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def test_several_archives_come_from_a_folder_or_one_by_one(rcv1, tmp_path):
    folder, documents = rcv1
    assert rows(datasets.get("rcv1", folder, tmp_path)) == documents
    assert rows(datasets.get("rcv1", sorted(folder.iterdir(), reverse=True), tmp_path)) == documents


def test_several_archives_may_be_unpacked(rcv1, tmp_path):
    folder, documents = rcv1
    for path in list(folder.iterdir()):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()
    assert rows(datasets.get("rcv1", folder, tmp_path)) == documents


def test_a_missing_archive_is_named(rcv1, tmp_path):
    folder, _ = rcv1
    (folder / "lyrl2004_tokens_test_pt1.dat.gz").unlink()
    with pytest.raises(InputError, match=r"not given: lyrl2004_tokens_test_pt1.dat.gz"):
        datasets.get("rcv1", folder, tmp_path)
    with pytest.raises(InputError, match="there is none of lyrl2004_tokens_train"):
        datasets.get("rcv1", tmp_path, tmp_path)


def test_an_optional_archive_may_be_given_or_not(tmp_path):
    page = ("http://a.example/", "Title", "Text", "Top/Arts")
    young = ("http://b.example/", "Title", "Text", "Top/Kids_and_Teens/Games")
    (tmp_path / "content.rdf.u8").write_bytes(layouts.odp_file([page]))
    assert len(rows(datasets.get("odp", tmp_path / "content.rdf.u8", tmp_path))) == 1
    (tmp_path / "kt-content.rdf.u8.gz").write_bytes(gzip.compress(layouts.odp_file([young])))
    assert [row["labels"] for row in rows(datasets.get("odp", tmp_path, tmp_path))] == [["Arts"], ["Kids_and_Teens"]]


# What cannot be had


@pytest.mark.parametrize(
    ("name", "said"),
    [("odp", "closed in March 2017"), ("arxiv_titles", "has no archive to download.*arxiv_titles.jsonl.gz in")],
)
def test_what_has_no_home_is_explained(name, said):
    with pytest.raises(InputError, match=said):
        datasets.get(name)


def test_an_unknown_name_is_answered_with_a_known_one():
    with pytest.raises(OptionError, match="Did you mean 'reuters21578'"):
        datasets.get("reuters21587")


def test_a_folder_that_cannot_be_made_is_an_error_before_the_download(sms, server, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputError, match="cannot be created"):
        datasets.get("sms_spam", folder=tmp_path / "file" / "below")
    assert not server.asked


# Commands


def run(*arguments):
    return CliRunner().invoke(app, ["datasets", *map(str, arguments)])


def test_the_command_prints_the_path_and_says_what_was_done(sms, tmp_path):
    done = run("get", "sms_spam", "--folder", tmp_path)
    assert done.exit_code == 0, done.output
    assert done.stdout == f"{tmp_path / 'sms_spam.jsonl.gz'}\n"
    assert "downloading http://127.0.0.1" in done.stderr
    assert "7 documents" in done.stderr


def test_the_command_takes_files(rcv1, tmp_path):
    folder, documents = rcv1
    given = [word for path in sorted(folder.iterdir()) for word in ("--from", path)]
    done = run("get", "rcv1", *given, "--folder", tmp_path, "--quiet")
    assert (done.exit_code, done.stderr) == (0, "")
    assert rows(tmp_path / "rcv1.jsonl.gz") == documents


def test_the_command_takes_another_edition_only_if_asked(sms, tmp_path):
    (tmp_path / "x.zip").write_bytes(layouts.zip_bytes(layouts.sms_archive(MESSAGES[:2])))
    done = run("get", "sms_spam", "--from", tmp_path / "x.zip", "--folder", tmp_path)
    assert isinstance(done.exception, InputError)
    done = run("get", "sms_spam", "--from", tmp_path / "x.zip", "--folder", tmp_path, "--unverified")
    assert done.exit_code == 0, done.output


def test_what_is_fetched_is_here(sms):
    def here():
        return {row["name"]: row["here"] for row in json.loads(run("--format", "json").stdout)}

    assert not any(here().values())
    run("get", "sms_spam")
    assert [name for name, found in here().items() if found] == ["sms_spam"]
