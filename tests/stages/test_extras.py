"""Optional packages: the light installation does its work, and what is missing is named."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from termsieve.errors import MissingExtraError
from termsieve.extras import PACKAGES, import_extra, require_extra

ROOT = Path(__file__).parents[2]


def test_extras_are_those_of_the_project():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for package in PACKAGES.values():
        named = re.compile(rf"{re.escape(package.name)}(\[[\w,]+\])?>=")
        assert any(named.match(line) for line in extras[package.extra]), package


@pytest.mark.parametrize("module", PACKAGES)
def test_a_missing_package_is_named_with_what_to_type(module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    extra = PACKAGES[module].extra
    with pytest.raises(
        MissingExtraError, match=rf"This needs .*{PACKAGES[module].name}.*pip install 'termsieve\[{extra}\]'"
    ):
        import_extra(module, "This")


@pytest.mark.parametrize(
    ("command", "missing", "extra"),
    [
        ("compare mail.csv -o page.html", "altair", "report"),
        ("report mail.csv -o page.html", "vl_convert", "report"),
        ("demo -o page.html", "jinja2", "report"),
        ("train mail.csv -o m.skops", "skops", "models"),
    ],
)
def test_commands_miss_a_package_before_the_work(command, missing, extra, tmp_path, monkeypatch, typed):
    (tmp_path / "mail.csv").write_text("text,label\ncheap pills,spam\nlunch at noon,ham\n")
    monkeypatch.chdir(tmp_path)
    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == missing else there(name, *rest)
    )
    code, _, err = typed(*command.split())
    assert code == 1
    assert f"pip install 'termsieve[{extra}]'" in err
    assert err.count("\n") == 1
    with pytest.raises(MissingExtraError):
        require_extra(extra, "It")


LIGHT = """
import sys
class Refuse:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] in %r:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse())
import termsieve as ts
texts = ["cheap pills", "cheap watches", "buy pills", "noon meeting", "lunch at noon", "meeting at ten"] * 3
labels = (["spam"] * 3 + ["ham"] * 3) * 3
counts = ts.count(texts, labels)
assert len(ts.score(counts, "chi2").top(3)) == 3
assert len(ts.select(counts, "top(2)", "chi2")) == 2
assert ts.TermVectorizer(score_func="chi2", k=2).fit_transform(texts, labels).shape == (18, 2)
assert ts.compare(texts, labels, scores=["chi2"], ks=[2], cv=3).table.num_rows
from termsieve.model import train
assert train(texts, labels, scores="chi2", ks="all", classifiers="multinomial_nb", cv=0).predict(["pills"]) == ["spam"]
import termsieve.datasets
from termsieve.cli import run
assert run(["scores"]) == 0
"""


def test_counting_scoring_selecting_and_comparing_need_no_extra():
    done = subprocess.run([sys.executable, "-c", LIGHT % (tuple(PACKAGES),)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
