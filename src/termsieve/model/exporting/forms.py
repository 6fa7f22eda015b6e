"""The forms of an exported model: data, a module of Python, a module of JavaScript, a page."""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.resources
import inspect
import json
import string
from typing import Any

from termsieve._version import __version__
from termsieve.model.exporting import runtime

_MADE_BY = f"made by termsieve {__version__}"


def to_json_text(data: dict[str, Any]) -> str:
    """Return the data as JSON, in ASCII: no encoding can spoil it."""
    return json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def make_json(data: dict[str, Any]) -> str:
    """Return the model as JSON, with its names as they are."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def _python_predictor(data: dict[str, Any], compact: bytes | None) -> str:
    if compact is None:
        return f"Predictor(json.loads({to_json_text(data)!r}))"
    return f"Predictor.from_compact({base64.b64encode(compact).decode()!r}, {_tables(data)!r})"


def _script_predictor(data: dict[str, Any], compact: bytes | None) -> str:
    if compact is None:
        return f"new Predictor(JSON.parse({quote_script(to_json_text(data))}))"
    return f'new Predictor(unpack("{base64.b64encode(compact).decode()}", {to_json_text(_tables(data))}))'


def _tables(data: dict[str, Any]) -> dict[str, str]:
    return {name: data["analyzer"][name] for name in runtime.TABLES}


def make_python(data: dict[str, Any], compact: bytes | None = None) -> str:
    """Return the model as one module of Python that needs the standard library alone."""
    source = inspect.getsource(runtime)
    _, _, body = source.partition('"""\n\nfrom __future__')
    about = f'"""Label texts: predict(text). {_MADE_BY}; it needs Python\'s standard library alone.\n'
    return (
        f'{about}"""\n\nfrom __future__{body}\n\n'
        f"_PREDICTOR = {_python_predictor(data, compact)}\n"
        "predict = _PREDICTOR.predict\n\n"
        'if __name__ == "__main__":\n    run(_PREDICTOR)\n'
    )


def load_script() -> str:
    """Return the code that labels texts in JavaScript."""
    return _read_template("runtime.js")


def _read_template(name: str) -> str:
    return (importlib.resources.files("termsieve.model.exporting") / "templates" / name).read_text("utf-8")


def make_javascript(data: dict[str, Any], compact: bytes | None = None) -> str:
    """Return the model as one ES module."""
    return (
        f"// {_MADE_BY}: import {{ predict }} from this file\n{load_script()}\n"
        f"const predictor = {_script_predictor(data, compact)};\n"
        "export const predict = (text, n = 10) => predictor.predict(text, n);\n"
    )


def quote_script(text: str) -> str:
    """Return a string of JavaScript that no browser takes for the end of a script."""
    return json.dumps(text).replace("<", "\\u003c").replace(">", "\\u003e")


def make_box_script(data: dict[str, Any], compact: bytes | None = None) -> str:
    """Return the script of a box for a text: of this page, and of reports."""
    return (
        load_script().replace("export class", "class").replace("export function", "function")
        + f"\nconst predictor = {_script_predictor(data, compact)};\n"
        + _read_template("page.js")
    )


def make_page(data: dict[str, Any], title: str, compact: bytes | None = None) -> str:
    """Return one page with a box for a text: it shows the label, how sure it is, and the words that decided."""
    script = make_box_script(data, compact)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'"
    )
    parts = {
        "policy": policy, "title": title, "version": __version__, "classes": f"{len(data['classes']):,}",
        "terms": f"{len(data['terms']):,}",
    }  # fmt: skip
    escaped = {name: html.escape(text) for name, text in parts.items()}
    return string.Template(_read_template("page.html")).substitute(escaped, script=script)
