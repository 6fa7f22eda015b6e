"""What changed: arXiv abstracts of 2019 against 2017-18, and month by month; do the parts add up?

``python benchmarks/changes.py``. The month is that of the identifier of each abstract (1701.00200 is of January 2017).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from measure import DATA, read_documents, title

import termsieve as ts

if TYPE_CHECKING:
    from collections.abc import Sequence


def main() -> None:
    title("arXiv abstracts: 2019 (after) against 2017-18 (before), from counts")
    path = DATA / "arxiv_abstracts.jsonl.gz"
    before, after = (ts.count(ts.read(path, split=("split", part))) for part in ("train", "test"))
    found, seconds = _measure(lambda: ts.changes(before, after))
    print(found)
    print(f"\n{seconds:.2f} s of CPU for {len(found):,} terms and {len(before.classes):,} classes", flush=True)
    parts = found.parts
    gap = np.abs(parts.inside + parts.mix - found.difference.value).max()
    print(f"inside and mix add up to the change but for {gap:.1e}")
    for which, rows in (("rose", found.risers(10)), ("fell", found.fallers(10))):
        print(f"\n{which:16} {'before':>8} {'after':>8} {'points':>7} {'inside':>7} {'mix':>7}")
        for row in rows:
            points = (f"{100 * x:+7.2f}" for x in (row.difference, row.inside, row.mix))
            print(f"{row.term:16} {row.before:8.2%} {row.after:8.2%}", *points)
    title("arXiv abstracts, months and years of 2017 to 2019")
    documents = read_documents("arxiv_abstracts")
    texts, labels = [one["text"] for one in documents], [one["labels"] for one in documents]
    for letters, shown in ((4, 36), (2, 3)):
        folds = ts.count_folds(texts, labels, folds=[one["id"][:letters] for one in documents])
        periods = {f"20{name}": folds.test(i) for i, name in enumerate(folds.names)}
        if len(periods) != shown:
            raise SystemExit(f"{len(periods)} periods, not {shown}")
        trends, seconds = _measure(lambda given=periods: ts.changes(given))
        print(f"\n{trends}\n{seconds:.2f} s of CPU for {len(trends):,} terms", flush=True)


def _measure(work: Any) -> tuple[Any, float]:
    """Return what is found, with everything about it worked out, and the median seconds of three times."""
    taken: Sequence[float] = []
    for _ in range(3):
        start = time.process_time()
        found = work()
        found.risers(10), found.fallers(10)
        taken = [*taken, time.process_time() - start]
    return found, float(np.median(taken))


if __name__ == "__main__":
    main()
