"""Label texts with an exported model. This module needs Python's standard library alone.

It is a part of termsieve, and it is what an exported ``.py`` file consists of, with the model as data below it.
"""

from __future__ import annotations

import base64
import json
import math
import re
import struct
import sys
import unicodedata
from collections.abc import Iterator
from typing import Any

TABLES = ("word_characters", "known_characters", "cased_characters", "ignored_characters")  # of characters


def decode_ranges(text: str) -> list[tuple[int, int]]:
    """Decode ranges of numbers, written as base-36 distances, each from the end of the one before.

    >>> decode_ranges("2 3 1 1")
    [(2, 4), (6, 6)]
    """
    distances = [int(one, 36) for one in text.split()]
    ranges, end = [], 0
    for start, length in zip(distances[::2], distances[1::2]):  # noqa: B905 - always pairs
        first = end + start
        end = first + length
        ranges.append((first, end - 1))
    return ranges


class _Bytes:
    """The compact form, read from its start."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def take(self, n: int) -> bytes:
        part = self.content[self.place : self.place + n]
        if len(part) < n:
            raise ValueError("the model is cut off")
        self.place += n
        return part

    def number(self) -> int:
        number = shift = 0
        while True:
            byte = self.take(1)[0]
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    def string(self) -> str:
        return self.take(self.number()).decode()

    def front_coded(self) -> list[str]:
        texts, before = [], b""
        for _ in range(self.number()):
            byte = self.take(1)[0]
            shared, rest = (n + self.number() if n == 15 else n for n in (byte >> 4, byte & 15))
            before = before[:shared] + self.take(rest)
            texts.append(before.decode())
        return texts

    def floats(self, n: int) -> list[float]:
        return list(struct.unpack(f"<{n}f", self.take(4 * n)))

    def codes(self, n: int, bits: int) -> list[int]:
        whole = int.from_bytes(self.take((n * bits + 7) // 8), "little")
        text = f"{whole:0{n * bits}b}" if n else ""
        ends = range(len(text), len(text) - n * bits, -bits)
        return [int(text[end - bits : end], 2) for end in ends]


def unpack(content: bytes, tables: dict[str, str]) -> dict[str, Any]:
    """Return the model of a compact form. Tables of characters, which the form does not have, are given."""
    data = _Bytes(content)
    if data.take(3) != b"TS\x01":
        raise ValueError("not a compact model of version 1")
    flags, kinds = data.take(2)
    least, low, high, bits = (data.number() for _ in range(4))
    if not 2 <= bits <= 16 or not 1 <= low <= high <= 100 or least < 1:
        raise ValueError("numbers that no model has")
    unicode, character_class = data.string(), data.string()
    classes = [data.string() for _ in range(data.number())]
    stop_words, terms = data.front_coded(), data.front_coded()
    single, n_classes, has_factors = bool(flags & 1), len(classes), bool(kinds & 64)
    n = 1 if single and n_classes == 2 else n_classes
    steps, factor_step = data.floats(n), data.floats(1)[0] if has_factors else 0.0
    constants, prior = data.floats(n), data.floats(n_classes)
    thresholds = data.floats(n_classes) if flags & 8 else None
    curves = [data.floats(2) for _ in range(n)] if kinds >> 4 & 3 == 2 else None
    codes = data.codes((n + has_factors) * len(terms), bits)
    factors = [code * factor_step for code in codes[: len(terms)]] if has_factors else None
    codes, half = codes[len(terms) * has_factors :], 2 ** (bits - 1) - 1
    weights = [
        [(code - half) * step for code in codes[i * len(terms) : (i + 1) * len(terms)]] for i, step in enumerate(steps)
    ]
    analyzer = {
        "kind": ("word", "char", "char_wb")[kinds & 3], "lowercase": bool(flags & 2), "least": least,
        "ngrams": [low, high], "stop_words": stop_words, "unicode": unicode,
        "character_class": character_class, **tables,
    }  # fmt: skip
    return {
        "classes": classes, "single": single, "analyzer": analyzer, "terms": terms, "cosine": bool(flags & 4),
        "occurrences": ("count", "binary", "log")[kinds >> 2 & 3], "term_weights": factors, "weights": weights,
        "constants": constants, "prior": prior, "thresholds": thresholds, "always_label": bool(flags & 16),
        "curves": curves, "probabilities": (None, "softmax", "sigmoid")[kinds >> 4 & 3],
    }  # fmt: skip


def _character_class(ranges: list[tuple[int, int]]) -> str:
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


class Analyzer:
    """Cuts a text into terms, as termsieve's analyzer of the same settings does, whatever the version of Unicode."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self._stop_words = frozenset(settings["stop_words"])
        word, known = (decode_ranges(settings[name]) for name in ("word_characters", "known_characters"))
        least = settings["least"]
        self._word = re.compile(f"[{_character_class(word)}]{{{least},}}")
        self._unknown = self._cased = self._ignored = None
        if unicodedata.unidata_version != settings["unicode"]:  # characters that were not there yet have no lower case
            self._unknown = re.compile(f"([^{_character_class(known)}]+)")
            self._cased, self._ignored = (
                re.compile(f"[{_character_class(decode_ranges(settings[name]))}]") for name in TABLES[2:]
            )

    def __call__(self, text: str) -> list[str]:
        """Return the terms of a text, in order: the shortest n-grams first."""
        if self.settings["lowercase"]:
            text = self._lower(text)
        low, high = self.settings["ngrams"]
        if self.settings["kind"] == "char":
            return list(_character_ngrams(re.sub(r"\s\s+", " ", text), low, high))
        if self.settings["kind"] == "char_wb":
            return [term for word in text.split() for term in _inner_ngrams(f" {word} ", low, high)]
        words = [word for word in self._word.findall(text) if word not in self._stop_words]
        return [" ".join(words[i : i + n]) for n in range(low, high + 1) for i in range(len(words) - n + 1)]

    def _lower(self, text: str) -> str:
        if self._unknown is None:
            return text.lower()
        parts = self._unknown.split(self._lower_sigmas(text) if "\u03a3" in text else text)
        return "".join(part if i % 2 else part.lower() for i, part in enumerate(parts))

    def _lower_sigmas(self, text: str) -> str:
        """Return the text with small sigmas for capital ones: another one where a word ends."""
        before, after = self._follow_cased(text), self._follow_cased(text[::-1])[::-1]
        small = ("\u03c2" if b and not a else "\u03c3" for b, a in zip(before, after))  # noqa: B905 - as many
        return "".join(other if char == "\u03a3" else char for char, other in zip(text, small))  # noqa: B905

    def _follow_cased(self, text: str) -> list[bool]:
        """Return for each character whether the one before it, without those that are ignored, is cased."""
        found, cased = [], False
        for char in text:
            found.append(cased)
            if self._ignored is not None and not self._ignored.match(char):
                cased = self._cased is not None and self._cased.match(char) is not None
        return found


