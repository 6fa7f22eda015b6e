"""Mutation testing: change the code in one place, run the tests of its module, see whether one of them fails.

    python benchmarks/mutants.py [--per-module 20] [--seed 0] [--only results]

A sample of all places, drawn by the seed, in a copy of the repository: the whole suite is too slow to run for each
change. Each module has its own tests here, each package some more, and a fork saves importing the libraries each time.
A test run that takes too long counts as one that failed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
TESTS = {  # files, and what runs on them: a few seconds each
    "study/study": "stages/test_study.py stages/test_plan.py -k 'not is_killed and not help'",
    "study/split_data": "stages/test_study.py stages/test_redundancy.py -k 'not is_killed'",
    "study/results": "stages/test_results.py stages/test_study.py -k 'not is_killed'",
    "study/splits": "stages/test_splits.py stages/test_study.py -k 'not is_killed'",
    "study/plan": "stages/test_plan.py stages/test_study.py -k 'not is_killed'",
    "study/recommendation": "stages/test_recommendation.py stages/test_results.py",
    "evaluate/differences": "stages/test_recommendation.py",
    "evaluate/list_stability": "stages/test_list_stability.py",
    "ranking/permutation": "stages/test_certainty.py",
    "ranking/intervals": "stages/test_certainty.py",
    "ranking/limits": "stages/test_certainty.py",
    "periods/*": "stages/test_periods.py",
    "concordance/*": "stages/test_concordance.py",
    "reporting/findings": "stages/test_report.py -k 'headline or guess or finding or enough or gaps or agree'",
    "reproduction/contexts": "stages/test_reproduction.py -k 'check or claim or context or area or spread'",
    "selection/rules": "stages/test_select_rules.py stages/test_select.py",
    "counts/counts": "stages/test_counts.py laws/test_counts.py",
    "counts/arithmetic": "stages/test_counts.py laws/test_counts.py",
    "counts/folds": "stages/test_counting.py laws/test_counts.py",
    "scores/*": "golden/test_score_values.py stages/test_scores.py laws/test_scores.py laws/test_score_limits.py",
}
WIDER = {  # by package: tried on what those tests let pass, since many modules are tested by the commands that use them
    "study": "stages/test_recommendation.py stages/test_cli_compare.py stages/test_journal.py",
    "counts": "stages/test_storage.py laws/test_scale.py laws/test_ways.py stages/test_counts_tables.py",
    "scores": "stages/test_ranking.py",
}
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NAMES = {"max": "min", "min": "max", "any": "all", "all": "any", "sum": "max", "mean": "max", "sorted": "list"}


class Mutant(NamedTuple):
    node: ast.expr | ast.stmt
    text: str  # in its place


Place = tuple[Path, Mutant]


def change(node: ast.AST) -> Iterator[ast.AST]:
    """Each way to change this node alone."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[op, *_]):
            new.ops[0] = COMPARISONS[type(op)]()
            yield new
        case ast.BinOp(op=op) if type(op) in ARITHMETIC:
            new.op = ARITHMETIC[type(op)]()
            yield new
        case ast.BoolOp(op=op):
            new.op = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield new
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.IfExp() | ast.If() | ast.While():
            yield ast.UnaryOp(ast.Not(), new.test)
        case ast.Return(value=ast.expr()):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value=ast.Call() | ast.YieldFrom() | ast.Yield()) | ast.AugAssign() | ast.Raise():
            yield ast.Pass()
        case ast.Call():
            yield from change_call(new)


def change_call(call: ast.Call) -> Iterator[ast.Call]:
    """The call without each of its named arguments, and of another function."""
    for place in range(len(call.keywords)):
        less = copy.deepcopy(call)
        del less.keywords[place]
        yield less
    match call.func:
        case ast.Name(id=name) if name in NAMES:
            call.func.id = NAMES[name]
            yield call
        case ast.Attribute(attr=name) if name in NAMES:
            call.func.attr = NAMES[name]
            yield call


