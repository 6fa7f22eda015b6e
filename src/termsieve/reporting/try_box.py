"""The box of a report in which a text is labelled, by the recommended model."""

from __future__ import annotations

from typing import NamedTuple

from termsieve.errors import OptionError
from termsieve.model.exporting import to_portable
from termsieve.model.exporting.forms import make_box_script
from termsieve.model.model import Model

MAX_WEIGHTS = 300_000  # numbers: with more, the page would be more model than report


class TryBox(NamedTuple):
    """The script of the box, and what is said of its model; without a script, why there is none."""

    script: str
    note: str


def make_try_box(model: Model) -> TryBox:
    """Return the box of a model, or the reason why a page cannot have it."""
    try:
        data = to_portable(model)
    except OptionError as error:
        return TryBox("", str(error))
    n = len(data["terms"]) * len(data["weights"])
    if n > MAX_WEIGHTS:
        return TryBox("", f"The model has {n:,} weights, too many for this page: termsieve export writes it as a file.")
    return TryBox(
        make_box_script(data),
        f"{model!r}. Nothing that you type leaves this page. Marked words support the answer; underlined "
        "ones contradict it.",
    )
