r"""A model as a graph of ONNX, for onnxruntime: texts come in, labels and probabilities go out.

Words are found by a regular expression that spells out Python's tables, and each different word is lowered character by
character from a table: nothing depends on what a machine takes for a letter. Sums are in double precision. Texts with
one of the two characters whose lower case is no single character of its own are marked, and get no label.

`skl2onnx` has no converter for this: its graphs leave lower case to the machine and sum in single precision.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from termsieve._types import Array
from termsieve.errors import OptionError
from termsieve.extras import import_extra
from termsieve.model.exporting.characters import join_ranges
from termsieve.model.exporting.graph_builder import NOTHING, GraphBuilder
from termsieve.model.exporting.lowering import CAPITAL_SIGMA, LONG_LOWER, find_needed_pairs, find_word_codes, list_pairs

_PYTHON_SPACE = r"\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"


def make_graph(data: dict[str, Any]) -> bytes:
    """Return the graph of a portable model, as the content of an ``.onnx`` file."""
    _check(data)
    onnx = import_extra("onnx", "Exporting a model as .onnx")
    graph = GraphBuilder(onnx)
    tokens = _add_tokens(graph, data)
    values, known = _add_values(graph, data, tokens)
    scores = _add_scores(graph, data, values)
    chances = _add_probabilities(graph, data, scores)
    if chances is not None:
        prior = graph.constant(np.array([data["prior"]]))
        chances = graph.add("Where", graph.column(known), chances, prior)
    exact = _add_exactness(graph, data)
    labels = _add_labels(graph, data, scores, chances, known, exact)
    outputs = [
        ("label" if data["single"] else "labels", labels),
        ("known", known),
        ("exact", exact),
        ("scores", scores),
    ]
    return graph.finish([*outputs, *([] if chances is None else [("probabilities", chances)])], data)


def _check(data: dict[str, Any]) -> None:
    analyzer = data["analyzer"]
    if analyzer["kind"] == "char_wb":
        raise OptionError(
            "A model of characters within words (char_wb) cannot be exported as .onnx: a graph has no way to "
            "put the n-grams of the words of a text together. Export .js or .py, or train with words or char."
        )
    if analyzer["kind"] == "word" and analyzer["ngrams"][1] > 1 and ord(" ") in find_word_codes(data):
        raise OptionError(
            "A model of n-grams whose words may have spaces cannot be exported as .onnx: a graph cannot tell where "
            "such a word ends. Export .js or .py."
        )
    if any("\0" in one for one in (*data["terms"], *data["classes"])):
        raise OptionError("A model with a zero character in a term or class cannot be exported as .onnx.")


# Words


def _spell(codes: Iterable[int]) -> str:
    """Return characters as ranges of a regular expression."""
    ordered = np.unique(np.fromiter(codes, np.int64))
    parts = np.split(ordered, np.flatnonzero(np.diff(ordered) != 1) + 1)
    return join_ranges([(int(part[0]), int(part[-1])) for part in parts if len(part)], lambda code: f"\\x{{{code:x}}}")


def _add_exactness(graph: GraphBuilder, data: dict[str, Any]) -> str:
    """Add which texts are labelled as Python does."""
    special = f"{CAPITAL_SIGMA}{''.join(LONG_LOWER)}" if data["analyzer"]["lowercase"] else ""
    pattern = f"[^{_spell(map(ord, special))}]*" if special else r"(?s).*"
    return str(graph.add("RegexFullMatch", "text", pattern=pattern))


def _add_tokens(graph: GraphBuilder, data: dict[str, Any]) -> str:
    """Add the lowered words or characters of each text, in rows."""
    lowercase = data["analyzer"]["lowercase"]
    if data["analyzer"]["kind"] == "char":
        tokens = graph.tokenize("text", tokenexp=f"(?s)[{_PYTHON_SPACE}]{{2,}}|.")
        runs = graph.add("RegexFullMatch", tokens, pattern=f"[{_PYTHON_SPACE}]{{2,}}")
        tokens = graph.add("Where", runs, graph.constant([" "]), tokens)
        return _add_padding(graph, _add_lower(graph, data, tokens) if lowercase else tokens)
    codes = find_word_codes(data)
    if lowercase:  # texts are cut before they are lowered: what becomes a part of a word is one
        changed = {ord(char): ord(low) for char, low in list_pairs()}
        codes = (codes - changed.keys()) | {char for char, low in changed.items() if low in codes}
    word = f"[{_spell(codes)}]{{{data['analyzer']['least']},}}"
    tokens = _add_padding(graph, graph.tokenize("text", tokenexp=word))
    if lowercase:
        tokens = _lower_words(graph, data, tokens)
    gaps = data["analyzer"]["ngrams"][1] > 1 and data["analyzer"]["stop_words"]
    return _leave_out_stop_words(graph, data, tokens) if gaps else tokens


def _add_padding(graph: GraphBuilder, tokens: str) -> str:
    """Add a column of nothing, so that no table of tokens is empty."""
    texts = graph.add("Shape", "text")
    one = graph.constant(np.array([1]))
    empty = graph.add("Expand", graph.constant([NOTHING]), graph.add("Concat", texts, one, axis=0))
    return str(graph.add("Concat", tokens, empty, axis=1))


def _add_lower(graph: GraphBuilder, data: dict[str, Any], characters: str) -> str:
    """Add the lower case of single characters."""
    pairs = find_needed_pairs(data) or [("A", "a")]
    upper, lower = zip(*pairs, strict=True)
    found = graph.add(
        "LabelEncoder", characters, domain="ai.onnx.ml", keys_strings=upper, values_strings=lower,
        default_string=NOTHING,
    )  # fmt: skip
    return str(graph.add("Where", graph.add("Equal", found, graph.constant(NOTHING)), characters, found))


def _lower_words(graph: GraphBuilder, data: dict[str, Any], tokens: str) -> str:
    """Add the lower case of each different word that is no longer than those of the terms: others are left out."""
    shape, minus = graph.add("Shape", tokens), graph.constant(np.array([-1]))
    words, _, places, _ = graph.add("Unique", graph.add("Reshape", tokens, minus), n=4, sorted=0)
    needed = {word for term in data["terms"] for word in term.split(" ")} | set(data["analyzer"]["stop_words"])
    longest = max(map(len, needed))
    short = graph.add("RegexFullMatch", words, pattern=f"(?s).{{0,{longest}}}")
    # a letter more keeps the table of characters from being empty
    words = graph.add("Where", short, words, graph.constant([NOTHING]))
    padded = graph.add("Concat", words, graph.constant(["a"]), axis=0)
    lowered = _join_characters(graph, _add_lower(graph, data, graph.tokenize(padded, separators=[""])))
    return str(graph.add("Reshape", graph.add("Gather", lowered, places), shape))


def _join_characters(graph: GraphBuilder, characters: str) -> str:
    """Add the strings of rows of characters."""
    helper, types = graph.onnx.helper, graph.onnx.TensorProto
    rows, columns = (
        graph.add("Gather", graph.add("Shape", characters), graph.constant(np.array(axis))) for axis in (0, 1)
    )
    shape = graph.add("Reshape", rows, graph.constant(np.array([1])))
    start = graph.add("Expand", graph.constant([NOTHING]), shape)
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go_on"], ["still"]),
            helper.make_node("Gather", [characters, "place"], ["letter"], axis=1),
            helper.make_node("StringConcat", ["joined", "letter"], ["longer"]),
        ],
        "join",
        [
            helper.make_tensor_value_info("place", types.INT64, []),
            helper.make_tensor_value_info("go_on", types.BOOL, []),
            helper.make_tensor_value_info("joined", types.STRING, [None]),
        ],
        [
            helper.make_tensor_value_info("still", types.BOOL, []),
            helper.make_tensor_value_info("longer", types.STRING, [None]),
        ],
    )
    return str(graph.add("Loop", columns, graph.constant(np.array(True)), start, body=body))


def _leave_out_stop_words(graph: GraphBuilder, data: dict[str, Any], tokens: str) -> str:
    """Move stop words to the ends of the rows, as nothing: n-grams go over their places."""
    stop = data["analyzer"]["stop_words"]
    is_stop = graph.add(
        "LabelEncoder", tokens, domain="ai.onnx.ml", keys_strings=stop, values_int64s=[1] * len(stop), default_int64=0
    )
    width = graph.add("Gather", graph.add("Shape", tokens), graph.constant(np.array(1)))
    zero, one = graph.constant(np.array(0)), graph.constant(np.array(1))
    places = graph.add("Add", graph.add("Range", zero, width, one), graph.add("Mul", is_stop, width))
    size = graph.add("Reshape", width, graph.constant(np.array([1])))
    _, order = graph.add("TopK", places, size, n=2, axis=1, largest=0, sorted=1)
    nothing = graph.add(
        "Where", graph.add("Cast", is_stop, to=graph.onnx.TensorProto.BOOL), graph.constant([NOTHING]), tokens
    )
    return str(graph.add("GatherElements", nothing, order, axis=1))


# Sums


def _add_values(graph: GraphBuilder, data: dict[str, Any], tokens: str) -> tuple[str, str]:
    """Add the weighted values of the terms, and whether a text has any."""
    counts = graph.add("TfIdfVectorizer", tokens, mode="TF", max_skip_count=0, **_list_ngrams(data))
    counts = graph.add("Cast", counts, to=graph.onnx.TensorProto.DOUBLE)
    zero, last = graph.constant(np.array(0.0)), graph.constant(np.array([1]))
    known = graph.add("Greater", graph.add("ReduceSum", counts, last, keepdims=0), zero)
    values = _add_occurrences(graph, data, counts, zero)
    if data["term_weights"] is not None:
        values = graph.add("Mul", values, graph.constant(np.array(data["term_weights"])))
    if data["cosine"]:
        length = graph.add("Sqrt", graph.add("ReduceSum", graph.add("Mul", values, values), last))
        some = graph.add("Greater", length, zero)
        values = graph.add("Div", values, graph.add("Where", some, length, graph.constant(np.array(1.0))))
    return values, known


def _add_occurrences(graph: GraphBuilder, data: dict[str, Any], counts: str, zero: str) -> str:
    """Add the values of terms that occur this many times."""
    if data["occurrences"] == "count":
        return counts
    one, has = graph.constant(np.array(1.0)), graph.add("Greater", counts, zero)
    if data["occurrences"] == "binary":
        return str(graph.add("Where", has, one, zero))
    logs = graph.add("Add", graph.add("Log", graph.add("Where", has, counts, one)), one)
    return str(graph.add("Where", has, logs, zero))


def _list_ngrams(data: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of the node that counts terms: the terms by their number of tokens, and their columns."""
    single = data["analyzer"]["ngrams"][1] == 1
    split = list if data["analyzer"]["kind"] == "char" else (lambda term: [term] if single else term.split(" "))
    cut = [split(term) for term in data["terms"]]
    lengths = [len(one) for one in cut]
    order = sorted(range(len(cut)), key=lambda column: lengths[column])
    sizes = range(1, max(lengths) + 1)
    starts = np.cumsum([0, *(n * lengths.count(n) for n in sizes)])
    return {
        "pool_strings": [token for column in order for token in cut[column]], "ngram_indexes": order,
        "ngram_counts": starts[:-1].tolist(), "min_gram_length": min(lengths), "max_gram_length": max(lengths),
    }  # fmt: skip


