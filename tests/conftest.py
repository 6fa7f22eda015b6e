"""What all tests share: how Hypothesis runs, and a corpus of twelve documents."""

import os

import pytest
from hypothesis import HealthCheck, Phase, settings

from termsieve._kernels import use_way

collect_ignore = ["coverage_plugin.py"]  # it has no doctests, and needs SlipCover, which only developers have

# before scipy is loaded: without it, scikit-learn leaves some of its estimator checks out
os.environ.setdefault("SCIPY_ARRAY_API", "1")

settings.register_profile("here", deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("here"), derandomize=True)
# for benchmarks/mutants.py: a failure is enough, its smallest example is not looked for
settings.register_profile("mutants", settings.get_profile("ci"), phases=[Phase.explicit, Phase.generate])
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Where CI is set, nothing is missing: a test that is skipped there has failed."""
    report = yield
    if report.skipped and os.environ.get("CI"):
        report.outcome, report.longrepr = "failed", f"{item.nodeid} is skipped where CI is set: {report.longrepr}"
    return report


CORPUS = [
    ("The ship sailed at dawn; the crew sang.", "sea"),
    ("A storm took the ship and half the crew.", "sea"),
    ("The harbour, the harbour, the harbour!", "sea"),
    ("", "sea"),
    ("The team won the match in the last minute.", "sport"),
    ("A goal, a second goal and a red card.", "sport"),
    ("The crew of the rowing team won gold.", ["sport", "sea"]),
    ("ΟΔΥΣΣΕΥΣ sailed home to İSTANBUL, or not.", "sea"),
    ("Rates rose; the market fell and fell.", "money"),
    ("The bank bought the bank.", "money"),
    ("Gold is up, gold is down: a goal for the bank.", ["money", "sport", "money"]),
    ("Nobody knows what this is about.", []),
]


@pytest.fixture(scope="module", params=["plain", "compiled"])
def way(request):
    """Both ways to count and score: a module that uses this runs twice."""
    with use_way(request.param):
        yield request.param


@pytest.fixture(scope="session")
def texts():
    return [text for text, _ in CORPUS]


@pytest.fixture(scope="session")
def labels():
    return [label for _, label in CORPUS]


@pytest.fixture(scope="session")
def counts(texts, labels):
    import termsieve as ts

    return ts.count(texts, labels)


@pytest.fixture(scope="session")
def single(texts, labels):
    """Counts of the corpus with one label per document."""
    import termsieve as ts

    rows = [(text, label) for text, label in zip(texts, labels, strict=True) if isinstance(label, str)]
    return ts.count(*zip(*rows, strict=True))
