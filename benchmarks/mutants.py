"""Mutation testing: change the code in one place, run the tests that run that place, see whether one of them fails.

    python benchmarks/mutants.py [--per-module 20] [--seed 0] [--only study/results scores]

A sample of all places, drawn by the seed, in a copy of the repository: the whole suite is too slow to run for each
change. Each module has its own tests here, each package some more. They run once with probes in the module, which note
the statements that each test runs; of a change, only the tests that run its statement are tried, the fastest first.
A fork saves importing the libraries each time. A test run that takes too long counts as one that failed.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import copy
import os
import pickle  # nosec - written and read by this program
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
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
TESTS = {  # modules, and the tests of them and of what uses them: files, and what runs on them
    (
        "study/study study/split_data study/results study/result_files study/splits study/plan study/recommendation "
        "study/trials evaluate/differences"
    ): (
        "stages/test_study.py stages/test_plan.py stages/test_results.py stages/test_splits.py "
        "stages/test_recommendation.py stages/test_redundancy.py stages/test_cli_compare.py stages/test_journal.py "
        "stages/test_views.py stages/test_frames.py stages/test_evaluate.py stages/test_multiverse.py "
        "damage/test_damaged_comparisons.py -k 'not is_killed and not help'"
    ),
    "evaluate/list_stability": "stages/test_list_stability.py",
    "ranking/permutation ranking/intervals ranking/limits": "stages/test_certainty.py",
    "periods/*": "stages/test_periods.py",
    "concordance/*": "stages/test_concordance.py",
    "reporting/findings": (
        "stages/test_report.py -k 'headline or guess or finding or enough or gaps or agree or frequent or explanation "
        "or one_document or few_documents'"
    ),
    "reproduction/contexts": "stages/test_reproduction.py -k 'check or claim or context or area or spread'",
    "selection/rules": (
        "stages/test_select_rules.py stages/test_select.py stages/test_list_stability.py laws/test_scale.py "
        "-k 'not scale or select'"
    ),
    "counts/counts counts/arithmetic counts/folds": (
        "stages/test_counts.py stages/test_counting.py stages/test_storage.py stages/test_counts_tables.py "
        "stages/test_views.py laws/test_counts.py laws/test_scale.py laws/test_ways.py"
    ),
    "scores/*": (
        "golden/test_score_values.py stages/test_scores.py stages/test_ranking.py laws/test_scores.py "
        "laws/test_score_limits.py"
    ),
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
    statement: int  # the line on which the statement begins that has the node


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
    for place, keyword in enumerate(call.keywords):
        if not is_strict(keyword):
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


def visit(node: ast.AST, statement: int = 0) -> Iterator[tuple[ast.AST, int]]:
    """Nodes whose change a test could see, and their statements: no types, no text of messages, no records of data."""
    statement = node.lineno if isinstance(node, ast.stmt) else statement
    yield node, statement
    if isinstance(node, ast.Raise | ast.JoinedStr):  # places inside f-strings are wrong before Python 3.12
        return
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not is_for_types(child) and not is_strict(child):
                    yield from visit(child, statement)


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def is_strict(node: ast.AST) -> bool:
    """Tell whether this is `strict` of zip: a check of what cannot be otherwise."""
    return isinstance(node, ast.keyword) and node.arg == "strict"


def mutants(source: str) -> Iterator[Mutant]:
    for node, statement in visit(ast.parse(source)):
        for new in change(node):
            text = ast.unparse(new)
            if text == ast.unparse(node):  # `return None` of its own
                continue
            if isinstance(node, ast.If | ast.While | ast.IfExp):
                yield Mutant(node.test, f"({text})", statement)
            else:
                yield Mutant(node, text if isinstance(node, ast.stmt) else f"({text})", statement)


def apply(source: str, mutant: Mutant) -> str:
    lines = source.encode().splitlines(keepends=True)
    node = mutant.node
    head = lines[node.lineno - 1][: node.col_offset]
    tail = lines[node.end_lineno - 1][node.end_col_offset :]
    lines[node.lineno - 1 : node.end_lineno] = [head + mutant.text.encode() + tail]
    return b"".join(lines).decode()


# Which tests run which statements


class Recorder:
    """Plugin of pytest: the statements that each test runs, and how long it takes."""

    def __init__(self) -> None:
        self.lines: dict[str, set[tuple[str, int]]] = {}
        self.shared: dict[str, set[tuple[str, int]]] = {}  # by file: a fixture is made for the first test that needs it
        self.seconds: dict[str, float] = {}
        self.now: set[tuple[str, int]] = set()
        builtins.note_statement = self.now.add

    def pytest_runtest_logreport(self, report: Any) -> None:
        file = report.nodeid.partition("::")[0]
        lines = self.lines.setdefault(report.nodeid, set())
        (lines if report.when == "call" else self.shared.setdefault(file, set())).update(self.now)
        self.now.clear()
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration

    def find_tests(self, line: tuple[str, int]) -> dict[str, float]:
        """The tests that run a statement, and their seconds; all where none is known to, as at import."""
        found = {
            test: seconds
            for test, seconds in self.seconds.items()
            if line in self.lines[test] or line in self.shared[test.partition("::")[0]]
        }
        return found or self.seconds


class Chosen:
    """Plugin of pytest: these tests alone, the fastest files and tests first."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if item.nodeid in self.seconds]
        files: dict[Path, float] = {}
        for item in items:
            files[item.path] = files.get(item.path, 0) + self.seconds[item.nodeid]
        items.sort(key=lambda item: (files[item.path], str(item.path), self.seconds[item.nodeid]))


