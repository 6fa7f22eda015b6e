"""Write the table of corpora for the documentation, from their records. Run by ``make docs``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from termsieve.datasets import CORPORA, Dataset

if TYPE_CHECKING:
    from collections.abc import Iterator

OUT = Path(__file__).parent / "_generated"


def main() -> None:
    OUT.mkdir(exist_ok=True)
    (OUT / "datasets.md").write_text("\n".join(page()) + "\n", encoding="utf-8")


def page() -> Iterator[str]:
    yield "| name | corpus | documents | classes | parts | papers | licence |"
    yield "|---|---|---|---|---|---|---|"
    for record in CORPORA.values():
        yield row(record)
    yield ""
    yield "| name | archive | bytes | SHA-256 |"
    yield "|---|---|---|---|"
    for record in CORPORA.values():
        for archive in record.archives:
            name = f"[{archive.name}]({archive.urls[0]})" if archive.urls else f"{archive.name} (no home any more)"
            size = f"{archive.size:,}" if archive.size else "-"
            checksum = f"`{archive.sha256}`" if archive.sha256 else "not published"
            yield f"| `{record.name}` | {name} | {size} | {checksum} |"


def row(record: Dataset) -> str:
    parts = ", ".join(f"{part or 'none'} {count:,}" for part, count in record.splits.items()) or "-"
    used = f"stands in for `{record.stand_in_for}`" if record.stand_in_for else ", ".join(record.papers) or "-"
    count = f"{record.documents:,}" if record.documents else "-"
    title = f"[{record.title}]({record.home}). {record.citation}"
    return f"| `{record.name}` | {title} | {count} | {record.classes} | {parts} | {used} | {record.licence} |"


if __name__ == "__main__":
    main()
