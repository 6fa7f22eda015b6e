"""Random inputs for as long as one likes: ``make fuzz SECONDS=3600 SEED=1``.

Each target makes inputs from a seed and says how many it tried and what was wrong: texts are counted by us, by plain
Python and by CountVectorizer; CSV and JSON Lines are read by us and by Python's csv and json; damaged files of counts,
models, journals and comparisons are read in a child process; spellings and options are parsed. What is found becomes a
test. (TOML is read from the package only, never from a user, so it has no target.)
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # the oracles and the damage of the tests

from damage.damage import damaged, outcomes
from damage.test_damaged_comparisons import read as read_comparison
from damage.test_damaged_counts import content as read_counts
from damage.test_damaged_counts import many_counts
from damage.test_damaged_journals import journal as write_journal
from damage.test_damaged_journals import read as read_journal
from damage.test_damaged_models import read as read_model
from damage.test_damaged_models import saved as save_model
from damage.test_damaged_text import documents, skipping, slow_csv, slow_json
from oracles import naive
from oracles.texts import NGRAMS, PIECES, TOKEN_PATTERNS
from pages.samples import plain_result
from typer import BadParameter

import termsieve as ts
from termsieve._kernels import use_way
from termsieve.classify.recipes import parse_recipe
from termsieve.cli.inputs import parse_amount
from termsieve.cli.varying import parse_vary
from termsieve.counts.spilling import parse_memory
from termsieve.errors import TermsieveError
from termsieve.estimators.weighting import parse_weighting
from termsieve.scores.parsing import parse_score
from termsieve.selection.rules import parse_rule


class Tried(NamedTuple):
    """What one round of a target gave."""

    inputs: int
    wrong: list[str]


COLUMNS = {"text": "text", "label": "label"}  # the slow readers do not detect them
Target = Callable[[int, Path], Tried]


# Texts


def draw_text(draw: random.Random) -> str:
    """A text of pieces that have been trouble somewhere, or of any characters, or of the letters of one script."""
    kind = draw.random()
    if kind < 0.5:
        return draw.choice(("", " ")).join(draw.choices(PIECES, k=draw.randrange(12)))
    if kind < 0.75:
        return "".join(_draw_character(draw, 0x110000) for _ in range(draw.randrange(25)))
    start = draw.choice(
        (0x20, 0xC0, 0x370, 0x400, 0x5D0, 0x620, 0x900, 0x1E00, 0x3040, 0x4E00, 0xAC00, 0x10400, 0x1F600)
    )
    return "".join(" " if draw.random() < 0.2 else chr(start + draw.randrange(80)) for _ in range(draw.randrange(60)))


def _draw_character(draw: random.Random, end: int) -> str:
    while 0xD800 <= (point := draw.randrange(end)) < 0xE000:  # surrogates are no text
        pass
    return chr(point)


def count_texts(seed: int, _: Path) -> Tried:
    """Count texts with options drawn at random."""
    parts = [_count_some_texts(random.Random(seed * 10 + part)) for part in range(10)]
    return Tried(sum(one.inputs for one in parts), [said for one in parts for said in one.wrong])


def _count_some_texts(draw: random.Random) -> Tried:
    """Count some hundred texts in both of our ways, by plain Python, and by scikit-learn."""
    texts = [draw_text(draw) for _ in range(400)]
    labels = [draw.choice(("a", "b", ["a", "c"], [])) for _ in texts]
    options: dict[str, object] = {}
    if draw.random() < 0.6:
        options = {
            "lowercase": draw.random() < 0.8, "token_pattern": draw.choice(TOKEN_PATTERNS),
            "ngram_range": draw.choice(NGRAMS), "strip_accents": draw.choice((None, None, "unicode", "ascii")),
            "stop_words": draw.choice((None, None, "english")),
        }  # fmt: skip
    plain = naive.count(texts, labels, partial(naive.terms, **options))
    wrong = []
    if plain != naive.count_by_scikit_learn(texts, labels, **options):
        wrong.append(f"plain Python and scikit-learn differ with {options}")
    for way in ("plain", "compiled"):
        with use_way(way):
            if naive.facts(ts.count(texts, labels, analyzer=ts.Analyzer(**options))) != plain:
                wrong.append(f"counts of texts differ, {way}, {options}")
    return Tried(len(texts), wrong)


# Documents


def draw_cell(draw: random.Random) -> str:
    kind = draw.random()
    if kind < 0.6:
        return draw_text(draw).replace("\0", "").replace("\r", "")
    return "".join(
        draw.choices(
            ['"', ",", "\n", "\t", "'", "\\", " ", "a", "é", "漢", "=", "{", "}", "[", "null"], k=draw.randrange(8)
        )
    )


def write_rows(seed: int, delimiter: str) -> bytes:
    draw, out = random.Random(seed), io.StringIO(newline="")
    quoting = draw.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=draw.choice(("\n", "\r\n")))
    writer.writerow(("text", "label"))
    for _ in range(draw.randrange(1, 12)):
        row = [draw_cell(draw), draw.choice(("a", "b", "ü", ""))]
        writer.writerow(row if draw.random() < 0.95 else [*row, "more"])
    return out.getvalue().encode()


def read_delimited(seed: int, folder: Path, *, delimiter: str) -> Tried:
    """Read files of random cells, some damaged, strictly and skipping bad rows, as Python's csv reads them."""
    whole = [write_rows(seed * 1000 + number, delimiter) for number in range(60)]
    files = whole + [one for data in whole for one in damaged(data, 1, seed=seed)]
    wrong: list[str] = []
    for skip in (False, True):
        _, bad = outcomes(
            files,
            partial(skipping if skip else documents, sep=delimiter, **COLUMNS),
            folder / "x.csv",
            expect=lambda data, skip=skip: slow_csv(data, delimiter, skip=skip),  # type: ignore[misc]
        )
        wrong += [f"{said}: {files[number]!r}" for number, said in bad.items()]
    return Tried(2 * len(files), wrong)


