"""What each peer does in benchmarks/peers.py, in an environment of its own: one piece of work per process.

``python peer_work.py PEER TASK FOLDER`` imports the library, reads the data of the folder, does the work several times,
prints as JSON what the first time took (with the import) and what the later ones took, and leaves the numbers in the
folder. One environment has one library. Everything runs on one thread.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

SHORT = 0.2  # seconds; what takes less is done REPEATS times after the first, the rest twice, and the median counts
LONG = 4.0  # seconds; what takes longer is done once more only
REPEATS = 5
CHOSEN = 10
RULES = ("mrmr", "jmi", "cmim", "fcbf")
UNTIMED = ("seconds", "cpu", "first_seconds", "first", "memory", "later_calls")
ORDERED = 500  # documents on which orders are compared: ITMO_FS takes some ten CPU seconds for each rule
SIZES = (100, 1000, 10000)
FOLDS = 5
PATTERN = r"(?u)\b\w\w+\b"
WEKA_JAR = Path("/usr/share/java/weka.jar")
MODULES = {"scikit-learn": "sklearn", "skfeature-chappers": "skfeature", "Orange3": "Orange", "mrmr-selection": "mrmr"}


@dataclass(frozen=True)
class Work:
    """What one peer does for one task."""

    peer: str
    task: str
    how: str
    package: str
    do: Callable[[Any], Any]


WORK: dict[tuple[str, str], Work] = {}


def work(peer: str, task: str, how: str, package: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Enter a function into the list of works."""

    def enter(do: Callable[[Any], Any]) -> Callable[[Any], Any]:
        WORK[peer, task] = Work(peer, task, how, package, do)
        return do

    return enter


# ------------------------------------------------------------------ count: texts to documents per class and term


@work("termsieve", "count", "count", "termsieve")
def count_termsieve(data: Any) -> Any:
    import termsieve as ts

    return ts.count(data["texts"], data["labels"], threads=1)


@work("scikit-learn", "count", "CountVectorizer(binary=True), a product with the classes", "scikit-learn")
def count_sklearn(data: Any) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import LabelBinarizer

    vectorizer, binarizer = CountVectorizer(binary=True), LabelBinarizer(sparse_output=True)
    X = vectorizer.fit_transform(data["texts"])
    return binarizer.fit_transform(data["labels"]).T @ X, vectorizer, binarizer


@work("scikit-learn, hashing", "count", "HashingVectorizer(binary=True), a product: hashes", "scikit-learn")
def count_hashing(data: Any) -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.preprocessing import LabelBinarizer

    X = HashingVectorizer(binary=True, norm=None, alternate_sign=False).transform(data["texts"])
    return LabelBinarizer(sparse_output=True).fit_transform(data["labels"]).T @ X


@work("polars", "count", "extract_all, list.unique, explode, group_by", "polars")
def count_polars(data: Any) -> Any:
    import polars as pl

    terms = pl.col("text").str.to_lowercase().str.extract_all(PATTERN).list.unique()
    frame = pl.LazyFrame({"label": data["labels"], "text": data["texts"]})
    return frame.select("label", term=terms).explode("term").drop_nulls().group_by("label", "term").len().collect()


@work("DuckDB", "count", "regexp_extract_all, list_distinct, unnest, GROUP BY", "duckdb")
def count_duckdb(data: Any) -> Any:
    return data["duckdb"].execute(
        r"""SELECT label, term, count(*) FROM (SELECT label,
        unnest(list_distinct(regexp_extract_all(lower(text), '[\p{L}\p{N}_]{2,}'))) AS term
        FROM documents) GROUP BY ALL"""
    ).fetchall()  # fmt: skip


@work("Spark", "count", "regexp_extract_all, array_distinct, explode, groupBy; local[1]", "pyspark")
def count_spark(data: Any) -> Any:
    return data["spark"].sql(
        r"""SELECT label, term, count(*) FROM (SELECT label,
        explode(array_distinct(regexp_extract_all(lower(text), '[\\p{L}\\p{N}_]{2,}', 0))) AS term
        FROM documents) GROUP BY label, term"""
    ).collect()  # fmt: skip


