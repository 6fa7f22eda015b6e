"""Make docs/reproduction.md and its figures from docs/results/*.json."""

from pathlib import Path

from termsieve.reproduction.page import write_page

DOCS = Path(__file__).parent

if __name__ == "__main__":
    write_page(DOCS / "results", DOCS / "reproduction.md")
    print(DOCS / "reproduction.md")