def read_json_lines(seed: int, folder: Path) -> Tried:
    """Read JSON Lines of random values, some damaged, as Python's json reads them."""
    draw = random.Random(seed)
    files = []
    for number in range(60):
        records = []
        for _ in range(draw.randrange(1, 10)):
            label = draw.choice(("a", ["a", "b"], 7, 1.5, True, [], "ü"))
            records.append({"text": draw_text(draw), "label": label} | ({"id": 1} if draw.random() < 0.3 else {}))
        data = "".join(json.dumps(one, ensure_ascii=draw.random() < 0.5) + "\n" for one in records).encode()
        files += [data, *damaged(data, 1, seed=seed * 1000 + number)]
    wrong: list[str] = []
    for skip in (False, True):
        _, bad = outcomes(
            files,
            partial(skipping if skip else documents, **COLUMNS),
            folder / "x.jsonl",
            expect=lambda data, skip=skip: slow_json(data, skip=skip),  # type: ignore[misc]
        )
        wrong += [f"{said}: {files[number]!r}" for number, said in bad.items()]
    return Tried(2 * len(files), wrong)


# Files of ours


def read_damaged(data: bytes, read: Callable[[Path], object], path: Path, seed: int, n: int = 200) -> Tried:
    path.write_bytes(data)
    files = list(damaged(data, n, seed=seed))
    _, bad = outcomes(files, read, path, expected=read(path))
    return Tried(n, [f"{said}, seed {seed}, file {number}" for number, said in bad.items()])


def read_damaged_counts(seed: int, folder: Path) -> Tried:
    counts = many_counts()
    return read_damaged(counts[seed % len(counts)].to_bytes(), read_counts, folder / "x.counts", seed)


def read_damaged_models(seed: int, folder: Path) -> Tried:
    classifier = ("poisson_nb", "linear_svm", "multinomial_nb")[seed % 3]
    return read_damaged(save_model(classifier, folder), read_model, folder / "x.skops", seed)


