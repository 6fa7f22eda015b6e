"""A model comes in; a file that labels texts without this library goes out.

::

    portable      a model as plain data: terms, weights, classes, analyzer, calibration, thresholds
    characters    which characters are parts of words, so that words are the same everywhere
    runtime       labels texts by that data, in Python's standard library alone; templates/runtime.js does in JavaScript
    forms         the files: .json, .py, .js, .html
    compact       a model in few bytes: front-coded terms, weights of few bits
    budget        the best model that a number of bytes holds
    lowering      lower case as pairs of characters, for engines that may have another than Python's
    sql           the same as one query, for DuckDB, PostgreSQL and SQLite
    graph         the same as a graph of ONNX
    graph_builder its nodes and constants, as they are added
    export_model  export(): the form by the ending of the file
    reading       a .json file as a Model again
"""

from termsieve.model.exporting.budget import CompactModel, Front, find_front, load_compact, train_in_bytes
from termsieve.model.exporting.export_model import export
from termsieve.model.exporting.portable import to_portable
from termsieve.model.exporting.reading import load_exported, load_portable

__all__ = [
    "CompactModel", "Front", "export", "find_front", "load_compact", "load_exported", "load_portable",
    "to_portable", "train_in_bytes",
]  # fmt: skip
