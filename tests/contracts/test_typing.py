"""Types from outside: who uses the package has its types checked (py.typed), as strictly as they like."""

import re
import subprocess
import sys

import pytest

PROGRAM = """
import termsieve as ts

counts = ts.count(["buy cheap pills", "lunch at noon"], ["spam", "ham"])
scores = ts.score(counts, "chi2")
reveal_type(counts)
reveal_type(scores)
reveal_type(scores.top(5, of="spam"))
reveal_type(ts.select(counts, "top(5)"))
reveal_type(ts.TermSelector(k=5))
wrong: int = scores
"""


def test_a_type_checker_sees_the_types(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}", "program.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    types = re.findall(r'Revealed type is "(?:[\w.]+\.)?(\w+)"', found.stdout)
    assert types == ["Counts", "Scores", "Ranking", "Selection", "TermSelector"], found.stdout + found.stderr
    errors = [line for line in found.stdout.splitlines() if ": error:" in line]
    assert len(errors) == 1, found.stdout
    assert 'expression has type "Scores", variable has type "int"' in errors[0]
