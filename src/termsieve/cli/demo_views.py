"""The demo: a corpus that is already on the machine is counted, ranked, compared, and put into a page."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from termsieve._kernels import is_cache_warm, use_way
from termsieve._progress import is_shown, show_status
from termsieve.counts.counting import count
from termsieve.counts.counts import Counts
from termsieve.datasets import demo
from termsieve.defaults import DEFAULT_SCORE, TELLING_WORDS
from termsieve.files import check_target
from termsieve.ranking.ranking import score
from termsieve.reporting import list_findings, report
from termsieve.reporting.report_data import ReportData
from termsieve.scores import SCORES
from termsieve.scores.parsing import score_title
from termsieve.study.study import compare
from termsieve.tokens.analyzer import Analyzer
from termsieve.views import format_percent

ANALYZER = Analyzer(stop_words="smart")
FOLDS = 5


def show_demo(threads: int | None = None, output: str | Path = "termsieve-demo.html", *, quiet: bool = False) -> Path:
    """Count the demo corpus, rank its terms, compare the scores, and write what was found into a page."""
    console = Console(quiet=quiet)
    progress = False if quiet else None
    output = check_target(output)
    name, texts, labels = demo.load_corpus()
    if is_cache_warm():  # on a new machine so few texts are counted in plain Python
        with show_status("getting ready", shown=is_shown(progress)):
            _warm_up(texts, labels, threads)
    counts = _count_corpus(console, name, texts, labels, threads)
    console.print(_top_terms_table(counts))
    start = time.perf_counter()
    _score_all(counts)
    console.print(f"All {len(SCORES)} scores of all terms, from these counts: {time.perf_counter() - start:.2f} s")
    start = time.perf_counter()
    result = compare(texts, labels, analyzer=ANALYZER, cv=FOLDS, pairs="no", threads=threads, progress=progress)
    console.print(
        f"{len(result.scores)} scores with {' and '.join(result.asked_classifiers)}, at {len(result.ks)} numbers of "
        f"terms, in {FOLDS} folds: {time.perf_counter() - start:.0f} s", highlight=False,
    )  # fmt: skip
    result.settings["origin"]["demo"] = True
    with show_status("writing the page", shown=is_shown(progress)):
        report(result, output, title=name)
    console.print("\n[bold]What was found[/]")
    for finding in list_findings(ReportData.from_result(result))[:3]:
        console.print(f"  * {escape(finding.sentence)}", highlight=False)
    console.print(f"\nThe whole report, for any browser: [bold]{escape(str(output.resolve()))}[/]", soft_wrap=True)
    return output


def _count_corpus(console: Console, name: str, texts: list[str], labels: list[str], threads: int | None) -> Counts:
    size = sum(len(text.encode()) for text in texts)
    start = time.perf_counter()
    counts = count(texts, labels, analyzer=ANALYZER, threads=threads)
    seconds = time.perf_counter() - start
    console.print(f"[bold]{name}[/]: {counts.n_docs:,} documents, {size / 1e6:.1f} MB, counted in {seconds:.2f} s")
    return counts


def _warm_up(texts: list[str], labels: list[str], threads: int | None) -> None:
    """Load the loops, which a small input would do without: nothing of that is timed."""
    with use_way("compiled"):
        _score_all(count(texts[::100], labels[::100], analyzer=ANALYZER, threads=threads))


def _score_all(counts: Counts) -> None:
    for scores in score(counts, list(SCORES)).values():
        scores.overall()


def _top_terms_table(counts: Counts) -> Table:
    """Make a table of the best terms of each class, with the shares of documents in the class and elsewhere."""
    table = Table(
        "class",
        "documents",
        "terms (share of the class, of the others)",
        title=f"Most telling terms by {score_title(DEFAULT_SCORE)}",
    )
    ranked = score(counts, DEFAULT_SCORE).top(TELLING_WORDS, per_class=True)
    for label, size in zip(counts.classes, counts.class_sizes, strict=True):
        rows = [row for row in ranked if row.label == label]
        shares = ((row.term, row.tp / size, row.fp / (counts.n_docs - size)) for row in rows)
        shown = (f"{term} ({format_percent(inside)}, {format_percent(outside)})" for term, inside, outside in shares)
        table.add_row(label, f"{size:,}", ", ".join(shown))
    return table