def read_damaged_journals(seed: int, folder: Path) -> Tried:
    path = folder / "whole.journal"
    data = path.read_bytes() if path.exists() else write_journal(path)
    return read_damaged(data, read_journal, folder / "x.journal", seed, 100)


def read_damaged_comparisons(seed: int, folder: Path) -> Tried:
    path = folder / "whole.parquet"
    if not path.exists():
        plain_result().save(path)
    return read_damaged(path.read_bytes(), read_comparison, folder / "x.parquet", seed, 100)


# Spellings

_SPELLINGS = [
    *ts.SCORES, "bns(floor=0.001)", "gu(min_df=5)", "top(1000)", "fdr(0.01)", "stable(50, share=0.9)", "cmim(1000)",
    "union(top(5), fdr(0.1))", "linear_svm(C=0.1)", "multinomial_nb(alpha=.1)", "tfidf", "tf.bns", "tfidf_log",
]  # fmt: skip


_OPTIONS = [
    "2GB", "1.5 GiB", "900000000", "5", "0.5", "50%", "min_df=1,0.5", "stop-words=none,smart", "ngram_range=1-2",
]  # fmt: skip
_PARSE_SPELLING = (parse_score, parse_rule, parse_recipe, parse_weighting)
_PARSE_OPTION = (parse_memory, parse_vary, partial(parse_amount, option="--min-df", default=1))


def parse_changed(seed: int, _: Path, *, right: list[str], parsers: tuple[Callable[[str], object], ...]) -> Tried:
    """Parse what is right with letters, brackets and numbers changed: an error of ours, or something that prints."""
    draw, wrong, n = random.Random(seed), [], 250
    for _ in range(n):
        text = list(draw.choice(right))
        for _ in range(draw.randrange(4)):
            at = draw.randrange(len(text) + 1)
            text[at : at + draw.randrange(3)] = draw.choice(
                ["(", ")", "=", ",", "1", "-", "e9", ".", "'", "None", "é", "[", "*", " ", "٣", "9" * 400, "nan", "\0"]
            )
        spelling = "".join(text)
        for parse in parsers:
            try:
                repr(parse(spelling))
            except (TermsieveError, BadParameter):
                continue
            except Exception as error:  # noqa: BLE001 - any other is a fault
                wrong.append(f"{parse}({spelling!r}): {error!r}")
    return Tried(len(parsers) * n, wrong)


TARGETS: dict[str, Target] = {
    "texts": count_texts,
    "csv": partial(read_delimited, delimiter=","),
    "tsv": partial(read_delimited, delimiter="\t"),
    "json lines": read_json_lines,
    "counts": read_damaged_counts,
    "models": read_damaged_models,
    "journals": read_damaged_journals,
    "comparisons": read_damaged_comparisons,
    "spellings": partial(parse_changed, right=_SPELLINGS, parsers=_PARSE_SPELLING),
    "options": partial(parse_changed, right=_OPTIONS, parsers=_PARSE_OPTION),
}


def run_rounds(seconds: float, seed: int, names: list[str]) -> Iterator[tuple[str, Tried]]:
    """Yield what each round of each target gave, in turns, until the time is up; each has one round at least."""
    end, rounds = time.monotonic() + seconds, 0
    folders = {name: Path(tempfile.mkdtemp(prefix="termsieve-fuzz-")) for name in names}
    while rounds == 0 or time.monotonic() < end:
        for name in names:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield name, TARGETS[name](seed + rounds, folders[name])
            if rounds and time.monotonic() > end:
                break
        rounds += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=TARGETS, default=list(TARGETS))
    given = parser.parse_args()
    totals, wrong = dict.fromkeys(given.only, 0), []
    for name, tried in run_rounds(given.seconds, given.seed, given.only):
        totals[name] += tried.inputs
        for said in tried.wrong:
            print(f"{name}: {said}", flush=True)
        wrong += tried.wrong
    for name, number in totals.items():
        print(f"{name:<14}{number:>12,}")
    print(f"{'in all':<14}{sum(totals.values()):>12,}, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
