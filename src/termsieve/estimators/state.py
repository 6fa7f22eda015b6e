"""Fitted state as plain arrays, so that skops and pickle keep it small and without types of other packages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from termsieve.cells import Cells
from termsieve.counts import Counts
from termsieve.strings import string_array, string_buffers

_PLAIN = ("n_docs", "n_multilabel", "class_sizes", "settings", "fixed", "pruned")


def packed_terms(terms: pa.LargeStringArray) -> dict[str, Any]:
    """Terms as bytes and offsets."""
    text, offsets = string_buffers(terms)
    return {"text": text[offsets[0] : offsets[-1]].copy(), "offsets": offsets - offsets[0]}


def unpacked_terms(packed: Mapping[str, Any]) -> pa.LargeStringArray:
    """The terms again."""
    return string_array(np.ascontiguousarray(packed["text"]), np.ascontiguousarray(packed["offsets"]))


def packed_counts(counts: Counts) -> dict[str, Any]:
    """Counts as a dict of arrays and plain values."""
    return {
        **{name: getattr(counts, name) for name in _PLAIN},
        "terms": packed_terms(counts.term_array),
        "classes": counts.classes.tolist(),
        "cells": list(counts.cells),
        "totals": [counts.term_df, counts.term_tf, counts.term_tf2],
    }


def unpacked_counts(packed: Mapping[str, Any]) -> Counts:
    """The counts again."""
    return Counts(
        unpacked_terms(packed["terms"]),
        packed["classes"],
        Cells(*packed["cells"]),
        np.stack(packed["totals"]),
        **{name: packed[name] for name in _PLAIN},
    )


def packed_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a fitted estimator: counts and vocabulary packed, what is made when needed left out."""
    state = {name: value for name, value in state.items() if name != "_readers"}
    if "counts_" in state:
        state["counts_"] = packed_counts(state["counts_"])
    if isinstance(state.get("vocabulary_"), dict):
        vocabulary = state.pop("vocabulary_")
        state["_columns"] = np.fromiter(vocabulary.values(), np.int64, len(vocabulary))
        state["_terms"] = packed_terms(pa.array(list(vocabulary), pa.large_string()))
    return state


def unpacked_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """The state again."""
    state = dict(state)
    if "counts_" in state:
        state["counts_"] = unpacked_counts(state["counts_"])
    if "_terms" in state:
        terms = unpacked_terms(state.pop("_terms")).to_pylist()
        state["vocabulary_"] = dict(zip(terms, state.pop("_columns").tolist(), strict=True))
    return state
