"""Make docs/choosing.md, its figures, and the evidence that the package keeps, from docs/results/scores.json."""

from pathlib import Path

import termsieve
from termsieve.score_study.page import write_page

DOCS = Path(__file__).parent

if __name__ == "__main__":
    data = Path(termsieve.__file__).parent / "data"
    write_page(DOCS / "results" / "scores.json", DOCS / "choosing.md", data)
    print(DOCS / "choosing.md")