@work("Spark, MLlib", "count", "RegexTokenizer, CountVectorizer, Summarizer.sum by label; local[1]", "pyspark")
def count_mllib(data: Any) -> Any:
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import CountVectorizer, RegexTokenizer
    from pyspark.ml.stat import Summarizer
    from pyspark.sql.functions import col

    frame = data["spark"].table("documents")
    words = RegexTokenizer(inputCol="text", outputCol="words", pattern=r"(?U)\b\w\w+\b", gaps=False)
    vectors = CountVectorizer(inputCol="words", outputCol="vector", binary=True, vocabSize=1 << 20)
    model = Pipeline(stages=[words, vectors]).fit(frame)
    sums = model.transform(frame).groupBy("label").agg(Summarizer.sum(col("vector")).alias("documents"))
    return sums.collect(), model.stages[1].vocabulary


@work("NLTK", "count", "RegexpTokenizer, ConditionalFreqDist", "nltk")
def count_nltk(data: Any) -> Any:
    from nltk import ConditionalFreqDist
    from nltk.tokenize import RegexpTokenizer

    tokenize = RegexpTokenizer(PATTERN).tokenize
    return ConditionalFreqDist(
        (label, term)
        for text, label in zip(data["texts"], data["labels"], strict=True)
        for term in set(tokenize(text.lower()))
    )


@work(
    "scattertext", "count", "CorpusFromPandas(nlp=whitespace_nlp), unigrams; its own tokens, occurrences", "scattertext"
)
def count_scattertext(data: Any) -> Any:
    import pandas as pd
    import scattertext as st

    frame = pd.DataFrame({"label": data["labels"], "text": data["texts"]})
    corpus = st.CorpusFromPandas(frame, category_col="label", text_col="text", nlp=st.whitespace_nlp).build()
    return corpus.get_unigram_corpus().get_term_freq_df()


# ------------------------------------------------------------------ sparse: scores of all terms from a sparse matrix


@work("termsieve", "sparse", "Counts.from_matrix, score(chi2)", "termsieve")
def sparse_termsieve(data: Any) -> Any:
    import termsieve as ts

    return ts.score(ts.Counts.from_matrix(data["X"], data["y"]), "chi2").overall()


@work("scikit-learn", "sparse", "chi2", "scikit-learn")
def sparse_chi2(data: Any) -> Any:
    from sklearn.feature_selection import chi2

    return chi2(data["X"], data["y"])[0]


@work("scikit-learn, F", "sparse", "f_classif", "scikit-learn")
def sparse_f(data: Any) -> Any:
    from sklearn.feature_selection import f_classif

    return f_classif(data["X"], data["y"])[0]


# ------------------------------------------------------------------ chi2, gain: scores of a small table of 0 and 1


@work("termsieve", "chi2", "Counts.from_matrix, score(chi2)", "termsieve")
def chi2_termsieve(data: Any) -> Any:
    import termsieve as ts

    return ts.score(ts.Counts.from_matrix(data["X"], data["y"]), "chi2").overall()


@work("scikit-learn", "chi2", "chi2", "scikit-learn")
def chi2_sklearn(data: Any) -> Any:
    from sklearn.feature_selection import chi2

    return chi2(data["X"], data["y"])[0]


@work("scikit-feature", "chi2", "statistical_based.chi_square", "skfeature-chappers")
def chi2_skfeature(data: Any) -> Any:
    from skfeature.function.statistical_based.chi_square import chi_square

    return chi_square(data["X"], data["y"], mode="raw")


@work("ITMO_FS", "chi2", "chi2_measure", "ITMO_FS")
def chi2_itmo(data: Any) -> Any:
    from ITMO_FS.filters.univariate import chi2_measure

    return chi2_measure(data["X"], data["y"])


@work("NLTK", "chi2", "BigramAssocMeasures.chi_sq of each term and class, from counts", "nltk")
def chi2_nltk(data: Any) -> Any:
    from nltk.metrics import BigramAssocMeasures

    return [
        [BigramAssocMeasures.chi_sq(tp, (tp + fp, tp + fn), tp + fp + fn + tn) for tp, fp, fn, tn in one_class]
        for one_class in data["cells"]
    ]


@work("Orange3", "chi2", "preprocess.score.Chi2", "Orange3")
def chi2_orange(data: Any) -> Any:
    from Orange.preprocess.score import Chi2

    return Chi2()(data["orange"])


