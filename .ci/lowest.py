"""Print the lowest versions that pyproject.toml allows of what an extra installs, one `name==version` to a line.

    python .ci/lowest.py test > lowest.txt && pip install -c lowest.txt -e '.[test]'

pip installs them, and not a resolver that knows lowest versions itself, so that the package index is the one that is
configured on the machine. What these packages need in turn stays free: it is the newest that goes with them.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_BOUND = re.compile(r"(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<version>[\d.]+)")  # extras have no place in constraints


def lowest(project: dict[str, Any], extra: str) -> dict[str, str]:
    """Return the lower bounds of the dependencies and of one extra, with the extras that it contains."""
    found: dict[str, str] = {}
    for requirement in [*project["dependencies"], *_requirements(project, extra)]:
        bound = _BOUND.fullmatch(requirement)
        if bound is None:
            raise SystemExit(f"pyproject.toml: {requirement!r} has no lowest version; write package>=1.2.")
        name, version = bound["name"], bound["version"]
        if found.setdefault(name, version) != version:
            raise SystemExit(f"pyproject.toml: {name} has two lower bounds, {found[name]} and {version}.")
    return found


def _requirements(project: dict[str, Any], extra: str) -> Iterator[str]:
    for requirement in project["optional-dependencies"][extra]:
        contained = re.fullmatch(rf"{project['name']}\[(.+)\]", requirement)
        if contained is None:
            yield requirement
        else:
            for other in contained[1].split(","):
                yield from _requirements(project, other.strip())


if __name__ == "__main__":
    pyproject = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    pins = lowest(pyproject["project"], sys.argv[1])
    sys.stdout.writelines(f"{name}=={version}\n" for name, version in pins.items())
