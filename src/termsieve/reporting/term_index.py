"""A compact index of the whole vocabulary, so that a page can say of any term whether the corpus has it.

Terms are sorted; each is written as the number of characters that it shares with the one before, the rest of it, and
the number of documents that have it. Of very large vocabularies, the most frequent terms are there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from termsieve.counts.counts import Counts

MAX_CHARACTERS = 700_000  # about as many bytes of the page
_TERM_END, _ROW_END = "\t", "\n"


def make_term_index(counts: Counts) -> dict[str, Any]:
    r"""Return the index: its text, how many terms it has, and how many there are.

    >>> import termsieve as ts
    >>> make_term_index(ts.count(["car card", "cat"], ["a", "b"]))["text"]
    '0car\t1\n3d\t1\n2t\t1'
    """
    order = np.argsort(-counts.term_df, kind="stable")
    lengths = np.array([len(term) for term in counts.terms.tolist()], np.int64)
    fits = int(np.searchsorted(np.cumsum(lengths[order] + 4), MAX_CHARACTERS, side="right"))
    chosen = np.sort(order[:fits])
    parts, before = [], ""
    for place in chosen.tolist():
        term = str(counts.terms[place])
        if _TERM_END in term or _ROW_END in term:
            continue
        shared = _shared_length(before, term)
        parts.append(f"{shared:x}{term[shared:]}{_TERM_END}{counts.term_df[place]}")
        before = term
    return {"text": _ROW_END.join(parts), "terms": len(parts), "all": counts.n_terms}


def _shared_length(first: str, second: str) -> int:
    """Return how many characters two terms begin with alike, 15 at most: one digit."""
    for i, (a, b) in enumerate(zip(first[:15], second[:15], strict=False)):
        if a != b:
            return i
    return min(len(first), len(second), 15)