@work(
    "TextFeatureSelection",
    "chi2",
    "TextFeatureSelection(metric_list=['CHI']), from the terms as text",
    "TextFeatureSelection",
)
def chi2_tfs(data: Any) -> Any:
    return _text_feature_selection(data, "CHI", "Chi Square")


def _text_feature_selection(data: Any, metric: str, column: str) -> Any:
    from TextFeatureSelection import TextFeatureSelection

    found = TextFeatureSelection(
        target=data["y"].tolist(), input_doc_list=data["terms_as_texts"], metric_list=[metric]
    ).getScore()
    return dict(zip(found["word list"], found[column].tolist(), strict=True))


@work("termsieve", "gain", "Counts.from_matrix, score(info_gain)", "termsieve")
def gain_termsieve(data: Any) -> Any:
    import termsieve as ts

    return ts.score(ts.Counts.from_matrix(data["X"], data["y"]), "info_gain").overall()


@work("scikit-learn", "gain", "mutual_info_classif(discrete_features=True)", "scikit-learn")
def gain_sklearn(data: Any) -> Any:
    from sklearn.feature_selection import mutual_info_classif

    return mutual_info_classif(data["X"], data["y"], discrete_features=True)


@work("scikit-feature", "gain", "mutual_information.information_gain of each column", "skfeature-chappers")
def gain_skfeature(data: Any) -> Any:
    from skfeature.utility.mutual_information import information_gain

    return [information_gain(column, data["y"]) for column in data["X"].T]


@work("ITMO_FS", "gain", "information_gain", "ITMO_FS")
def gain_itmo(data: Any) -> Any:
    from ITMO_FS.filters.univariate import information_gain

    return information_gain(data["X"], data["y"])


@work("Orange3", "gain", "preprocess.score.InfoGain", "Orange3")
def gain_orange(data: Any) -> Any:
    from Orange.preprocess.score import InfoGain

    return InfoGain()(data["orange"])


@work(
    "TextFeatureSelection",
    "gain",
    "TextFeatureSelection(metric_list=['IG']), from the terms as text",
    "TextFeatureSelection",
)
def gain_tfs(data: Any) -> Any:
    return _text_feature_selection(data, "IG", "Information Gain")


# ------------------------------------------------------------------ choose: terms that do not repeat each other


@work("termsieve", "choose", f"TermSelector(rule='mrmr({CHOSEN})')", "termsieve")
def choose_termsieve(data: Any) -> Any:
    return _choose("mrmr", data["X"], data["y"])


@work("termsieve, cmim", "choose", f"TermSelector(rule='cmim({CHOSEN})')", "termsieve")
def choose_termsieve_cmim(data: Any) -> Any:
    return _choose("cmim", data["X"], data["y"])


@work("termsieve, jmi", "choose", f"TermSelector(rule='jmi({CHOSEN})')", "termsieve")
def choose_termsieve_jmi(data: Any) -> Any:
    return _choose("jmi", data["X"], data["y"])


@work("termsieve, fcbf", "choose", f"TermSelector(rule='fcbf({CHOSEN})')", "termsieve")
def choose_termsieve_fcbf(data: Any) -> Any:
    return _choose("fcbf", data["X"], data["y"])


def _choose(rule: str, X: Any, y: Any) -> list[int]:
    """The columns in the order in which a rule of ours chooses them; their names are x0, x1, ..."""
    import termsieve as ts

    selector = ts.TermSelector(rule=f"{rule}({CHOSEN})").fit(X, y)
    return [int(term.removeprefix("x")) for term in selector.selection_.terms.tolist()]


@work(
    "scikit-feature",
    "choose",
    f"LCSI.lcsi(function_name='MRMR'), {CHOSEN} terms; MRMR.mrmr returns 0, 1, 2, ...",
    "skfeature-chappers",
)
def choose_skfeature(data: Any) -> Any:
    from skfeature.function.information_theoretical_based.LCSI import lcsi

    return _first_of(
        lcsi(data["X"], data["y"], mode="index", gamma=0, function_name="MRMR", n_selected_features=CHOSEN)
    )


