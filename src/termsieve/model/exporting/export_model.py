"""export(): a model in the form that the ending of a file asks for."""

from __future__ import annotations

from pathlib import Path

from termsieve.errors import OptionError
from termsieve.files import check_target, write_atomically
from termsieve.model.exporting import forms
from termsieve.model.exporting.graph import make_graph
from termsieve.model.exporting.portable import to_portable
from termsieve.model.exporting.sql import DIALECTS, SqlNames, make_sql
from termsieve.model.model import Model

ENDINGS = (".json", ".py", ".js", ".mjs", ".sql", ".onnx", ".html", ".htm")


def export(
    model: Model,
    path: str | Path,
    *,
    title: str | None = None,
    dialect: str = DIALECTS[0],
    names: SqlNames = SqlNames(),  # noqa: B008 - frozen
) -> Path:
    """Write a model as a file that labels texts without termsieve.

    Parameters
    ----------
    model
        Of `termsieve.train`: a classifier whose score is a sum over terms, and texts that are cut into runs of word
        characters or into characters. What cannot be taken along is refused.
    path
        ``.json``: plain data, read back by `Model.load`. ``.py``: a module of Python without dependencies, with
        ``predict(text)``. ``.js``, ``.mjs``: an ES module for Node and browsers, with ``predict(text)``. ``.sql``: a
        query that labels a table. ``.onnx``: a graph for onnxruntime. ``.html``: one page without network, with a box
        for a text.
    title
        Of the page (default the name of the file).
    dialect, names
        Of the query: ``"duckdb"``, ``"postgres"`` or ``"sqlite"``, and the names of the table and its columns.

    Examples
    --------
    >>> import tempfile, termsieve as ts
    >>> texts, labels = ["cheap pills", "buy pills", "noon meeting", "lunch at noon"], ["spam", "spam", "ham", "ham"]
    >>> model = ts.train(texts * 3, labels * 3, scores="chi2", ks=4, classifiers="multinomial_nb", cv=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = ts.Model.load(ts.export(model, f"{folder}/model.json"))
    >>> again.predict(["cheap pills"])
    ['spam']
    """
    path = check_target(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise OptionError(f"{path}: the ending {ending!r} is not a form of a model. Known are {', '.join(ENDINGS)}.")
    data = to_portable(model)
    if ending == ".onnx":
        write_atomically(path, [make_graph(data)])
        return path
    if ending == ".json":
        text = forms.make_json(data)
    elif ending == ".py":
        text = forms.make_python(data)
    elif ending in (".js", ".mjs"):
        text = forms.make_javascript(data)
    elif ending == ".sql":
        text = make_sql(data, dialect, names)
    else:
        text = forms.make_page(data, title or path.stem)
    write_atomically(path, [text.encode()])
    return path
