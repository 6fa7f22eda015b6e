"""Write the catalogue of scores for the documentation: a section and a picture per score.

Everything is read from the records of the scores. Run by ``make docs``; what it writes is not kept in git.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from contourpy import contour_generator
from latex2mathml.converter import convert

from termsieve.scores import SCORES, Score
from termsieve.scores.catalogue import list_facts, make_catalogue_rows
from termsieve.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
OUT = HERE / "_generated"
N = 20_000
STEPS = 100
SIDE = 150
RATIOS = {"1 : 1": 0.5, "1 : 19": 0.05}
LEVELS = (0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9, 0.97)
HIDDEN = {"formula", "sides", "source"}  # said elsewhere on the page


def main() -> None:
    OUT.mkdir(exist_ok=True)
    for name, score in SCORES.items():
        (OUT / f"score_{name}.svg").write_text(picture(score), encoding="utf-8")
    (OUT / "scores.md").write_text("\n".join(page()), encoding="utf-8")


def page() -> Iterator[str]:
    yield from overview()
    for row in make_catalogue_rows():
        yield from section(SCORES[row.name])


def overview() -> Iterator[str]:
    yield "| score | what it is | papers | range | sides | overall |"
    yield "|---|---|---|---|---|---|"
    for r in make_catalogue_rows():
        link = f"[`{r.name}`](#{label_of(r.name)})"
        limits = r.range.replace(str(math.log(2)), "ln 2")
        yield f"| {link} | {r.title} | {r.papers} | {limits} | {r.sided} | {r.aggregation} |"
    yield ""


def label_of(name: str) -> str:
    return f"score-{name.replace('_', '-')}"


def section(score: Score) -> Iterator[str]:
    name = score.name
    yield f"({label_of(name)})="
    yield f"## {score.title}: `{name}`"
    yield f"\n{score.about}\n"
    # MathML, which browsers draw themselves: the page needs no network
    formula = convert(score.formula, display="block")
    yield f'```{{raw}} html\n<div class="formula">{formula}</div>\n```\n'
    yield f"```{{image}} _generated/score_{name}.svg\n:alt: Contour lines of {name} over the rates of the term\n```\n"
    for label, text in list_facts(score):
        if label not in HIDDEN:
            yield f"- **{label}**: {text.replace('|', chr(92) + '|')}"
    yield f"- **source**: `{score.source}` in the bibliography\n"


def grid(score: Score, share: float) -> np.ndarray:
    """Values over the rates, rows by tpr and columns by fpr, each document having the term at most once."""
    n_c = round(N * share)
    tp = np.arange(STEPS + 1)[:, np.newaxis] * (n_c // STEPS) + np.zeros(STEPS + 1)
    fp = np.arange(STEPS + 1) * ((N - n_c) // STEPS) + np.zeros((STEPS + 1, 1))
    words = 100  # per document, for scores that compare with all occurrences
    t = Table.of(
        tp=tp, fp=fp, fn=n_c - tp, tn=N - n_c - fp, tf_c=tp, tf2_c=tp, tf_nc=fp, tf2_nc=fp,
        tokens_c=np.full_like(tp, n_c * words), tokens_nc=np.full_like(tp, (N - n_c) * words), n_terms=5000,
    )  # fmt: skip
    return np.asarray(score.evaluate(t), dtype=np.float64)


def picture(score: Score) -> str:
    width, height = 2 * SIDE + 90, SIDE + 50
    lefts = range(40, width, SIDE + 40)
    panels = "".join(panel(score, *ratio, left) for ratio, left in zip(RATIOS.items(), lefts, strict=False))
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    title = f"<title>{score.title}: contour lines at two class ratios</title>"
    font = 'font-family="sans-serif" font-size="10"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>{title}{panels}</svg>\n'


def panel(score: Score, ratio: str, share: float, left: int) -> str:
    top, bottom = 20, 20 + SIDE
    lines = "".join(contours(grid(score, share), left, bottom))
    return (
        f'<rect x="{left}" y="{top}" width="{SIDE}" height="{SIDE}" fill="#fff" stroke="#888"/>'
        f'<path d="M{left} {bottom}L{left + SIDE} {top}" stroke="#bbb" stroke-dasharray="3 3"/>{lines}'
        f'<text x="{left + SIDE / 2}" y="{top - 6}" text-anchor="middle" fill="#888">classes {ratio}</text>'
        f'<text x="{left + SIDE / 2}" y="{bottom + 22}" text-anchor="middle" fill="#888">fpr</text>'
        f'<text x="{left - 8}" y="{top + SIDE / 2}" text-anchor="end" fill="#888">tpr</text>'
    )


def contours(z: np.ndarray, left: float, bottom: float) -> Iterator[str]:
    """Lines at levels that so many parts of the square lie below; the darker, the higher."""
    finite = z[np.isfinite(z)]
    z = np.clip(z, finite.min(), finite.max())
    generator = contour_generator(z=z)
    for i, level in enumerate(sorted(set(np.quantile(z, LEVELS)))):
        shade = round(205 - 165 * i / (len(LEVELS) - 1))
        for line in generator.lines(level):
            xy = line * SIDE / STEPS * [1, -1] + [left, bottom]
            # as fine as the eye sees: every second point of the grid
            points = np.concatenate([xy[:-1:2], xy[-1:]])
            path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
            colour = f"rgb({shade // 3},{shade // 2},{shade})"
            yield f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.3"/>'


if __name__ == "__main__":
    main()