def _add_scores(graph: GraphBuilder, data: dict[str, Any], values: str) -> str:
    weights, constants = graph.constant(np.array(data["weights"]).T), graph.constant(np.array([data["constants"]]))
    return str(graph.add("Add", graph.add("MatMul", values, weights), constants))


# Probabilities and labels


def _add_probabilities(graph: GraphBuilder, data: dict[str, Any], scores: str) -> str | None:
    """Add the probability of each class, if the model has them."""
    kind, single, n = data["probabilities"], data["single"], len(data["classes"])
    if kind is None:
        return None
    if single and n > 2 and kind == "softmax":
        return str(graph.add("Softmax", scores, axis=1))
    odds = _against_the_rest(graph, scores, n) if single and n > 2 else scores
    chances = _add_calibrated(graph, data, odds)
    if single and n == 2:
        other = graph.add("Sub", graph.constant(np.array(1.0)), chances)
        return str(graph.add("Concat", other, chances, axis=1))
    if not single:
        return chances
    total = graph.add("ReduceSum", chances, graph.constant(np.array([1])))
    some = graph.add("Greater", total, graph.constant(np.array(0.0)))
    shares = graph.add("Div", chances, graph.add("Where", some, total, graph.constant(np.array(1.0))))
    return str(graph.add("Where", some, shares, graph.constant(np.full((1, n), 1.0 / n))))


