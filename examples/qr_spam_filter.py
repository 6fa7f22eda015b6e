"""A spam filter in a QR code: terms, weights, program and page in 2,953 bytes, the most that one code holds.

The code holds a ``data:`` URL: paste what a reader finds into the address bar of a browser, without a network. A text
is spam if the whole numbers of its words, and a constant, add up to more than 0. The number of terms and the bits of
the numbers are those with the best F1 in cross-validation among all that fit.

The page takes letters and digits for words as the browser's Unicode has them, so texts with characters that are newer
than those of this Python may be cut otherwise.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import segno
from corpora import corpus
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

from termsieve.model.exporting import CompactModel, train_in_bytes
from termsieve.model.exporting.runtime import Predictor

MOST_BYTES = 2953  # of version 40 with error correction L
START = "data:text/html;charset=utf-8,"
PAGE = (
    '<textarea oninput="t=new Set(value.toLowerCase().match(/[\\p{L}\\p{N}_]{2,}/gu));s=CONSTANT;k=0;'
    "'WORDS'.split('|').map((g,i)=>g.split(' ').map(w=>t.has(w)&&(k=1,s+=i-HALF)));"
    "o.value=k&&s>0?'SECOND':'FIRST'\"></textarea><p><output id=o>"
)


def make_url(model: dict[str, Any]) -> str:
    """Return the page of a model of two classes, of which the first is more frequent, as a URL."""
    [codes], [step], [constant] = model["codes"], model["steps"], model["constants"]
    half = max(map(abs, codes))
    groups: list[list[str]] = [[] for _ in range(2 * half + 1)]
    for term, code in zip(model["terms"], codes, strict=True):
        groups[code + half].append(term)
    first, second = model["classes"]
    values = {
        "CONSTANT": repr(constant / step), "HALF": str(half), "FIRST": first, "SECOND": second,
        "WORDS": "|".join(map(" ".join, groups)),
    }  # fmt: skip
    page = PAGE
    for name, value in values.items():
        page = page.replace(name, value)
    return START + page


def make_filter(texts: list[str], labels: list[str]) -> CompactModel:
    """Train the filter that fits into one code."""
    return train_in_bytes(
        texts, labels, n_bytes=MOST_BYTES, weighting="binary", measure=lambda model: len(make_url(model).encode())
    )


def draw(url: str) -> segno.QRCode:
    """Return the code of a URL."""
    return segno.make_qr(url.encode(), error="l", mode="byte", boost_error=False)


def main() -> None:
    texts, labels = corpus("sms_spam")
    y = [label for (label,) in labels]
    train, test, y_train, y_test = train_test_split(texts, y, test_size=0.4, stratify=y, random_state=0)
    model = make_filter(train, y_train)
    url = make_url(model.data)
    found = [one["label"] for one in map(Predictor(model.data).predict, test)]
    print(f"{model.chosen.terms} terms, {model.chosen.bits} bits per weight: {len(url.encode()):,} bytes with the page")
    print(f"F1 in cross-validation: {model.chosen.f1:.3f}, with all terms {model.full_f1:.3f}")
    print(f"F1 on {len(test):,} other messages: {f1_score(y_test, found, average='macro'):.3f}")
    folder = Path(tempfile.mkdtemp(prefix="spam_filter_"))
    draw(url).save(str(folder / "spam_filter.svg"), scale=3)
    (folder / "spam_filter.html").write_text(url.removeprefix(START), "utf-8")
    print(f"the code and its page are in {folder}")


if __name__ == "__main__":
    main()