@work("scikit-feature, CMIM", "choose", f"CMIM.cmim, {CHOSEN} terms", "skfeature-chappers")
def choose_skfeature_cmim(data: Any) -> Any:
    from skfeature.function.information_theoretical_based.CMIM import cmim

    return _first_of(cmim(data["X"], data["y"], mode="index", n_selected_features=CHOSEN))


@work("scikit-feature, JMI", "choose", f"LCSI.lcsi(function_name='JMI'), {CHOSEN} terms", "skfeature-chappers")
def choose_skfeature_jmi(data: Any) -> Any:
    from skfeature.function.information_theoretical_based.LCSI import lcsi

    return _first_of(lcsi(data["X"], data["y"], mode="index", function_name="JMI", n_selected_features=CHOSEN))


@work("scikit-feature, FCBF", "choose", f"FCBF.fcbf, the first {CHOSEN}", "skfeature-chappers")
def choose_skfeature_fcbf(data: Any) -> Any:
    from skfeature.function.information_theoretical_based.FCBF import fcbf

    return _first_of(fcbf(data["X"], data["y"], mode="index"))


def _first_of(answer: Any) -> list[int]:
    return [int(column) for column in answer[:CHOSEN]]


@work("mrmr-selection", "choose", f"mrmr_classif(K={CHOSEN}): F and correlation, no information", "mrmr-selection")
def choose_mrmr(data: Any) -> Any:
    import pandas as pd
    from mrmr import mrmr_classif

    X, y = pd.DataFrame(data["X"].astype(float)), pd.Series(data["y"])
    return [int(column) for column in mrmr_classif(X, y, K=CHOSEN, n_jobs=1, show_progress=False)]


# ------------------------------------------------------------------ order: of the terms of each rule, not timed


@work("termsieve", "order", "", "termsieve")
def order_termsieve(data: Any) -> Any:
    X, y = data["X"][:ORDERED], data["y"][:ORDERED]
    return {rule: _choose(rule, X, y) for rule in RULES}


@work("ITMO_FS", "order", "", "ITMO_FS")
def order_itmo(data: Any) -> Any:
    from ITMO_FS.filters.multivariate import FCBFDiscreteFilter, MultivariateFilter

    filters = {rule: MultivariateFilter(rule.upper(), CHOSEN) for rule in RULES if rule != "fcbf"}
    found = {}
    for rule, one in {**filters, "fcbf": FCBFDiscreteFilter()}.items():
        one.fit(data["X"][:ORDERED], data["y"][:ORDERED])
        found[rule] = _first_of(one.selected_features)
    return found


# ------------------------------------------------------------------ validate: how few terms are enough, cross-validated


@work("termsieve", "validate", f"compare(scores=['chi2'], ks={list(SIZES)}, cv={FOLDS})", "termsieve")
def validate_termsieve(data: Any) -> Any:
    import termsieve as ts

    found = ts.compare(
        data["texts"], data["labels"], scores=["chi2"], classifiers=["multinomial_nb"], ks=SIZES, cv=FOLDS,
        sample=None, threads=1, pairs="no", progress=False, excerpts=False,
    )  # fmt: skip
    return {row["k"]: row["mean"] for row in found.summary().to_pylist()}


@work(
    "scikit-learn", "validate", "CountVectorizer, SelectKBest(chi2), MultinomialNB in cross_val_score", "scikit-learn"
)
def validate_sklearn(data: Any) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.feature_selection import SelectKBest, chi2
    from sklearn.model_selection import cross_val_score
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    means = {}
    for k in SIZES:
        model = make_pipeline(CountVectorizer(), SelectKBest(chi2, k=k), MultinomialNB())
        means[k] = cross_val_score(model, data["texts"], data["labels"], cv=FOLDS, scoring="f1_macro").mean()
    return means


# ------------------------------------------------------------------ numbers: not timed, other formulas to check


@work("scikit-learn", "numbers", "", "scikit-learn")
def numbers_sklearn(data: Any) -> Any:
    from sklearn.feature_selection import f_classif

    return {"f_classif": f_classif(data["X"], data["y"])[0]}