def _against_the_rest(graph: GraphBuilder, scores: str, n: int) -> str:
    """Add the log odds of each class against all others together."""
    axis = graph.constant(np.array([2]))
    every = graph.add("Unsqueeze", scores, graph.constant(np.array([1])))
    others = graph.add("Where", graph.constant(np.eye(n, dtype=bool)[None]), graph.constant(np.array(-np.inf)), every)
    best = graph.add("ReduceMax", others, axis)
    total = graph.add("ReduceSum", graph.add("Exp", graph.add("Sub", others, best)), axis)
    rest = graph.add("Squeeze", graph.add("Add", best, graph.add("Log", total)), axis)
    return str(graph.add("Sub", scores, rest))


def _add_calibrated(graph: GraphBuilder, data: dict[str, Any], odds: str) -> str:
    kind = data["probabilities"]
    if kind == "isotonic":
        return _interpolate(graph, data["curves"], odds)
    if kind == "sigmoid":
        slopes, offsets = np.array(data["curves"], np.float64).T
        odds = graph.add("Add", graph.add("Mul", odds, graph.constant(slopes[None])), graph.constant(offsets[None]))
    power = graph.add("Exp", graph.add("Neg", graph.add("Abs", odds)))  # never too large
    one = graph.constant(np.array(1.0))
    positive = graph.add("GreaterOrEqual", odds, graph.constant(np.array(0.0)))
    return str(graph.add("Div", graph.add("Where", positive, one, power), graph.add("Add", one, power)))


