"""Fewer terms, fewer classes: which terms `Counts.prune` keeps, and which classes `Counts.merge_classes` makes one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from termsieve._types import BoolArray
from termsieve.errors import CountsError, OptionError, did_you_mean
from termsieve.tokens.strings import make_names

if TYPE_CHECKING:
    from termsieve.counts.counts import Counts

_NO_LIMIT = {"min_df": "1", "max_df": "1.0"}  # as they are written: 1 document is not all of them
_MOST_LISTED = 20


def find_kept_terms(
    counts: Counts, limits: Mapping[str, float | None], keep: Collection[str] | None, drop: Collection[str] | None
) -> BoolArray:
    """Tell which terms are within the limits (min_df, max_df, min_tf, max_tf), and named where terms are named."""
    kept = np.ones(counts.n_terms, np.bool_)
    for name, limit in limits.items():
        side, kind = name.split("_")
        if limit is None and kind == "tf":
            continue
        values, whole = (counts.totals[0], counts.n_docs) if kind == "df" else (counts.totals[1], counts.n_occurrences)
        resolved = _resolve_limit(name, limit, whole)
        kept &= values >= resolved if side == "min" else values <= resolved
    if keep is not None:
        kept &= _match_terms(counts, "keep", keep)
    if drop is not None:
        kept &= ~_match_terms(counts, "drop", drop)
    return kept


def describe_pruning(
    limits: Mapping[str, float | None], keep: Collection[str] | None, drop: Collection[str] | None
) -> str:
    """Say what was asked for; nothing for limits that leave nothing out."""
    said = [f"{name}={value}" for name, value in limits.items() if repr(value) != _NO_LIMIT.get(name, "None")]
    said += [f"{name}={len(names)} terms" for name, names in (("keep", keep), ("drop", drop)) if names is not None]
    return ", ".join(said)


def _resolve_limit(name: str, value: object, whole: float) -> float:
    """Return a limit in documents or occurrences, from a whole number or a share."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not 0 <= value < float("inf"):  # type: ignore[operator]
        raise OptionError(f"prune: {name} must be a whole number or a share from 0.0 to 1.0, not {value!r}.")
    if isinstance(value, int | np.integer):
        return int(value)
    share = float(value)  # type: ignore[arg-type]
    if share > 1:
        raise OptionError(f"prune: {name}={value!r} is more than all; for {share:g} of them write {name}={int(share)}.")
    return share * whole


def _match_terms(counts: Counts, option: str, names: Collection[str]) -> BoolArray:
    if isinstance(names, str):
        raise OptionError(f"prune: {option} must be a collection of terms, not the single string {names!r}.")
    if not hasattr(names, "__len__"):
        raise OptionError(f"prune: {option} must be a collection of terms, such as a list, not {names!r:.60}.")
    wanted = make_names(f"prune: {option}", names)
    return np.asarray(pc.is_in(counts.term_array, value_set=wanted).to_numpy(zero_copy_only=False), np.bool_)


def rename_classes(groups: Mapping[str, Collection[str]], classes: list[str]) -> list[str]:
    """Return the new name of each class, that of its group or its own."""
    new: dict[str, str] = {}
    known = set(classes)
    if not isinstance(groups, Mapping):
        raise OptionError(f"merge_classes: give a mapping of new names to lists of classes, not {groups!r:.60}.")
    for group, members in groups.items():
        if not isinstance(group, str) or not isinstance(members, Collection):
            raise OptionError(
                f"merge_classes: a group is a name and a list of classes, not {group!r}: {members!r:.60}."
            )
        for member in [members] if isinstance(members, str) else members:
            if member not in known:
                listed = ", ".join(map(repr, classes[:_MOST_LISTED]))
                raise CountsError(f"There is no class {member!r}. {did_you_mean(member, classes)}Classes: {listed}.")
            if new.setdefault(member, group) != group:
                raise CountsError(f"The class {member!r} stands in two groups, {new[member]!r} and {group!r}.")
    for group in groups:
        if group in known and group not in new:
            raise CountsError(f"The group {group!r} has the name of a class that is not in it. Choose another name.")
    return [new.get(name, name) for name in classes]
