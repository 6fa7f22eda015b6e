"""Documents that are withdrawn: subtracted exactly, with a receipt."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from termsieve.counts.counts import Counts
from termsieve.errors import CountsError


class Receipt(NamedTuple):
    """What was removed from counts, and the SHA-256 of the counts before, of what was removed, and after."""

    documents: int
    documents_by_class: dict[str, int]
    occurrences: float
    terms_gone: int
    sha256_before: str
    sha256_removed: str
    sha256_after: str


def forget(counts: Counts, withdrawn: Counts) -> tuple[Counts, Receipt]:
    """Subtract the counts of documents that are withdrawn; the rest is as if they had never been counted.

    Documents that were never counted are refused where counts can tell: a class or a term that is not there, or more
    of it than there is.

    Examples
    --------
    >>> import termsieve as ts
    >>> kept, gone = ts.count(["lunch at noon", "cheap pills"], ["ham", "spam"]), ts.count(["call me"], ["ham"])
    >>> rest, receipt = forget(kept + gone, gone)
    >>> rest == kept, receipt.documents, receipt.documents_by_class, receipt.terms_gone
    (True, 1, {'ham': 1}, 2)
    """
    if not withdrawn.n_docs:
        raise CountsError("There are no documents to forget.")
    rest = counts - withdrawn
    sizes = zip(withdrawn.classes.tolist(), withdrawn.class_sizes.tolist(), strict=True)
    digests = (hashlib.sha256(one.to_bytes()).hexdigest() for one in (counts, withdrawn, rest))
    gone = counts.n_terms - rest.n_terms
    return rest, Receipt(withdrawn.n_docs, dict(sizes), withdrawn.n_occurrences, gone, *digests)
