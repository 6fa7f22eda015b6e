"""The compact form of a model: front-coded terms, weights of few bits.

A model is made compact in two steps. `quantize` rounds its numbers: weights to whole multiples of a step, others to 32
bits; what is left is a model like others. `pack` writes it, and loses nothing more: `runtime.unpack` gives the same
numbers in Python, and `unpack` of ``templates/runtime.js`` in JavaScript.

The bytes, of version 1. A number is seven bits to a byte, the lowest first; all but its last byte have the eighth bit::

    "TS", 1       the mark, and the version
    flags         one label 1, lower case 2, cosine 4, thresholds 8, always a label 16
    kinds         analyzer (0 word, 1 char, 2 char_wb) + 4 occurrences (0 count, 1 binary, 2 log) + 16 probabilities
                  (0 none, 1 softmax, 2 sigmoid) + 64 if terms have factors
    numbers       characters of a word, shortest and longest n-gram, bits of a weight
    strings       version of Unicode, character class, each as its length in bytes and UTF-8
    classes       their number, then each as a string
    stop words    front-coded
    terms         front-coded: their number; then each, in the order of code points, as the number of bytes that it
                  shares with the one before, the number of the bytes that follow, and these. Both numbers are in one
                  byte, four bits each, the first above; 15 says that the number less 15 follows
    floats        32 bits, lowest byte first: a step for each problem (and one for factors), constants, prior,
                  thresholds, and slope and offset of each sigmoid
    codes         of factors, then of weights, problem by problem: n bits each, the lowest first; of a weight half
                  of their range is subtracted, and a weight is that times the step
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from termsieve._types import Array
from termsieve.errors import OptionError

MAGIC, COMPACT_VERSION = b"TS", 1
BITS = range(2, 17)
KINDS = ("word", "char", "char_wb")
OCCURRENCES = ("count", "binary", "log")
PROBABILITIES = (None, "softmax", "sigmoid")


def quantize(data: dict[str, Any], bits: int) -> dict[str, Any]:
    """Return the model with weights of this many bits, and its terms in the order of code points."""
    if bits not in BITS:
        raise OptionError(f"bits must be a number from {BITS[0]} to {BITS[-1]}, not {bits!r}.")
    order = sorted(range(len(data["terms"])), key=lambda column: data["terms"][column])
    weights = np.array(data["weights"], np.float64)[:, order]
    half = 2 ** (bits - 1) - 1
    rounded = [_round(row, half) for row in weights]
    factors = data["term_weights"]
    changed: dict[str, Any] = {
        "terms": [data["terms"][column] for column in order],
        "weights": [(codes * step).tolist() for codes, step in rounded],
        "codes": [codes.astype(int).tolist() for codes, _ in rounded], "steps": [step for _, step in rounded],
        "bits": bits, **{name: _to_single(data[name]) for name in ("constants", "prior", "thresholds", "curves")},
    }  # fmt: skip
    if factors is not None:
        codes, step = _round(np.array(factors, np.float64)[order], 2**bits - 1)
        changed |= {"term_weights": (codes * step).tolist(), "factor_codes": codes.astype(int).tolist()}
        changed["steps"].append(step)
    return {**data, **changed}


def _round(values: Array, largest: int) -> tuple[Array, float]:
    """Return whole numbers up to the largest, and the step that they count."""
    step = float(np.float32(np.abs(values).max(initial=0.0) / largest)) or 1.0
    return np.clip(np.round(values / step), -largest, largest), step


def _to_single(values: Any) -> Any:
    return None if values is None else np.array(values, np.float32).astype(np.float64).tolist()


def pack(data: dict[str, Any], character_class: str) -> bytes:
    """Return the bytes of a model that `quantize` made."""
    if data["probabilities"] not in PROBABILITIES:
        raise OptionError(f"A compact model cannot have {data['probabilities']} probabilities: train with calibrate=0.")
    analyzer, bits, factors = data["analyzer"], data["bits"], data.get("factor_codes")
    flags = (
        data["single"],
        analyzer["lowercase"],
        data["cosine"],
        data["thresholds"] is not None,
        data["always_label"],
    )
    kinds = (
        KINDS.index(analyzer["kind"]) + 4 * OCCURRENCES.index(data["occurrences"])
        + 16 * PROBABILITIES.index(data["probabilities"]) + 64 * (factors is not None)
    )  # fmt: skip
    numbers = (analyzer["least"], *analyzer["ngrams"], bits)
    curves = [] if data["curves"] is None else [one for curve in data["curves"] for one in curve]
    floats = (*data["steps"], *data["constants"], *data["prior"], *(data["thresholds"] or ()), *curves)
    offset = 2 ** (bits - 1) - 1
    codes = [*(factors or ()), *(code + offset for row in data["codes"] for code in row)]
    return b"".join([
        MAGIC, bytes([COMPACT_VERSION, sum(2**i for i, flag in enumerate(flags) if flag), kinds]),
        *map(_pack_number, numbers), _pack_string(analyzer["unicode"]), _pack_string(character_class),
        _pack_number(len(data["classes"])), *map(_pack_string, data["classes"]), _pack_sorted(analyzer["stop_words"]),
        _pack_sorted(data["terms"]), struct.pack(f"<{len(floats)}f", *floats), _pack_bits(codes, bits),
    ])  # fmt: skip


def _pack_number(number: int) -> bytes:
    packed = bytearray()
    while number > 127:
        packed.append(number & 127 | 128)
        number >>= 7
    return bytes([*packed, number])


def _pack_string(text: str) -> bytes:
    content = text.encode()
    return _pack_number(len(content)) + content


def _pack_sorted(texts: Sequence[str]) -> bytes:
    """Front-code texts."""
    parts, before = [_pack_number(len(texts))], b""
    for content in (text.encode() for text in texts):
        shared = next((i for i, (a, b) in enumerate(zip(before, content, strict=False)) if a != b), None)
        n = min(len(before), len(content)) if shared is None else shared
        rest = len(content) - n
        parts.append(bytes([16 * min(n, 15) + min(rest, 15)]))
        parts += [_pack_number(one - 15) for one in (n, rest) if one >= 15]
        parts.append(content[n:])
        before = content
    return b"".join(parts)


def _pack_bits(codes: Iterable[int], bits: int) -> bytes:
    whole = n = 0
    packed = bytearray()
    for code in codes:
        whole |= code << n
        n += bits
        while n >= 8:
            packed.append(whole & 255)
            whole >>= 8
            n -= 8
    return bytes([*packed, whole] if n else packed)
