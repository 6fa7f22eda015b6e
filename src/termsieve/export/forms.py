"""The forms of an exported model: data, a module of Python, a module of JavaScript, a page."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import inspect
import json
from typing import Any

from termsieve._version import __version__
from termsieve.export import runtime

_MADE_BY = f"made by termsieve {__version__}"


def to_json_text(data: dict[str, Any]) -> str:
    """Return the data as JSON, in ASCII: no encoding can spoil it."""
    return json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def make_json(data: dict[str, Any]) -> str:
    """Return the model as JSON, with its names as they are."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def make_python(data: dict[str, Any]) -> str:
    """Return the model as one module of Python that needs the standard library alone."""
    source = inspect.getsource(runtime)
    head, _, body = source.partition('"""\n\nfrom __future__')
    about = f'"""Label texts: predict(text). {_MADE_BY}; it needs Python\'s standard library alone.\n'
    del head
    return (
        f'{about}"""\n\nfrom __future__{body}\n\n'
        f"_PREDICTOR = Predictor(json.loads({to_json_text(data)!r}))\n"
        "predict = _PREDICTOR.predict\n\n"
        'if __name__ == "__main__":\n    run(_PREDICTOR)\n'
    )


def load_script() -> str:
    """Return the code that labels texts in JavaScript."""
    folder = importlib.resources.files("termsieve.export") / "templates"
    return (folder / "runtime.js").read_text("utf-8")


def make_javascript(data: dict[str, Any]) -> str:
    """Return the model as one ES module."""
    return (
        f"// {_MADE_BY}: import {{ predict }} from this file\n{load_script()}\n"
        f"const predictor = new Predictor(JSON.parse({quote_script(to_json_text(data))}));\n"
        "export const predict = (text, n = 10) => predictor.predict(text, n);\n"
    )


def quote_script(text: str) -> str:
    """Return a string of JavaScript that no browser takes for the end of a script."""
    return json.dumps(text).replace("<", "\\u003c").replace(">", "\\u003e")


def make_page(data: dict[str, Any], title: str) -> str:
    """Return one page with a box for a text: it shows the label, how sure it is, and the words that decided."""
    from termsieve.reporting.page import get_environment, load_asset

    folder = importlib.resources.files("termsieve.export") / "templates"
    script = (
        load_script().replace("export class", "class")
        + f"\nconst predictor = new Predictor(JSON.parse({quote_script(to_json_text(data))}));\n"
        + (folder / "page.js").read_text("utf-8")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    template = get_environment().from_string((folder / "page.html").read_text("utf-8"))
    return template.render(
        policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'",
        style=_trusted(load_asset("page.css")), script=_trusted(script), title=title, version=__version__,
        classes=data["classes"], n_terms=len(data["terms"]),
    )  # fmt: skip


def _trusted(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - our own, or escaped by `quote_script`
