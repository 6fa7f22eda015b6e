"""How counts print themselves, as text and in notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from termsieve import views
from termsieve.errors import TermsieveError

if TYPE_CHECKING:
    from termsieve.counts.counts import Counts

_LISTED = 6  # classes, or terms
_NAME_LENGTH, _MAKER_LENGTH = 40, 100  # characters


def describe_counts(counts: Counts) -> str:
    """Say what was counted: the first classes, the most common terms, and by which analyzer."""
    sizes = [f"{_shorten(c, _NAME_LENGTH)} ({n:,})" for c, n in zip(counts.classes, counts.class_sizes, strict=True)]
    common = np.lexsort([counts.alphabetical, -counts.term_df])[:_LISTED]
    terms = [f"{_shorten(counts.term_array[int(i)].as_py(), _NAME_LENGTH)} ({counts.term_df[i]:,})" for i in common]
    lines = [
        f"Counts of {counts.n_terms:,} terms in {counts.n_classes:,} classes, from {counts.n_docs:,} documents",
        f"  classes   {_format_list(sizes, counts.n_classes)}",
        f"  terms     {_format_list(terms, counts.n_terms)}",
        f"  made by   {_shorten(_describe_maker(counts), _MAKER_LENGTH)}",
    ]
    if counts.n_multilabel:
        lines.insert(1, f"  several   {counts.n_multilabel:,} documents have more than one label")
    if counts.pruned:
        lines.append(f"  pruned    {counts.pruned}")
    return "\n".join(lines)


def render_counts(counts: Counts) -> str:
    """Render the largest classes as an HTML table, and what else there is to say below it."""
    order = np.argsort(-counts.class_sizes, kind="stable")[: views.MAX_ROWS]
    rows = [
        (str(counts.classes[c]), counts.class_sizes[c], views.Share(counts.class_sizes[c] / max(counts.n_docs, 1)))
        for c in order
    ]
    title, *notes = describe_counts(counts).splitlines()
    notes = [views.format_more(counts.n_classes, "classes"), *(note for note in notes if "  classes " not in note)]
    return views.render_table(title, ["class", "documents", "share"], rows, notes=notes)


def _describe_maker(counts: Counts) -> str:
    try:
        return "a matrix" if counts.settings is None else repr(counts.analyzer)
    except TermsieveError as error:  # parts of the analyzer are not on this machine
        return str(error)


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 4]} ..."


def _format_list(shown: Sequence[str], n: int) -> str:
    """List the first of n names, and say how many more there are."""
    shown = shown[:_LISTED]
    return ", ".join(shown) + (f", ... {n - len(shown):,} more" if n > len(shown) else "")
