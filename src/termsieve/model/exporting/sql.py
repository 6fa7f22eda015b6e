r"""A model as one query: the label and the score of each text of a table, in DuckDB, PostgreSQL or SQLite.

Lower case and words are spelled out from Python's tables: nothing depends on what an engine takes for a letter. What is
not proven equal gets a note in place of a label: texts with a capital sigma, whose lower case depends on its
neighbours, and in SQLite, which has no regular expressions, texts beyond ASCII.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from termsieve.errors import OptionError
from termsieve.model.exporting.characters import join_ranges
from termsieve.model.exporting.lowering import CAPITAL_SIGMA, LONG_LOWER, find_needed_pairs
from termsieve.model.exporting.runtime import decode_ranges

DIALECTS = ("duckdb", "postgres", "sqlite")
_MAX_NESTED = 20  # calls in one expression


class SqlNames(NamedTuple):
    """The table and its columns that a query reads."""

    table: str = "documents"
    text: str = "text"
    identity: str = "id"


def make_sql(data: dict[str, Any], dialect: str, names: SqlNames = SqlNames()) -> str:  # noqa: B008 - frozen
    """Return the query of a portable model."""
    if dialect not in DIALECTS:
        raise OptionError(f"The dialect must be one of {', '.join(DIALECTS)}, not {dialect!r}.")
    if data["analyzer"]["kind"] != "word":
        raise OptionError("A model of characters cannot be exported as SQL: train one of words, or export .js or .py.")
    if any("\0" in one for one in (*data["terms"], *data["classes"])):
        raise OptionError("A model with a zero character in a term or class cannot be exported as SQL.")
    parts = [
        _texts(data, dialect, names), *_WORDS[dialect](data), _terms(data), _model_tables(data), _values(data),
        *_scores(), *_probabilities(data, dialect),
    ]  # fmt: skip
    return (
        f"-- label, probability and note of each row of {_comment(names.table)}\nWITH RECURSIVE\n"
        + ",\n".join(parts)
        + _answer(data)
    )


def quote(text: str) -> str:
    """Return a string of SQL.

    >>> quote("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in name.split("."))


def _comment(text: str) -> str:
    return " ".join(text.split())  # any end of a line would end the comment


# Words


def _texts(data: dict[str, Any], dialect: str, names: SqlNames) -> str:
    """Return the table of texts, and which of them are not proven equal."""
    text = _identifier(names.text)
    checks = (
        [(f"{_find(text, CAPITAL_SIGMA, dialect)} > 0", "a capital sigma")] if data["analyzer"]["lowercase"] else []
    )
    identity = _identifier(names.identity)
    checks.append((f"{identity} IS NULL OR count(*) OVER (PARTITION BY {identity}) > 1", "no id of its own"))
    if dialect == "sqlite":
        checks.insert(0, (f"{text} GLOB '*[^' || char(1) || '-' || char(127) || ']*'", "characters beyond ASCII"))
        checks.insert(0, (f"instr({text}, char(0)) > 0", "a zero character"))  # where SQLite's text functions stop
    cases = "".join(f" WHEN {check} THEN {quote('not labelled: ' + why)}" for check, why in checks)
    columns = f"{identity} AS id, {text} AS text, CASE{cases} END AS note"
    return f"texts AS (SELECT {columns} FROM {_identifier(names.table)})"


def _find(text: str, char: str, dialect: str) -> str:
    return f"strpos({text}, {quote(char)})" if dialect != "sqlite" else f"instr({text}, {quote(char)})"


def _lower(data: dict[str, Any], text: str) -> str:
    """Return the expression of lower case, as far as terms depend on it."""
    if not data["analyzer"]["lowercase"]:
        return text
    pairs = find_needed_pairs(data)
    for char, lower in LONG_LOWER.items():
        text = f"replace({text}, {quote(char)}, {quote(lower)})"
    upper, lower = ("".join(some) for some in zip(*pairs, strict=True)) if pairs else ("", "")
    return f"translate({text}, {quote(upper)}, {quote(lower)})" if upper else text


def _character_class(data: dict[str, Any], form: Callable[[int], str]) -> str:
    return join_ranges(decode_ranges(data["analyzer"]["word_characters"]), form)


def _duckdb_words(data: dict[str, Any]) -> list[str]:
    word = f"[{_character_class(data, lambda code: f'{chr(92)}x{{{code:x}}}')}]{{{data['analyzer']['least']},}}"
    found = f"regexp_extract_all({_lower(data, 'text')}, {quote(word)})"
    return [
        f"lists AS (SELECT id, {found} AS list FROM texts WHERE note IS NULL)",
        "found AS (SELECT id, unnest(list) AS word, generate_subscripts(list, 1) AS place FROM lists)",
    ]


def _postgres_words(data: dict[str, Any]) -> list[str]:
    form = lambda code: f"\\U{code:08x}" if code > 0xFFFF else f"\\u{code:04x}"  # noqa: E731 - used here alone
    word = f"([{_character_class(data, form)}]{{{data['analyzer']['least']},}})"
    return [
        "found AS (SELECT id, m.parts[1] AS word, m.place FROM texts CROSS JOIN LATERAL "
        f"regexp_matches({_lower(data, 'text')}, {quote(word)}, 'g') WITH ORDINALITY AS m(parts, place) "
        "WHERE note IS NULL)"
    ]


def _sqlite_words(data: dict[str, Any]) -> list[str]:
    """Return the tables of words: what is no part of a word becomes a space, and the text is cut there."""
    ranges = decode_ranges(data["analyzer"]["word_characters"])
    is_word = {chr(code) for first, last in ranges for code in range(first, min(last, 127) + 1)}
    others = [code for code in range(1, 128) if chr(code) not in is_word and chr(code) != " "]
    text = "lower(text)" if data["analyzer"]["lowercase"] else "text"
    tables = [f"spaced_0 AS (SELECT id, {text} AS text FROM texts WHERE note IS NULL)"]
    for step, first in enumerate(range(0, len(others), _MAX_NESTED), 1):  # SQLite's parser has a limit
        text = "text"
        for code in others[first : first + _MAX_NESTED]:
            text = f"replace({text}, char({code}), ' ')"
        tables.append(f"spaced_{step} AS (SELECT id, {text} AS text FROM spaced_{step - 1})")
    least = data["analyzer"]["least"]
    return [
        *tables,
        f"spaced AS (SELECT id, trim(text) || ' ' AS text FROM spaced_{len(tables) - 1})",
        "pieces AS (SELECT id, 0 AS place, '' AS word, text AS rest FROM spaced UNION ALL "
        "SELECT id, place + 1, substr(rest, 1, instr(rest, ' ') - 1), ltrim(substr(rest, instr(rest, ' ') + 1)) "
        "FROM pieces WHERE rest <> '')",
        f"found AS (SELECT id, word, place FROM pieces WHERE place > 0 AND length(word) >= {least})",
    ]


_WORDS = {"duckdb": _duckdb_words, "postgres": _postgres_words, "sqlite": _sqlite_words}


def _terms(data: dict[str, Any]) -> str:
    """Return the table of terms: words without stop words, and runs of them."""
    low, high = data["analyzer"]["ngrams"]
    stop = data["analyzer"]["stop_words"]
    without = f" WHERE word NOT IN ({', '.join(map(quote, stop))})" if stop else ""
    runs = []
    for n in range(low, high + 1):
        joined = " || ' ' || ".join(["word", *(f"lead(word, {i}) OVER w" for i in range(1, n))])
        window = " WINDOW w AS (PARTITION BY id ORDER BY place)" if n > 1 else ""
        runs.append(f"SELECT id, {joined} AS term FROM kept{window}")
    return f"kept AS (SELECT id, word, place FROM found{without}),\nterms AS ({' UNION ALL '.join(runs)})"


# Sums


def _rows(rows: Iterable[Iterable[Any]]) -> str:
    return ",\n".join("(" + ", ".join(_literal(cell) for cell in row) + ")" for row in rows)


def _literal(cell: Any) -> str:
    if cell is None:
        return "NULL"
    if isinstance(cell, str):
        return quote(cell)
    return repr(cell) if isinstance(cell, int) or "e" in repr(cell) else f"{cell!r}e0"


def _table(name: str, columns: str, rows: Iterable[Iterable[Any]]) -> str:
    """Return a table of constants; columns with a star are doubles, whatever an engine takes their literals for."""
    names = [column.strip() for column in columns.split(",")]
    plain = [column.rstrip("*") for column in names]
    cast = ", ".join(
        f"CAST({column} AS DOUBLE PRECISION) AS {column}" if given.endswith("*") else column
        for given, column in zip(names, plain, strict=True)
    )
    listed = f"{name}_rows({', '.join(plain)}) AS (VALUES {_rows(rows)})"
    return f"{listed},\n{name} AS (SELECT {cast} FROM {name}_rows)"


def _model_tables(data: dict[str, Any]) -> str:
    """Return the model as tables: the terms with their weights, and the problems with their constants."""
    idf = data["term_weights"] or [1.0] * len(data["terms"])
    n_classes = len(data["classes"])
    weights = [
        (column, problem, weight) for problem, row in enumerate(data["weights"]) for column, weight in enumerate(row)
    ]
    tables = (
        _table("vocabulary", "term, number, factor*", zip(data["terms"], range(len(idf)), idf, strict=True)),
        _table("problems", "problem, constant*", enumerate(data["constants"])),
        _table("weights", "number, problem, weight*", weights),
        _table("classes", "class, label, prior*", zip(range(n_classes), data["classes"], data["prior"], strict=True)),
    )
    return ",\n".join(tables)


def _values(data: dict[str, Any]) -> str:
    times = {"binary": "1e0", "log": "1e0 + ln(count(*))", "count": "count(*) * 1e0"}[data["occurrences"]]
    length = "sqrt(sum(value * value) OVER (PARTITION BY id))" if data["cosine"] else "1e0"
    return (
        f"counted AS (SELECT id, number, ({times}) * max(factor) AS value FROM terms JOIN vocabulary USING (term) "
        "GROUP BY id, number),\n"
        f"scaled AS (SELECT id, number, value, {length} AS length FROM counted),\n"
        "valued AS (SELECT id, number, CASE WHEN length > 0 THEN value / length ELSE value END AS value FROM scaled)"
    )


def _scores() -> list[str]:
    return [
        "known AS (SELECT DISTINCT id FROM valued)",
        "sums AS (SELECT id, problem, sum(weight * value) AS total FROM valued JOIN weights USING (number) "
        "GROUP BY id, problem)",
        "scores AS (SELECT known.id, problems.problem, constant + coalesce(total, 0e0) AS score FROM known "
        "CROSS JOIN problems LEFT JOIN sums ON sums.id = known.id AND sums.problem = problems.problem)",
    ]


# Probabilities and labels


def _probabilities(data: dict[str, Any], dialect: str) -> list[str]:
    """Return the tables from scores to a probability of each class; without probabilities the scores themselves."""
    kind, binary = data["probabilities"], data["single"] and len(data["classes"]) == 2
    rest = data["single"] and not binary and kind in ("sigmoid", "isotonic")
    tables = _rest_odds() if rest else ["odds AS (SELECT id, problem, score AS x FROM scores)"]
    tables += _calibrate(data, dialect)
    if binary:
        tables.append(
            "chances AS (SELECT id, 1 AS class, y AS chance FROM calibrated UNION ALL "
            f"SELECT id, 0, {'1e0 - y' if kind else '-y'} FROM calibrated)"
        )
    elif data["single"] and kind == "softmax":
        tables.append(
            "powers AS (SELECT id, problem, exp(score - max(score) OVER (PARTITION BY id)) AS power FROM scores),\n"
            "chances AS (SELECT id, problem AS class, power / sum(power) OVER (PARTITION BY id) AS chance FROM powers)"
        )
    elif data["single"] and kind:
        tables.append(
            "chances AS (SELECT id, problem AS class, y / sum(y) OVER (PARTITION BY id) AS chance FROM calibrated)"
        )
    else:
        tables.append("chances AS (SELECT id, problem AS class, y AS chance FROM calibrated)")
    return tables


def _rest_odds() -> list[str]:
    """Return the log odds of each class against all others together."""
    return [
        "shared AS (SELECT id, problem, score, max(score) OVER (PARTITION BY id) AS best FROM scores)",
        "ordered AS (SELECT id, problem, score, best, exp(score - best) AS share, row_number() OVER "
        "(PARTITION BY id ORDER BY score DESC, problem) AS place FROM shared)",
        # of the best class the sum of what follows, which does not cancel
        "odds AS (SELECT id, problem, CASE WHEN place = 1 THEN -ln(sum(share) OVER (PARTITION BY id ORDER BY place "
        "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)) ELSE score - best - ln(sum(share) OVER (PARTITION BY id) "
        "- share) END AS x FROM ordered)",
    ]


def _calibrate(data: dict[str, Any], dialect: str) -> list[str]:
    kind = data["probabilities"]
    if kind is None:
        return ["calibrated AS (SELECT id, problem, x AS y FROM odds)"]
    if kind == "softmax":
        return [f"calibrated AS (SELECT id, problem, {_sigmoid('x', dialect)} AS y FROM odds)"]
    if kind == "sigmoid":
        curves = ((problem, slope, offset) for problem, (slope, offset) in enumerate(data["curves"]))
        return [
            _table("curves", "problem, slope*, start*", curves),
            f"calibrated AS (SELECT id, problem, {_sigmoid('slope * x + start', dialect)} AS y FROM odds JOIN curves "
            "USING (problem))",
        ]
    return [
        _table("pieces_of_curves", "problem, low*, high*, first*, slope*", _segments(data["curves"])),
        "calibrated AS (SELECT id, problem, first + CASE WHEN low IS NULL THEN 0e0 ELSE slope * (x - low) END AS y "
        "FROM odds JOIN pieces_of_curves USING (problem) "
        "WHERE (low IS NULL OR x >= low) AND (high IS NULL OR x < high))",
    ]


def _segments(curves: list[Any]) -> Iterable[tuple[Any, ...]]:
    """Yield the pieces of curves that are linear between their points and constant beyond."""
    for problem, (xs, ys) in enumerate(curves):
        yield problem, None, xs[0], ys[0], 0.0
        for i in range(len(xs) - 1):
            yield problem, xs[i], xs[i + 1], ys[i], (ys[i + 1] - ys[i]) / (xs[i + 1] - xs[i])
        yield problem, xs[-1], None, ys[-1], 0.0


def _sigmoid(x: str, dialect: str) -> str:
    """Return the expression of 1 / (1 + exp(-x)), within what an engine can raise to a power."""
    limited = f"max(min({x}, 700e0), -700e0)" if dialect == "sqlite" else f"greatest(least({x}, 700e0), -700e0)"
    return f"1e0 / (1e0 + exp(-({limited})))"


def _answer(data: dict[str, Any]) -> str:
    """Return the end of the query: a row for each text, or with several labels for each text and label."""
    if not data["single"]:
        return _several_labels(data)
    chance = "coalesce(best.chance, usual.chance)" if data["probabilities"] else "CAST(NULL AS DOUBLE PRECISION)"
    return (
        ",\nbest AS (SELECT id, class, chance, row_number() OVER (PARTITION BY id ORDER BY chance DESC, class) "
        "AS place FROM chances),\n"
        "usual AS (SELECT class, prior AS chance FROM classes ORDER BY prior DESC, class LIMIT 1)\n"
        f"SELECT texts.id, CASE WHEN note IS NULL THEN label END AS label, CASE WHEN note IS NULL THEN {chance} END AS "
        "probability, CASE WHEN note IS NOT NULL THEN note WHEN best.id IS NULL THEN 'none of the terms' END AS note\n"
        "FROM texts LEFT JOIN best ON best.id = texts.id AND place = 1 CROSS JOIN usual\n"
        "JOIN classes ON classes.class = coalesce(best.class, usual.class)\nORDER BY texts.id\n"
    )


def _several_labels(data: dict[str, Any]) -> str:
    thresholds = data["thresholds"]
    even = 0.5 if data["probabilities"] else 0.0  # of a probability, or of log odds
    limit = thresholds if thresholds is not None else [even] * len(data["classes"])
    shown = "given.chance" if data["probabilities"] else "CAST(NULL AS DOUBLE PRECISION)"
    usual = "prior" if data["probabilities"] else "prior - 0.5e0"
    order = "chance / threshold" if thresholds is not None else "chance"
    nearest = " OR (is_known = 1 AND above = 0 AND place = 1)" if data["always_label"] else ""
    return (
        f",\n{_table('thresholds', 'class, threshold*', enumerate(limit))},\n"
        f"shares AS (SELECT id, class, chance, 1 AS is_known FROM chances UNION ALL SELECT texts.id, class, {usual}, 0 "
        "FROM texts CROSS JOIN classes WHERE note IS NULL AND texts.id NOT IN (SELECT id FROM known)),\n"
        "judged AS (SELECT id, class, chance, is_known, threshold, sum(CASE WHEN chance > threshold THEN 1 ELSE 0 END) "
        "OVER (PARTITION BY id) AS above, row_number() OVER (PARTITION BY id ORDER BY "
        f"{order} DESC, class) AS place FROM shares JOIN thresholds USING (class)),\n"
        f"given AS (SELECT * FROM judged WHERE chance > threshold{nearest})\n"
        f"SELECT texts.id, label, {shown} AS probability, CASE WHEN note IS NOT NULL THEN note "
        "WHEN texts.id NOT IN (SELECT id FROM known) THEN 'none of the terms' "
        "WHEN label IS NULL THEN 'no label' END AS note\n"
        "FROM texts LEFT JOIN given ON given.id = texts.id LEFT JOIN classes ON classes.class = given.class\n"
        "ORDER BY texts.id, given.class\n"
    )