def _interpolate(graph: GraphBuilder, curves: list[Any], odds: str) -> str:
    """Add the values of curves that are linear between their points, and constant beyond."""
    width = max(len(xs) for xs, _ in curves) + 1
    points = np.full((len(curves), width - 1), np.inf)
    low, first, slope = (np.zeros((len(curves), width)) for _ in range(3))
    for row, (xs, ys) in enumerate(curves):
        points[row, : len(xs)] = xs
        low[row, 1 : len(xs) + 1], first[row, 1 : len(xs) + 1], first[row, 0] = xs, ys, ys[0]
        slope[row, 1 : len(xs)] = np.diff(ys) / np.diff(xs)
    reached = graph.add(
        "GreaterOrEqual", graph.add("Unsqueeze", odds, graph.constant(np.array([2]))), graph.constant(points[None])
    )
    passed = graph.add("Cast", reached, to=graph.onnx.TensorProto.INT64)
    piece = graph.add("ReduceSum", passed, graph.constant(np.array([2])), keepdims=0)
    piece = graph.add("Add", piece, graph.constant(width * np.arange(len(curves))[None]))
    start, height, rise = (graph.add("Gather", graph.constant(one.ravel()), piece) for one in (low, first, slope))
    return str(graph.add("Add", height, graph.add("Mul", rise, graph.add("Sub", odds, start))))


def _add_labels(
    graph: GraphBuilder, data: dict[str, Any], scores: str, chances: str | None, known: str, exact: str
) -> str:  # fmt: skip
    """Add the label of each text, or with several labels which classes it has; none where it is not exact."""
    prior = np.array([data["prior"]])
    if not data["single"]:
        given = _add_several(graph, data, scores, chances, known, prior)
        return str(graph.add("And", given, graph.column(exact)))
    if chances is None:
        pair = len(data["classes"]) == 2
        rivals = graph.add("Concat", graph.add("Neg", scores), scores, axis=1) if pair else scores
        chances = graph.add("Where", graph.column(known), rivals, graph.constant(prior))
    best = graph.add("ArgMax", chances, axis=1, keepdims=0)
    labels = graph.add("Gather", graph.constant(data["classes"]), best)
    return str(graph.add("Where", exact, labels, graph.constant([NOTHING])))


def _add_several(
    graph: GraphBuilder, data: dict[str, Any], scores: str, chances: str | None, known: str, prior: Array
) -> str:  # fmt: skip
    thresholds = data["thresholds"]
    if thresholds is None:
        usual = graph.constant(prior - 0.5)
        return str(
            graph.add("Greater", graph.add("Where", graph.column(known), scores, usual), graph.constant(np.array(0.0)))
        )
    limits = graph.constant(np.array([thresholds]))
    shares = chances if chances is not None else graph.constant(prior)
    above = graph.add("Greater", shares, limits)
    if not data["always_label"]:
        return str(above)
    n = len(data["classes"])
    best = graph.add("ArgMax", graph.add("Div", shares, limits), axis=1, keepdims=1)
    nearest = graph.add("Equal", best, graph.constant(np.arange(n)[None]))
    number = graph.add("Cast", above, to=graph.onnx.TensorProto.INT64)
    none = graph.add(
        "Equal", graph.add("ReduceSum", number, graph.constant(np.array([1]))), graph.constant(np.array(0))
    )
    lonely = graph.add("And", graph.add("And", none, graph.column(known)), nearest)
    return str(graph.add("Or", above, lonely))