def visit(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes whose change a test could see: no types, no text of messages, no records that are data."""
    yield node
    if isinstance(node, ast.Raise | ast.JoinedStr):  # places inside f-strings are wrong before Python 3.12
        return
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not is_for_types(child):
                    yield from visit(child)


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def mutants(source: str) -> Iterator[Mutant]:
    for node in visit(ast.parse(source)):
        for new in change(node):
            if isinstance(node, ast.If | ast.While | ast.IfExp):
                yield Mutant(node.test, f"({ast.unparse(new)})")
            else:
                yield Mutant(node, ast.unparse(new) if isinstance(node, ast.stmt) else f"({ast.unparse(new)})")


def apply(source: str, mutant: Mutant) -> str:
    lines = source.encode().splitlines(keepends=True)
    node = mutant.node
    head = lines[node.lineno - 1][: node.col_offset]
    tail = lines[node.end_lineno - 1][node.end_col_offset :]
    lines[node.lineno - 1 : node.end_lineno] = [head + mutant.text.encode() + tail]
    return b"".join(lines).decode()


def survives(folder: Path, tests: list[str], seconds: float) -> bool:
    """Whether all tests pass; too long counts as a failure."""
    child = os.fork()
    if not child:
        os.setsid()
        os.chdir(folder)
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        import pytest

        os._exit(
            min(
                int(
                    pytest.main(
                        ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile=mutants", *tests]
                    )
                ),
                1,
            )
        )
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def copy_repository(folder: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in listed.decode().split("\0")[:-1]:
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def load_libraries(folder: Path) -> None:
    """What all tests import; termsieve is not among it: it is imported after the change."""
    os.environ.update(SCIPY_ARRAY_API="1", CI="1", PYTHONPATH=str(folder / "src"))
    sys.path.insert(0, str(folder / "src"))
    import numba
    import pyarrow.parquet
    import pytest
    import scipy.stats
    import sklearn.model_selection
    import sklearn.naive_bayes
    import sklearn.svm

    assert all((numba, pyarrow.parquet, pytest, scipy.stats, sklearn.model_selection, sklearn.naive_bayes, sklearn.svm))


def find_survivors(folder: Path, tests: str, chosen: list[Place]) -> list[Place]:
    """The changes that these tests do not notice."""
    arguments = [f"tests/{one}" if one.endswith(".py") else one for one in shlex.split(tests)]
    start = time.monotonic()
    if not survives(folder, arguments, 600):
        sys.exit(f"{tests}: they fail without any change.")
    limit = 20 + 4 * (time.monotonic() - start)
    found = []
    for done, (path, mutant) in enumerate(chosen, 1):
        source = path.read_text("utf-8")
        path.write_text(apply(source, mutant), "utf-8")
        if survives(folder, arguments, limit):
            found.append((path, mutant))
        path.write_text(source, "utf-8")
        print(f"{len(found)} of {done} not noticed", end="\r", file=sys.stderr, flush=True)
    return found


def try_modules(folder: Path, pattern: str, number: int, seed: int) -> tuple[int, int]:
    """How many mutants were killed, of how many."""
    modules = sorted((folder / "src/termsieve").glob(f"{pattern}.py"))
    if not modules:
        sys.exit(f"{pattern}: there is no such module.")
    start = time.monotonic()
    places = [(path, mutant) for path in modules for mutant in mutants(path.read_text("utf-8"))]
    chosen = random.Random(f"{seed} {pattern}").sample(places, min(number, len(places)))
    survivors = find_survivors(folder, TESTS[pattern], chosen)
    wider = WIDER.get(pattern.partition("/")[0])
    if survivors and wider:
        survivors = find_survivors(folder, wider, survivors)
    for path, mutant in survivors:
        place = f"{path.relative_to(folder / 'src/termsieve')}:{mutant.node.lineno}"
        print(f"    {place}: {ast.unparse(mutant.node)}  ->  {mutant.text}")
    killed, seconds = len(chosen) - len(survivors), time.monotonic() - start
    print(f"{pattern}: {killed} of {len(chosen)} killed ({len(places)} places, {seconds:.0f} s)", flush=True)
    return killed, len(chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--per-module", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="modules whose name has this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_repository(folder)
        load_libraries(folder)
        results = [try_modules(folder, one, options.per_module, options.seed) for one in TESTS if options.only in one]
    killed, tried = (sum(numbers) for numbers in zip(*results, strict=True))
    print(f"{killed} of {tried} mutants killed: {killed / tried:.0%}")


if __name__ == "__main__":
    main()
