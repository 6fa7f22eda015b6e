"""Print docs/technical_report.md to docs/_build/technical_report.pdf, with Chromium."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from markdown_it import MarkdownIt

DOCS = Path(__file__).parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
STYLE = """
@page { size: A4; margin: 18mm 16mm }
body { font: 10pt/1.4 Georgia, serif; color: #111 }
h1, h2, h3 { font-family: Helvetica, Arial, sans-serif; line-height: 1.2; break-after: avoid }
table { border-collapse: collapse; font: 7.5pt/1.25 Helvetica, Arial, sans-serif; margin: 1em 0; width: 100% }
td, th { border-bottom: 0.5pt solid #bbb; padding: 2pt 4pt; text-align: left; vertical-align: top }
tr, img { break-inside: avoid }
img { max-width: 100% }
"""


def make_page(markdown: str) -> str:
    """Return a page of HTML; pictures are looked for in the folder of the documents."""
    body = MarkdownIt("commonmark").enable("table").render(markdown)
    return f'<!doctype html><html lang="en"><meta charset="utf-8"><style>{STYLE}</style><body>{body}</body></html>'


def print_page(page: Path, target: Path) -> None:
    """Print a page to a file, or say what is missing."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"None of {', '.join(BROWSERS)} is here. Install one to print the report.")
    asked = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--print-to-pdf={target}"]
    subprocess.run([browser, *asked, page.as_uri()], check=True, capture_output=True)  # noqa: S603 - our own page


if __name__ == "__main__":
    (DOCS / "_build").mkdir(exist_ok=True)
    page, target = DOCS / "_technical_report.html", DOCS / "_build" / "technical_report.pdf"
    page.write_text(make_page((DOCS / "technical_report.md").read_text(encoding="utf-8")), encoding="utf-8")
    try:
        print_page(page, target)
    finally:
        page.unlink()
    print(target)
