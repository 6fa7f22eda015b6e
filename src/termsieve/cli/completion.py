"""What the shell completes. Names are read from the sources: to import the stages takes longer than a user waits."""

from __future__ import annotations

import ast
import importlib.resources
from collections.abc import Iterator
from itertools import chain
from typing import Any

Completion = tuple[str, str]


def complete_scores(incomplete: str) -> Iterator[Completion]:
    """Names of scores, with their titles."""
    yield from _filter_completions(incomplete, score_names())


def complete_classifiers(incomplete: str) -> Iterator[Completion]:
    """Names of classifiers, with their titles."""
    yield from _filter_completions(incomplete, classifier_names())


def complete_rules(incomplete: str) -> Iterator[Completion]:
    """Names of rules."""
    yield from _filter_completions(incomplete, rule_names())


def complete_stemmers(incomplete: str) -> Iterator[Completion]:
    """Languages of the stemmer, where it is installed."""
    try:
        import Stemmer
    except ImportError:
        return
    yield from _filter_completions(incomplete, [(name, "") for name in Stemmer.algorithms()])


def _filter_completions(incomplete: str, names: list[Completion]) -> Iterator[Completion]:
    """Those that go on what was typed; in a list, what stands after the last comma."""
    before, comma, last = incomplete.rpartition(",")
    yield from ((before + comma + name, title) for name, title in names if name.startswith(last))


def score_names() -> list[Completion]:
    """All scores: functions with the decorator `score`."""
    found = chain.from_iterable(map(_decorated_functions, _parse_sources("scores")))
    return sorted((name, title) for decorator, name, title in found if decorator == "score")


def rule_names() -> list[Completion]:
    """All rules: classes with the decorator `rule`, and the first sentence about them."""
    classes = [node for tree in _parse_sources("rules.py") for node in tree.body if isinstance(node, ast.ClassDef)]
    return sorted(
        (_constant_text(call.args[0]), (ast.get_docstring(node) or "").partition(".")[0])
        for node in classes
        for call in _decorators(node)
        if call.func.id == "rule"  # type: ignore[attr-defined]
    )


def classifier_names() -> list[Completion]:
    """All classifiers: the first two arguments of every `Recipe`."""
    calls = [node for tree in _parse_sources("classify.py") for node in ast.walk(tree) if isinstance(node, ast.Call)]
    recipes = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Recipe"]
    return sorted(
        (_constant_text(call.args[0]), _constant_text(call.args[1])) for call in recipes if len(call.args) > 1
    )


def _parse_sources(name: str) -> Iterator[ast.Module]:
    place: Any = importlib.resources.files("termsieve") / name
    files = [place] if name.endswith(".py") else sorted(place.iterdir(), key=lambda file: file.name)
    for file in files:
        if file.name.endswith(".py"):
            yield ast.parse(file.read_text("utf-8"))


def _decorated_functions(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            for call in _decorators(node):
                titles = [_constant_text(keyword.value) for keyword in call.keywords if keyword.arg == "title"]
                yield call.func.id, node.name, "".join(titles)  # type: ignore[attr-defined]


def _decorators(node: ast.stmt) -> list[ast.Call]:
    listed = getattr(node, "decorator_list", [])
    return [call for call in listed if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)]


def _constant_text(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""
