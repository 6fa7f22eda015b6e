"""Fitted state as plain arrays, so that skops and pickle keep it small and without types of other packages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from termsieve._types import UInt8Array
from termsieve.counts.counts import Counts
from termsieve.errors import InputError
from termsieve.tokens.strings import make_string_array, string_buffers
from termsieve.tokens.tokenizers import Unconfirmed


def pack_terms(terms: pa.LargeStringArray) -> dict[str, Any]:
    """Return terms as bytes and offsets."""
    text, offsets = string_buffers(terms)
    return {"text": text[offsets[0] : offsets[-1]].copy(), "offsets": offsets - offsets[0]}


def unpack_terms(packed: Mapping[str, Any]) -> pa.LargeStringArray:
    """Return the terms again; they may be from a file of anybody, so every offset is checked."""
    text, offsets = np.ascontiguousarray(packed["text"]), np.ascontiguousarray(packed["offsets"])
    if text.dtype != np.uint8 or offsets.dtype != np.int64 or text.ndim != 1 or offsets.ndim != 1 or not len(offsets):
        raise InputError(
            f"Terms must be bytes and offsets, not {text.dtype} {text.shape}, {offsets.dtype} {offsets.shape}."
        )
    terms = make_string_array(text, offsets)
    try:
        terms.validate(full=True)
    except pa.ArrowInvalid as error:
        raise InputError(f"The terms are damaged: {error}.") from error
    return terms


def pack_counts(counts: Counts) -> UInt8Array:
    """Return counts as the bytes of their file."""
    return np.frombuffer(counts.to_bytes(), np.uint8)


def unpack_counts(packed: Any) -> Counts:
    """Return the counts again, checked as those of a file are."""
    return Counts.from_bytes(np.asarray(packed, np.uint8).tobytes(), "counts_")


class Confirmed(str):
    """The name of a tokenizer that the user gave. Pickle keeps the type, files that anybody can write do not."""

    __slots__ = ()


def pack_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a fitted estimator: counts and vocabulary packed, what is made when needed left out."""
    state = {name: value for name, value in state.items() if name != "_readers"}
    if "counts_" in state:
        state["counts_"] = pack_counts(state["counts_"])
    if isinstance(state.get("vocabulary_"), dict):
        vocabulary = state.pop("vocabulary_")
        state["_columns"] = np.fromiter(vocabulary.values(), np.int64, len(vocabulary))
        state["_terms"] = pack_terms(pa.array(list(vocabulary), pa.large_string()))
    if type(state.get("tokenizer")) is str:
        state["tokenizer"] = Confirmed(state["tokenizer"])
    return state


def unpack_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state again."""
    state = dict(state)
    if "counts_" in state:
        state["counts_"] = unpack_counts(state["counts_"])
    if "_terms" in state:
        terms = unpack_terms(state.pop("_terms")).to_pylist()
        state["vocabulary_"] = dict(zip(terms, state.pop("_columns").tolist(), strict=True))
    tokenizer = state.get("tokenizer")
    if isinstance(tokenizer, Confirmed):
        state["tokenizer"] = str(tokenizer)
    elif isinstance(tokenizer, str):
        state["tokenizer"] = Unconfirmed(tokenizer)
    return state