def add_probes(source: str, name: str) -> str:
    """The source with a note before each statement of its functions; loops for numba stay as they are."""
    tree = ast.parse(source)
    for function in outer_functions(tree):
        for node in ast.walk(function):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, None)
                if isinstance(block, list):
                    setattr(node, field, [new for one in block for new in with_probe(one, name)])
    # processes that a test starts have no recorder; the line comes after what must be first in a file
    first = sum(is_first(one) for one in tree.body)
    tree.body[first:first] = ast.parse("note_statement = getattr(__import__('builtins'), 'note_statement', len)").body
    return ast.unparse(tree)


def is_first(statement: ast.stmt) -> bool:
    is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    return is_future or is_docstring(statement)


def is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def outer_functions(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef):
            yield from outer_functions(child)
        elif not any("jit" in ast.unparse(one) for one in child.decorator_list):
            yield child


def with_probe(statement: ast.stmt, name: str) -> list[ast.stmt]:
    if is_docstring(statement):  # it stays the first
        return [statement]
    return [*ast.parse(f"note_statement({(name, statement.lineno)!r})").body, statement]


# Test runs


def passes(folder: Path, tests: list[str], plugin: Recorder | Chosen, seconds: float) -> bool:
    """Whether all tests pass; too long counts as a failure."""
    child = os.fork()
    if not child:
        os.setsid()
        os.chdir(folder)
        os._exit(min(run_pytest(tests, plugin), 1))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def run_pytest(tests: list[str], plugin: Recorder | Chosen) -> int:
    with Path("output.txt").open("wb") as output:
        for stream in (1, 2):
            os.dup2(output.fileno(), stream)
    import pytest

    # what is compiled of a change must not stay: the next one may have its size and time
    sys.dont_write_bytecode = isinstance(plugin, Chosen)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile=mutants"]
    code = int(pytest.main([*options, *tests], plugins=[plugin]))
    if isinstance(plugin, Recorder):
        Path("tests.pickle").write_bytes(pickle.dumps((plugin.lines, plugin.shared, plugin.seconds)))
    return code