def _character_ngrams(text: str, low: int, high: int) -> Iterator[str]:
    for n in range(low, min(high, len(text)) + 1):
        yield from (text[i : i + n] for i in range(len(text) - n + 1))


def _inner_ngrams(padded: str, low: int, high: int) -> Iterator[str]:
    for n in range(low, high + 1):
        yield from (padded[i : i + n] for i in range(max(len(padded) - n + 1, 1)))
        if n >= len(padded):
            return  # a short word counts once


class Predictor:
    """Labels texts by a model that is plain data."""

    def __init__(self, model: dict[str, Any]) -> None:
        self.model = model
        self.classes: list[str] = model["classes"]
        self.analyze = Analyzer(model["analyzer"])
        self._columns = {term: column for column, term in enumerate(model["terms"])}

    @classmethod
    def from_compact(cls, content: bytes | str, tables: dict[str, str]) -> Predictor:
        """Make it from a compact form, which may be base64."""
        return cls(unpack(base64.b64decode(content) if isinstance(content, str) else content, tables))

    def predict(self, text: str, n: int = 10) -> dict[str, Any]:
        """Return the label (or labels), its probability, those of all classes, and the terms that decided.

        ``known`` is False for a text with none of the model's terms: its probabilities are the shares of the classes in
        such training documents.
        """
        values = self.to_values(text)
        scores = self.find_scores(values)
        chances = self.find_probabilities(scores, known=bool(values))
        labels = self._find_labels(scores, chances, known=bool(values))
        names = [self.classes[c] for c in labels]
        rivals = scores if self.model["curves"] is None or chances is None else chances
        found: dict[str, Any] = {"known": bool(values), "terms": self._explain(values, rivals, labels, n)}
        if chances is not None:
            found["probabilities"] = dict(zip(self.classes, chances))  # noqa: B905 - as many as classes
        if self.model["single"]:
            return {"label": names[0], "probability": None if chances is None else chances[labels[0]], **found}
        return {"labels": names, "probability": None if chances is None else [chances[c] for c in labels], **found}

    def to_values(self, text: str) -> dict[int, float]:
        """Return the weighted value of each of the model's terms that a text has, by its column."""
        counts: dict[int, int] = {}
        for term in self.analyze(text):
            column = self._columns.get(term)
            if column is not None:
                counts[column] = counts.get(column, 0) + 1
        kind, idf = self.model["occurrences"], self.model["term_weights"]
        values = {
            column: 1.0 if kind == "binary" else 1.0 + math.log(times) if kind == "log" else float(times)
            for column, times in sorted(counts.items())
        }
        if idf is not None:
            values = {column: value * idf[column] for column, value in values.items()}
        length = math.sqrt(math.fsum(value * value for value in values.values())) if self.model["cosine"] else 0.0
        return {column: value / length for column, value in values.items()} if length > 0 else values

    def find_scores(self, values: dict[int, float]) -> list[float]:
        """Return the weighted sum of each problem: a class, or the second of two classes against the first."""
        rows = zip(self.model["weights"], self.model["constants"])  # noqa: B905 - as many as problems
        return [constant + math.fsum(row[column] * value for column, value in values.items()) for row, constant in rows]

    def find_probabilities(self, scores: list[float], *, known: bool) -> list[float] | None:
        """Return the probability of each class, or None if the model has none."""
        kind = self.model["probabilities"]
        if kind is None:
            return None
        if not known:
            return list(self.model["prior"])
        if not self.model["single"]:
            return [self._calibrate(score, c) for c, score in enumerate(scores)]
        if len(scores) == 1:
            chance = self._calibrate(scores[0], 0)
            return [1.0 - chance, chance]
        if kind == "softmax":
            return _softmax(scores)
        chances = [self._calibrate(score, c) for c, score in enumerate(_against_the_rest(scores))]
        total = sum(chances)
        return [chance / total if total > 0 else 1.0 / len(chances) for chance in chances]

    def _calibrate(self, score: float, problem: int) -> float:
        kind = self.model["probabilities"]
        if kind == "softmax":
            return _sigmoid(score)
        first, second = self.model["curves"][problem]
        if kind == "sigmoid":
            return _sigmoid(first * score + second)
        return _interpolate(score, first, second)

    def _find_labels(self, scores: list[float], chances: list[float] | None, *, known: bool) -> list[int]:
        thresholds = self.model["thresholds"]
        prior = self.model["prior"]
        if self.model["single"]:
            if not known:
                return [_first_best(prior)]
            if chances is not None:
                return [_first_best(chances)]
            return [int(scores[0] > 0)] if len(scores) == 1 else [_first_best(scores)]
        if thresholds is None:
            given = scores if known else [share - 0.5 for share in prior]
            return [c for c, score in enumerate(given) if score > 0]
        shares = chances if chances is not None else prior
        labels = [c for c, chance in enumerate(shares) if chance > thresholds[c]]
        if not labels and known and self.model["always_label"]:
            labels = [_first_best([chance / thresholds[c] for c, chance in enumerate(shares)])]
        return labels

    def _explain(self, values: dict[int, float], rivals: list[float], labels: list[int], n: int) -> list[list[Any]]:
        """Return the terms with the largest parts in the decision between the first label and the next best class."""
        weights = self.model["weights"]
        if not labels:
            return []
        label = labels[0]
        if len(weights) == 1:
            parts = {column: (1 if label == 1 else -1) * weights[0][column] * value for column, value in values.items()}
        elif not self.model["single"]:
            parts = {column: weights[label][column] * value for column, value in values.items()}
        else:
            other = _first_best([-math.inf if c == label else score for c, score in enumerate(rivals)])
            parts = {
                column: (weights[label][column] - weights[other][column]) * value for column, value in values.items()
            }
        best = sorted(parts.items(), key=lambda one: (-abs(one[1]), self.model["terms"][one[0]]))[:n]
        return [[self.model["terms"][column], part] for column, part in best]


