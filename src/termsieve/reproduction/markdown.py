"""Tables and lists in Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def format_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    r"""Format a table.

    >>> print(format_table(["a"], [["x|y"]]))
    | a |
    | --- |
    | x\|y |
    """

    def line(cells: Sequence[object]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(head), line(["---"] * len(head)), *(line(row) for row in rows)])


def format_bullets(items: Sequence[str]) -> str:
    """Format a list."""
    return "\n".join(f"- {item}" for item in items)