@work("scipy", "numbers", "", "scipy")
def numbers_scipy(data: Any) -> Any:
    from scipy.stats import chi2_contingency, fisher_exact, ttest_ind

    tables = [[[tp, fp], [fn, tn]] for tp, fp, fn, tn in data["cells"][0]]
    of_class = data["y"] == 0
    return {
        "chi2_contingency": [chi2_contingency(one, correction=False).statistic for one in tables],
        "chi2_contingency, Yates": [chi2_contingency(one).statistic for one in tables],
        "log-likelihood": [
            chi2_contingency(one, correction=False, lambda_="log-likelihood").statistic for one in tables
        ],
        "fisher_exact": [fisher_exact(one, alternative="greater").pvalue for one in tables],
        "ttest_ind": ttest_ind(data["X"][of_class], data["X"][~of_class], equal_var=False).statistic,
    }


@work("statsmodels", "numbers", "", "statsmodels")
def numbers_statsmodels(data: Any) -> Any:
    import numpy as np
    from statsmodels.stats.contingency_tables import Table, Table2x2

    tables = [np.array([[tp, fp], [fn, tn]]) for tp, fp, fn, tn in data["cells"][0]]
    whole = [np.array([[tp, fn] for tp, _, fn, _ in of_term]) for of_term in zip(*data["cells"], strict=True)]
    return {
        "Table2x2.oddsratio": [Table2x2(one, shift_zeros=False).oddsratio for one in tables],
        "Table.test_nominal_association": [
            Table(one, shift_zeros=False).test_nominal_association().statistic for one in whole
        ],
    }


@work("scikit-feature", "numbers", "", "skfeature-chappers")
def numbers_skfeature(data: Any) -> Any:
    from skfeature.utility.mutual_information import su_calculation

    return {"su_calculation": [su_calculation(column, data["y"]) for column in data["X"].T]}


@work("ITMO_FS", "numbers", "", "ITMO_FS")
def numbers_itmo(data: Any) -> Any:
    from ITMO_FS.filters.univariate import su_measure

    return {"su_measure": su_measure(data["X"], data["y"])}


@work("Orange3", "numbers", "", "Orange3")
def numbers_orange(data: Any) -> Any:
    from Orange.preprocess.score import GainRatio

    return {"GainRatio": GainRatio()(data["orange"])}


@work("NLTK", "numbers", "", "nltk")
def numbers_nltk(data: Any) -> Any:
    from nltk.metrics import BigramAssocMeasures as Measures

    marginals = [(tp, (tp + fp, tp + fn), tp + fp + fn + tn) for tp, fp, fn, tn in data["cells"][0]]
    return {
        "likelihood_ratio": [Measures.likelihood_ratio(*one) for one in marginals],
        "pmi": [Measures.pmi(*one) if one[0] else None for one in marginals],
    }


@work("TextFeatureSelection", "numbers", "", "TextFeatureSelection")
def numbers_tfs(data: Any) -> Any:
    return {"MI": _text_feature_selection(data, "MI", "Mutual Information")}


@work("scattertext", "numbers", "", "scattertext")
def numbers_scattertext(data: Any) -> Any:
    import numpy as np
    from scattertext import LogOddsRatioUninformativeDirichletPrior

    tp, fp = np.array(data["cells"][0])[:, :2].T
    prior = LogOddsRatioUninformativeDirichletPrior(alpha_w=0.01)
    return {"log odds, flat prior": prior.get_zeta_i_j_given_separate_counts(tp, fp)}


R_PROGRAM = """
tables <- as.matrix(read.csv(commandArgs(TRUE)[1], header = FALSE))
out <- apply(tables, 1, function(t) { m <- matrix(t, 2, byrow = TRUE)
  c(suppressWarnings(chisq.test(m, correct = FALSE))$statistic, fisher.test(m, alternative = "greater")$p.value) })
tea <- fisher.test(matrix(c(3, 1, 1, 3), 2), alternative = "greater")$p.value
parties <- chisq.test(rbind(c(762, 327, 468), c(484, 239, 477)))$statistic
cat(as.character(getRversion()), sprintf("%.17g", c(tea, parties, out)))
"""


