"""The files that the documentation speaks of, small and made up."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import termsieve as ts

_COMMON = [
    "the",
    "to",
    "and",
    "you",
    "for",
    "of",
    "is",
    "it",
    "on",
    "at",
    "we",
    "that",
    "are",
    "with",
    "your",
    "from",
    "have",
    "will",
    "this",
    "not",
]
_TELLING = {
    "spam": [
        "call",
        "free",
        "txt",
        "prize",
        "claim",
        "win",
        "cash",
        "urgent",
        "reply",
        "cheap",
        "pills",
        "discount",
        "offer",
        "buy",
    ],
    "ham": [
        "lunch",
        "noon",
        "meeting",
        "report",
        "draft",
        "room",
        "friday",
        "thanks",
        "team",
        "plan",
        "home",
        "later",
        "dinner",
    ],
}


def make_documents(n: int, seed: int = 0) -> list[tuple[str, str]]:
    """Texts with their class: each has words of both, more of its own."""
    draw = random.Random(seed)
    documents = []
    for number in range(n):
        label, other = ("spam", "ham") if number % 3 == 0 else ("ham", "spam")
        words = draw.choices(_COMMON, k=8) + draw.choices(_TELLING[label], k=4) + draw.choices(_TELLING[other], k=1)
        draw.shuffle(words)
        documents.append((" ".join(words), label))
    return documents


def write_samples(folder: Path) -> None:
    """Write every file that a page of the documentation names."""
    documents = make_documents(240)
    rows = [
        {
            "id": n,
            "text": text,
            "label": label,
            "date": f"2026-0{1 + n // 3 % 3}-1{n % 9}",
            "month": f"2026-0{1 + n // 3 % 3}",
            "source": "abc"[n // 3 % 3],
        }
        for n, (text, label) in enumerate(documents)
    ]
    _write_csv(folder / "mail.csv", rows)
    _write_csv(folder / "new.csv", [{"text": text} for text, _ in make_documents(5, seed=1)])
    _write_csv(folder / "texts.csv", rows[:40])
    _write_csv(folder / "speeches.csv", rows)
    _write_csv(folder / "frequencies.csv", [{"word": word, "frequency": 1000} for word in [*_COMMON, *_TELLING["ham"]]])
    (folder / "mymodule.py").write_text("def cut(text):\n    return text.lower().split()\n", encoding="utf-8")
    for name in ("hamlet.txt", "macbeth.txt"):
        lines = [text for text, _ in make_documents(30, seed=len(name))]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in ("monday.jsonl", "tuesday.jsonl", "withdrawn.jsonl"):
        part = rows[:30] if name in ("monday.jsonl", "withdrawn.jsonl") else rows[30:]
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in part), encoding="utf-8")
    pages = [{"text": f"<p>{row['text']}</p>", "label": row["label"]} for row in rows[:40]]
    (folder / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
    for name in ("sms_spam.jsonl.gz", "20news.jsonl.gz"):
        with gzip.open(folder / name, "wt", encoding="utf-8") as file:
            file.writelines(json.dumps({"text": row["text"], "labels": [row["label"]]}) + "\n" for row in rows)
    tokens = {"tokens": [row["text"].split() for row in rows[:40]], "label": [row["label"] for row in rows[:40]]}
    pq.write_table(pa.table(tokens), folder / "lemmas.parquet")
    pq.write_table(pa.Table.from_pylist(rows), folder / "mail.parquet")
    _write_folders(folder, rows)
    _write_counts(folder, documents)


def _write_csv(path: Path, rows: list[dict[str, object]]) -> None:
    lines = [",".join(rows[0])] + [",".join(str(cell) for cell in row.values()) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _write_folders(folder: Path, rows: list[dict[str, object]]) -> None:
    (folder / "mail").mkdir()
    for part in ("train", "test"):
        with gzip.open(folder / "mail" / f"{part}.jsonl.gz", "wt", encoding="utf-8") as file:
            for row in rows:
                mail = {"subject": "hello", "body": row["text"], "folder": row["label"], "part": part}
                file.write(json.dumps(mail) + "\n")
    for row in rows[:40]:
        target = folder / "mails" / str(row["label"])
        target.mkdir(parents=True, exist_ok=True)
        (target / f"{row['id']}.txt").write_text(f"Subject: hello\nFrom: a@b\n\n{row['text']}\n", encoding="utf-8")


def _write_counts(folder: Path, documents: list[tuple[str, str]]) -> None:
    parts = {
        "mail": documents, "all": documents,
        "january": documents[:80], "february": documents[80:160], "march": documents[160:],
        "may": documents[:120], "june": documents[120:], "before": documents[:120], "after": documents[120:],
        "tuesday": documents[30:60],
    }  # fmt: skip
    for name, part in parts.items():
        texts, labels = zip(*part, strict=True)
        ts.count(texts, labels).save(folder / f"{name}.counts")