def _first_best(values: list[float]) -> int:
    return max(range(len(values)), key=lambda i: (values[i], -i))


def _sigmoid(x: float) -> float:
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-min(x, 745.0)))
    power = math.exp(max(x, -745.0))
    return power / (1.0 + power)


def _softmax(scores: list[float]) -> list[float]:
    best = max(scores)
    powers = [math.exp(score - best) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def _against_the_rest(scores: list[float]) -> list[float]:
    """Return the log odds of each class against all others together."""
    top = _first_best(scores)
    best = scores[top]
    shares = [0.0 if c == top else math.exp(score - best) for c, score in enumerate(scores)]
    rest = sum(shares)
    odds = [score - best - math.log(1.0 + rest - shares[c]) for c, score in enumerate(scores)]
    others = max(score for c, score in enumerate(scores) if c != top)
    odds[top] = best - others - math.log(sum(math.exp(s - others) for c, s in enumerate(scores) if c != top))
    return odds


def _interpolate(x: float, xs: list[float], ys: list[float]) -> float:
    """Return the value of a curve that is linear between its points, and constant beyond them."""
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        return ys[-1]
    low, high = 0, len(xs) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if xs[middle] <= x else (low, middle)
    return ys[low] + (ys[high] - ys[low]) / (xs[high] - xs[low]) * (x - xs[low])


def run(predictor: Predictor) -> None:
    """Label each line of standard input, or the texts that are given as arguments; write a line of JSON for each."""
    for text in sys.argv[1:] or (line.rstrip("\n") for line in sys.stdin):
        sys.stdout.write(json.dumps(predictor.predict(text), ensure_ascii=False) + "\n")
