"""Tables of models and predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Group, RenderableType
from rich.text import Text

from termsieve.cli.output import Sheet
from termsieve.cli.screen import make_bare_table, make_cell
from termsieve.errors import OptionError
from termsieve.views import format_measure, format_percent

if TYPE_CHECKING:
    from termsieve.model import Explanation, Model

MAX_SHOWN = 100  # documents, in a table
NO_TERMS = "none of the model's terms"
NOT_SURE = "not sure enough"
EXCERPT_LENGTH = 200  # characters of a document, of which a table shows as many as fit
TRAINING_COLUMNS = (
    "classifier", "weighting", "score", "rule", "terms", "classes", "documents", "f1_macro", "standard_error",
    "accuracy", "folds", "candidates", "calibration", "brier", "ece", "brier_before", "ece_before",
    "calibrated_f1_macro", "calibrated_accuracy", "without_label", "reliability",
)  # fmt: skip


class Prediction(NamedTuple):
    """A document and the prediction of a model."""

    place: dict[str, Any]  # file, line and row of the input
    identity: Any
    text: str
    label: Any
    probabilities: Sequence[float] | None
    known: bool  # it has a term of the model
    explanations: Sequence[Explanation]


# Training


def make_training_sheet(model: Model) -> Sheet:
    """Make a sheet of what was chosen and how good it is."""
    s = model.settings
    values = [
        s["classifier"], s["weighting"], s["score"], s["rule"], s["n_terms"], len(model.classes), s["n_docs"],
        *(s[name] for name in ("f1_macro", "standard_error", "accuracy")),
        s["cv"], len(s["candidates"]), *_calibration_values(s["calibration"]),
    ]  # fmt: skip
    return Sheet(TRAINING_COLUMNS, [values], lambda: _training_view(model))


def _calibration_values(report: dict[str, Any] | None) -> list[Any]:
    names = ("method", "brier", "ece", "brier_before", "ece_before", "f1_macro", "accuracy", "without_label", "bins")
    return [None if report is None else report[name] for name in names]


def _calibration_view(report: dict[str, Any], *, single: bool) -> RenderableType:
    """Tell how good the probabilities are, and show the reliability table."""
    before = "" if report["brier_before"] is None else (
        f" (before calibration {format_measure(report['brier_before'], 4)} and "
        f"{format_measure(report['ece_before'], 4)})"
    )  # fmt: skip
    none = "" if single else f", {format_percent(report['without_label'])} of the documents without a label"
    lines = Text(
        f"probabilities: {report['method']} calibration on {report['documents']:,} held-out documents; Brier score "
        f"{format_measure(report['brier'], 4)}, expected calibration error {format_measure(report['ece'], 4)}{before}\n"
        f"labels by these probabilities, held out: macro F1 {format_measure(report['f1_macro'])}, accuracy "
        f"{format_measure(report['accuracy'])}{none}"
    )
    table = make_bare_table()
    for name in ("probability", "mean", "right" if single else "have the class", "documents" if single else "cases"):
        table.add_column(name, justify="right")
    for low, high, n, mean, right in report["bins"]:
        table.add_row(f"{low:.1f} to {high:.1f}", format_measure(mean), format_measure(right), f"{n:,}")
    return Group(lines, table)


def _training_view(model: Model) -> RenderableType:
    from termsieve.model.fitting import ALL_TERMS

    s = model.settings
    ranked = f"{s['rule']} by {s['score']}" if s["rule"] != ALL_TERMS else "all there are"
    first = Text().append(s["classifier"], style="bold").append(f" on {s['weighting']} of ")
    first.append(f"{s['n_terms']:,} terms", style="bold").append(f" ({ranked}), {len(model.classes):,} classes")
    lines: list[RenderableType] = [first]
    if s["cv"]:
        part = f" of {s['judged_on']:,} documents" if s["judged_on"] < s["n_docs"] else ""
        error = "" if s["standard_error"] is None else f" ± {format_measure(s['standard_error'])}"
        line = Text("macro F1 ").append(format_measure(s["f1_macro"]), style="bold green")
        lines.append(line.append(f"{error}, accuracy {format_measure(s['accuracy'])}: {_how_judged(s)}{part}"))
        lines.append(Text(s["reason"]))
        if len(s["candidates"]) > 1:
            lines.append(Text(f"chosen among {len(s['candidates']):,} that were tried", style="dim"))
    report = s["calibration"]
    return Group(*lines, *([] if report is None else [_calibration_view(report, single=model.single)]))


def _how_judged(settings: Mapping[str, Any]) -> str:
    """Tell on what the measures were taken."""
    n = settings["n_splits"]
    return "on one split" if n == 1 else f"cross-validated in {n} splits"


# Prediction


def make_prediction_sheet(
    model: Model, items: Iterator[Prediction], *, places: Sequence[str], identity: str | None, explain: bool,
    probabilities: bool, whole: bool, shown: int | None = MAX_SHOWN,
) -> Sheet:  # fmt: skip
    """Make a row for each document; a table has the first `shown`. With `whole`, all documents are read even so.

    `places` are the parts of the place of a document to write: file, line, row.
    """
    chances = model.has_probabilities
    names = [*(_place_name(name, identity) for name in places), *([identity] if identity else []), "label"]
    names += [*(["probability"] if chances else []), "note"]
    names += [*(f"p_{name}" for name in model.classes if probabilities), *(["against", "because"] if explain else [])]
    if identity and names.count(identity) > 1:
        raise OptionError(f"--id {identity}: the output has a column of that name already; rename it in the input.")

    def rows() -> Iterator[list[Any]]:
        for one in items:
            yield [
                *(one.place[name] for name in places),
                *([one.identity] if identity else []),
                one.label,
                *([_label_probability(model, one)] if chances else []),
                _note(one),
                *(_list_probabilities(one) if probabilities else []),
                *(_reason_values(one, single=model.single) if explain else []),
            ]

    def view() -> RenderableType:
        return _prediction_table(model, items, places, identity, explain=explain, whole=whole, shown=shown)

    return Sheet(names, rows(), view, lambda: (_join_labels(one) for one in items))


def _place_name(name: str, identity: str | None) -> str:
    return f"input_{name}" if name == identity else name


def _list_probabilities(one: Prediction) -> list[float]:
    return [] if one.probabilities is None else [round(float(p), 6) for p in one.probabilities]


def _label_probability(model: Model, one: Prediction) -> Any:
    """Return the probability of the label (of the most probable class, if it is not given), or of each label."""
    p = one.probabilities
    assert p is not None  # noqa: S101 - the model has them
    if model.single:
        return round(float(max(p) if one.label is None else p[model.classes.index(one.label)]), 6)
    return [round(float(p[model.classes.index(name)]), 6) for name in one.label]


def _note(one: Prediction) -> str:
    """Say what a label alone does not tell."""
    notes = [] if one.known else [NO_TERMS]
    return "; ".join([*notes, NOT_SURE] if one.label is None else notes)


def _reason_values(one: Prediction, *, single: bool) -> list[Any]:
    parts = {why.label: [[part.term, round(part.part, 6)] for part in why.parts] for why in one.explanations}
    against = [why.against for why in one.explanations]
    if single:
        return [against[0] if against else None, parts.get(one.label)]
    return [None, parts]


def _prediction_table(
    model: Model, items: Iterator[Prediction], places: Sequence[str], identity: str | None, *,
    explain: bool, whole: bool, shown: int | None,
) -> RenderableType:  # fmt: skip
    table = make_bare_table()
    numbers = [name for name in places if name != "file"]
    head = identity or (numbers[0] if len(places) == 1 and numbers else "")
    table.add_column(head, justify="right", style="dim", no_wrap=True, max_width=40)
    table.add_column("label", no_wrap=True, max_width=30)
    if model.has_probabilities:
        table.add_column("", justify="right", no_wrap=True, max_width=16)
    table.add_column("because" if explain else "text")
    for one in islice(items, shown):
        chances = [_format_probability(model, one)] if model.has_probabilities else []
        name = _format_place(one, places) if identity is None else str(one.identity)
        last = _format_reasons(one) if explain else _format_text(one)
        table.add_row(make_cell(name), make_cell(_label_text(one), "bold"), *chances, last)
        if explain:
            table.add_row("", "", *([""] * len(chances)), _excerpt(one))
    more = next(items, None) is not None
    if more and whole:
        for _ in items:
            pass
    return Group(table, Text("... and more: -o labels.csv, or a pipe, has them all", style="dim")) if more else table


def _excerpt(one: Prediction) -> Text:
    return make_cell(" ".join(one.text[:EXCERPT_LENGTH].split()), "dim")


def _format_text(one: Prediction) -> Text:
    return _excerpt(one) if one.known else Text(f"({NO_TERMS}) ", style="yellow").append_text(_excerpt(one))


def _format_place(one: Prediction, places: Sequence[str]) -> str:
    """Format the place of a document: its number, after the name of the file where there are several."""
    return ":".join(str(one.place[name]) for name in places if one.place[name] is not None)


def _label_text(one: Prediction) -> str:
    return _join_labels(one) or (f"({NOT_SURE})" if one.label is None else "(none)")


def _join_labels(one: Prediction) -> str:
    """Return the labels of a document as one line."""
    return one.label if isinstance(one.label, str) else ", ".join(one.label or ())


def _format_probability(model: Model, one: Prediction) -> str:
    chance = _label_probability(model, one)
    return ", ".join(f"{p:.2f}" for p in (chance if isinstance(chance, list) else [chance]))


def _format_reasons(one: Prediction) -> Text:
    """Format the terms: green for the label, red against it; and what else decided, where it was not the terms."""
    line = Text(no_wrap=True, overflow="ellipsis")
    if not one.known:
        return line.append(NO_TERMS, style="yellow")
    for why in one.explanations:
        if len(one.explanations) > 1:
            line.append_text(make_cell(f"{why.label}: ", "bold"))
        for part in why.parts:
            line.append_text(make_cell(part.term)).append(
                f" {part.part:+.2f}  ", style="green" if part.part > 0 else "red"
            )
        if why.margin > 0 >= why.margin - why.rest:
            line.append(f"without terms {why.rest:+.2f}  ", style="yellow")
    return line