@work("R", "numbers", "", "")
def numbers_r(data: Any) -> Any:
    tables = Path(data["folder"], "tables.csv")
    tables.write_text("\n".join(",".join(map(str, one)) for one in data["cells"][0]), "utf-8")
    done = subprocess.run(["Rscript", "-e", R_PROGRAM, tables], check=True, capture_output=True, text=True)
    found, *numbers = done.stdout.split()
    tea, parties, *values = map(float, numbers)
    return {
        "version": found,
        "chisq.test": values[::2],
        "fisher.test": values[1::2],
        "fisher.test, its example": [tea],
        "chisq.test, its example": [parties],
    }


# ------------------------------------------------------------------ one process


def read_data(folder: Path, peer: str, task: str) -> Any:
    """The data of a task, in the form in which users of a peer have them."""
    if task in ("count", "validate"):
        name = "texts.json" if task == "count" else "fewer_texts.json"
        data = json.loads(Path(folder, name).read_text("utf-8"))
        return (_with_duckdb if peer == "DuckDB" else _with_spark if peer.startswith("Spark") else dict)(data)
    import numpy as np

    if task == "sparse":
        from scipy.sparse import csr_array

        stored = np.load(folder / "sparse.npz")
        X = csr_array((stored["data"], stored["indices"], stored["indptr"]), shape=stored["shape"])
        return {"X": X, "y": stored["y"]}
    stored = np.load(folder / "table.npz")
    return _read_table(folder, peer, stored["X"], stored["y"], stored["terms"])


def _with_duckdb(data: Any) -> Any:
    """The texts in a table of the database."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE TABLE documents (label VARCHAR, text VARCHAR)")
    for start in range(0, len(data["texts"]), 1000):
        rows = [data["labels"][start : start + 1000], data["texts"][start : start + 1000]]
        connection.execute("INSERT INTO documents SELECT unnest(?), unnest(?)", rows)
    return {"duckdb": connection}


def _with_spark(data: Any) -> Any:
    """The texts in a frame that Spark holds in memory."""
    session = _start_spark()
    rows = list(zip(data["labels"], data["texts"], strict=True))
    frame = session.createDataFrame(rows, "label string, text string").coalesce(1).cache()
    frame.createOrReplaceTempView("documents")
    frame.count()
    return {"spark": session}


def _start_spark() -> Any:
    from pyspark.sql import SparkSession

    options = {
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "1",
        "spark.log.level": "ERROR",
    }  # fmt: skip
    return SparkSession.builder.master("local[1]").config(map=options).getOrCreate()


def _read_table(folder: Path, peer: str, X: Any, y: Any, terms: Any) -> dict[str, Any]:
    data = {"X": X, "y": y, "folder": folder}
    if peer in ("NLTK", "scipy", "statsmodels", "scattertext", "R"):
        data["cells"] = count_cells(X, y)
    elif peer == "TextFeatureSelection":
        data["terms_as_texts"] = [" ".join(terms[row.nonzero()[0]]) for row in X]
    elif peer == "Orange3":
        from Orange.data import DiscreteVariable, Domain, Table

        columns = [DiscreteVariable(f"x{i}", values=("0", "1")) for i in range(X.shape[1])]
        label = DiscreteVariable("class", values=tuple(str(one) for one in range(y.max() + 1)))
        data["orange"] = Table.from_numpy(Domain(columns, label), X.astype(float), y.astype(float))
    return data


def count_cells(X: Any, y: Any) -> list[list[tuple[int, int, int, int]]]:
    """For each class and term: documents with the term in the class, elsewhere; without it in the class, elsewhere."""
    of_term, cells = X.sum(axis=0, dtype=int), []
    for one in range(y.max() + 1):
        tp = X[y == one].sum(axis=0, dtype=int)
        size = int((y == one).sum())
        rows = zip(tp, of_term - tp, size - tp, len(y) - size - of_term + tp, strict=True)
        cells.append([tuple(map(int, row)) for row in rows])
    return cells


def find_processes() -> list[Path]:
    """This process and those of Spark; nobody else starts any that stay, and to look for them takes time."""
    found, started = ["self"], {}
    if "pyspark" not in sys.modules:
        return [Path("/proc/self")]
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            started[stat.parent.name] = stat.read_text("utf-8").rpartition(")")[2].split()[1]
    waiting = [str(os.getpid())]
    while waiting:
        one = waiting.pop()
        children = [name for name, parent in started.items() if parent == one]
        found += children
        waiting += children
    return [Path("/proc", name) for name in found]


def read_memory(field: str) -> float:
    """Megabytes of these processes, now (VmRSS) or at most so far (VmHWM)."""
    kilobytes = 0
    for process in find_processes():
        with suppress(OSError), (process / "status").open(encoding="utf-8") as lines:  # one that ends has none
            kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith(field))
    return kilobytes / 1024


def read_cpu() -> float:
    """CPU seconds of this process and of those that it started."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    seconds = sum(one.ru_utime + one.ru_stime for one in used)
    for process in find_processes()[1:]:
        with suppress(OSError):
            fields = (process / "stat").read_text("utf-8").rpartition(")")[2].split()
            seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