def copy_repository(folder: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in listed.decode().split("\0")[:-1]:
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def load_libraries(folder: Path) -> None:
    """What all tests import; termsieve is not among it: it is imported after the change."""
    os.environ.update(SCIPY_ARRAY_API="1", CI="1", PYTHONPATH=str(folder / "src"))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.path.insert(0, str(folder / "src"))
    import numba
    import pyarrow.parquet
    import pytest
    import scipy.stats
    import sklearn.model_selection
    import sklearn.naive_bayes
    import sklearn.svm

    assert all((numba, pyarrow.parquet, pytest, scipy.stats, sklearn.model_selection, sklearn.naive_bayes, sklearn.svm))


def record_tests(folder: Path, modules: list[Path], tests: list[str]) -> Recorder:
    """Run the tests without any change, and note which of them run which statements."""
    sources = {path: path.read_text("utf-8") for path in modules}
    for path, source in sources.items():
        path.write_text(add_probes(source, str(path)), "utf-8")
    recorder = Recorder()
    passed = passes(folder, tests, recorder, 1200)
    for path, source in sources.items():
        path.write_text(source, "utf-8")
    if not passed:
        sys.exit(f"{(folder / 'output.txt').read_text('utf-8')}\n{' '.join(tests)}: they fail without any change.")
    written = pickle.loads((folder / "tests.pickle").read_bytes())  # nosec - written above
    recorder.lines, recorder.shared, recorder.seconds = written
    return recorder


def survives(folder: Path, place: Place, recorder: Recorder) -> bool:
    """Whether no test notices the change."""
    path, mutant = place
    chosen = recorder.find_tests((str(path), mutant.statement))
    files = sorted({test.partition("::")[0] for test in chosen})
    source = path.read_text("utf-8")
    path.write_text(apply(source, mutant), "utf-8")
    survived = passes(folder, files, Chosen(chosen), 20 + 4 * sum(chosen.values()))
    path.write_text(source, "utf-8")
    return survived


def list_tests(folder: Path, given: str, modules: list[Path]) -> list[str]:
    """Arguments of pytest: the tests, and the examples in the modules."""
    examples = [str(path.relative_to(folder)) for path in modules if ">>> " in path.read_text("utf-8")]
    return [*(f"tests/{one}" if one.endswith(".py") else one for one in shlex.split(given)), *examples]


def find_modules(folder: Path, pattern: str) -> list[Path]:
    modules = sorted((folder / "src/termsieve").glob(f"{pattern}.py"))
    if not modules:
        sys.exit(f"{pattern}: there is no such module.")
    return modules


def try_modules(folder: Path, pattern: str, number: int, seed: int, recorder: Recorder) -> tuple[int, int]:
    """How many mutants were killed, of how many."""
    start = time.monotonic()
    modules = find_modules(folder, pattern)
    places = [(path, mutant) for path in modules for mutant in mutants(path.read_text("utf-8"))]
    chosen = random.Random(f"{seed} {pattern}").sample(places, min(number, len(places)))
    killed = 0
    for done, (path, mutant) in enumerate(chosen, 1):
        if survives(folder, (path, mutant), recorder):
            place = f"{path.relative_to(folder / 'src/termsieve')}:{mutant.node.lineno}"
            print(f"    {place}: {ast.unparse(mutant.node)}  ->  {mutant.text}", flush=True)
        else:
            killed += 1
        print(f"{killed} of {done} killed", end="\r", file=sys.stderr, flush=True)
    seconds = time.monotonic() - start
    print(f"{pattern}: {killed} of {len(chosen)} killed ({len(places)} places, {seconds:.0f} s)", flush=True)
    return killed, len(chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--per-module", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", default=[""], help="modules whose name has one of these")
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_repository(folder)
        load_libraries(folder)
        for patterns, tests in TESTS.items():
            wanted = [one for one in patterns.split() if any(part in one for part in options.only)]
            modules = [path for one in wanted for path in find_modules(folder, one)]
            if modules:
                recorder = record_tests(folder, modules, list_tests(folder, tests, modules))
                results += [try_modules(folder, one, options.per_module, options.seed, recorder) for one in wanted]
    killed, tried = (sum(numbers) for numbers in zip(*results, strict=True))
    print(f"{killed} of {tried} mutants killed: {killed / tried:.0%}")


if __name__ == "__main__":
    main()
