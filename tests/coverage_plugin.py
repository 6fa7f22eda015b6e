"""Plugin of pytest: the lines and branches that the tests run, over all processes of xdist, and the least that must be.

    PYTHONPATH=tests python -m pytest -p coverage_plugin -n auto --coverage-floor 90 --coverage-missing

SlipCover puts probes into the bytecode and takes them out once they were passed, which costs little: Python
3.11's tracing, which coverage.py needs, takes three quarters more CPU. Its own plugin is not used: it also rewrites how
pytest loads test modules, which does not work with every pytest, and test modules are not measured here.

Loops of numba are left out, since they run as machine code; with ``NUMBA_DISABLE_JIT=1`` they alone are measured. So is
`termsieve.spark`, whose functions Spark pickles. What child processes run is not seen.
"""

from __future__ import annotations

import importlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
import slipcover

SOURCE = Path(__file__).parents[1] / "src" / "termsieve"
LOOPS = [path for path in SOURCE.rglob("*kernels.py") if path.name != "_kernels.py"]
# left out: what numba compiles; what Spark sends to its workers as bytecode, where probes cannot be pickled
LEFT_OUT = [*map(str, LOOPS), str(SOURCE / "_numba.py"), str(SOURCE / "spark" / "*")]
TOTAL = "coverage of all processes"
NOT_COUNTED = ["if TYPE_CHECKING:", "raise NotImplementedError", r"^\s*\.\.\.$", "@overload", "pragma: no cover"]


def start() -> tuple[slipcover.Slipcover, slipcover.ImportManager]:
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        probes = slipcover.Slipcover(branch=True, exclude_lines=NOT_COUNTED)
        files = slipcover.FileMatcher(sources=LOOPS)
    else:
        probes = slipcover.Slipcover(branch=True, source=[str(SOURCE)], omit=LEFT_OUT, exclude_lines=NOT_COUNTED)
        files = slipcover.FileMatcher(sources=[SOURCE], omit=LEFT_OUT)
    imports = slipcover.ImportManager(probes, files)
    imports.__enter__()
    import_all()
    return probes, imports


def import_all() -> None:
    """Import every module now: probes are put in at import, and tests change how modules are found."""
    left_out = {*LOOPS, SOURCE / "_numba.py", SOURCE / "__main__.py"}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        if path not in left_out and "spark" not in parts:
            importlib.import_module(".".join(parts).removesuffix(".__init__"))


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("coverage of lines and branches")
    group.addoption("--coverage-floor", type=float, default=0.0, help="Fail below so many per cent.")
    group.addoption("--coverage-missing", action="store_true", help="List what was not run.")
    group.addoption("--coverage-file", default="", help="Write all figures to this file, as JSON.")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start before any conftest.py is loaded: what it imports is to be seen, too."""
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    if is_worker or not getattr(early_config.known_args_namespace, "numprocesses", None):
        early_config.pluginmanager.register(Measured(*start()))
    # else this process runs no test: its workers would wait until it has put probes into every module
    if not is_worker:
        early_config.pluginmanager.register(Total(early_config), TOTAL)


class Measured:
    """A process that runs tests."""

    def __init__(self, probes: slipcover.Slipcover, imports: slipcover.ImportManager) -> None:
        self.probes, self.imports = probes, imports

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand the figures to the process that started this one, or to the total here."""
        self.imports.__exit__()
        coverage = self.probes.get_coverage()
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["coverage"] = json.dumps(coverage)
        else:
            session.config.pluginmanager.get_plugin(TOTAL).add(coverage)


class Total:
    """The figures of all processes together."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.coverage: Any = None

    def add(self, coverage: Any) -> None:
        self.coverage = coverage if self.coverage is None else slipcover.merge_coverage(self.coverage, coverage)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        if "coverage" in getattr(node, "workeroutput", {}):
            self.add(json.loads(node.workeroutput["coverage"]))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if name := self.config.getoption("--coverage-file"):
            Path(name).write_text(json.dumps(self.coverage), "utf-8")
        if session.exitstatus == pytest.ExitCode.OK and self.per_cent < self.config.getoption("--coverage-floor"):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @property
    def per_cent(self) -> float:
        return float(self.coverage["summary"]["percent_covered"]) if self.coverage else 0.0

    def per_cent_of(self, what: str) -> float:
        covered, missing = (self.coverage["summary"][f"{state}_{what}"] for state in ("covered", "missing"))
        return float(100 * covered / (covered + missing))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self.coverage:  # the run was interrupted
            return
        if self.config.getoption("--coverage-missing"):
            slipcover.print_coverage(self.coverage, outfile=terminalreporter, missing_width=80, skip_covered=True)
        floor = self.config.getoption("--coverage-floor")
        is_low = self.per_cent < floor
        terminalreporter.write_line(
            f"{'FAILED' if is_low else 'Coverage'}: {self.per_cent:.1f} % (lines {self.per_cent_of('lines'):.1f} %, "
            f"branches {self.per_cent_of('branches'):.1f} %; at least {floor:g} %)",
            red=is_low,
        )