def load(package: str) -> tuple[float, float]:
    """Import a library (of Spark: start it), and return the seconds and the CPU seconds that it takes."""
    cpu, wall = read_cpu(), time.perf_counter()
    if package:
        import_module(MODULES.get(package, package))
    if package == "pyspark":
        _start_spark()
    return time.perf_counter() - wall, read_cpu() - cpu


def measure(do: Callable[[Any], Any], data: Any) -> tuple[dict[str, float], Any]:
    """What the first call takes, which may load or compile something, and the later ones; and what comes out."""
    gc.collect()
    for process in find_processes():
        with suppress(OSError):
            (process / "clear_refs").write_text("5", "ascii")  # the peak of memory starts anew
    before, times = read_memory("VmRSS"), []
    while len(times) < 3 or (len(times) <= REPEATS and times[-1][0] < SHORT):
        cpu, wall = read_cpu(), time.perf_counter()
        result = do(data)
        taken = time.perf_counter() - wall
        times.append((taken, read_cpu() - cpu))
        if len(times) == 2 and taken > LONG:
            break
    seconds, cpu = (statistics.median(column) for column in zip(*times[1:], strict=True))
    figures = {
        "seconds": seconds, "cpu": cpu, "first_seconds": times[0][0], "first": times[0][1],
        "later_calls": len(times) - 1, "memory": read_memory("VmHWM") - before,
    }  # fmt: skip
    return figures, result


def tabulate(peer: str, result: Any) -> Any:
    """Counts of a peer as label, term, documents; other numbers as lists."""
    if peer == "termsieve":
        cells = result.df.tocoo()
        names, terms = list(result.classes), result.terms.tolist()
        return [(names[c], terms[t], int(n)) for c, t, n in zip(*_by_class(cells, len(names)), cells.data, strict=True)]
    if peer == "scikit-learn":
        product, vectorizer, binarizer = result
        cells, terms = product.tocoo(), vectorizer.get_feature_names_out().tolist()
        rows = zip(cells.row, cells.col, cells.data, strict=True)
        return [(binarizer.classes_[c].item(), terms[t], int(n)) for c, t, n in rows]
    if peer == "polars":
        return result.rows()
    if peer in ("DuckDB", "Spark"):
        return [tuple(row) for row in result]
    if peer == "Spark, MLlib":
        sums, terms = result
        return [(row[0], terms[i], int(n)) for row in sums for i, n in enumerate(row[1].toArray()) if n]
    if peer == "NLTK":
        return [(label, term, n) for label in result for term, n in result[label].items()]
    return None


def _by_class(cells: Any, n_classes: int) -> tuple[Any, Any]:
    """Classes and terms of the cells, whichever are the rows."""
    return (cells.row, cells.col) if cells.shape[0] == n_classes else (cells.col, cells.row)


def make_plain(value: Any) -> Any:
    """Numbers of any library as those of JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(type(value))


def main() -> None:
    peer, task, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    one = WORK[peer, task]
    loading = load(one.package)
    data = read_data(folder, peer, task)
    taken, result = measure(one.do, data) if task != "order" else (dict.fromkeys(UNTIMED, 0.0), one.do(data))
    for name, seconds in zip(("first_seconds", "first"), loading, strict=True):
        taken[name] += seconds
    out = folder / f"{peer} {task}.json"
    out.write_text(json.dumps(tabulate(peer, result) if task == "count" else result, default=make_plain), "utf-8")
    print(json.dumps({**taken, "version": version(one.package) if one.package else result["version"]}))


if __name__ == "__main__":
    main()
