"""The corpora of the examples, from the folder that TERMSIEVE_DATA names."""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path


def corpus(name: str, split: str | None = None) -> tuple[list[str], list[list[str]]]:
    """Texts and label lists of a corpus, or of one split of it."""
    path = Path(os.environ.get("TERMSIEVE_DATA") or "data", f"{name}.jsonl.gz")
    if not path.exists():
        sys.exit(f"{path} is not there: set TERMSIEVE_DATA to the folder with the corpora.")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    kept = [one for one in documents if split is None or one["split"] == split]
    return [one["text"] for one in kept], [one["labels"] for one in kept]
