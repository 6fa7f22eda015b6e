"""Make the file of names that the shell completes, from the registries."""

import inspect
import json
from pathlib import Path

import termsieve
from termsieve.cli.completion import NAMES_FILE
from termsieve.datasets import CORPORA


def list_names() -> dict[str, dict[str, str]]:
    """Return the names of scores, classifiers, rules and corpora, each with a few words about it."""
    return {
        "scores": {name: score.title for name, score in sorted(termsieve.SCORES.items())},
        "classifiers": {name: recipe.title for name, recipe in sorted(termsieve.RECIPES.items())},
        "rules": {
            name: (inspect.getdoc(rule) or "").partition(".")[0].partition("\n")[0]
            for name, rule in sorted(termsieve.RULES.items())
        },
        "corpora": {name: corpus.title for name, corpus in CORPORA.items()},
    }


if __name__ == "__main__":
    path = Path(termsieve.__file__).parent / "data" / NAMES_FILE
    path.write_text(json.dumps(list_names(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
