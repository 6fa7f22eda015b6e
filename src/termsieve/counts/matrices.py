"""Counts of the columns of a matrix: documents x terms and labels to what `Counts` are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from termsieve._types import AnyArray, Array
from termsieve.counts.cells import Cells, TermBlock
from termsieve.documents import make_label_lists
from termsieve.documents.chunks import Column
from termsieve.documents.memory import as_sliceable, slice_column
from termsieve.errors import InputError, OptionError
from termsieve.tokens.strings import check_distinct


def check_matrix(X: Any) -> sparse.csr_array:
    """Return a matrix of finite, non-negative numbers, as CSR; whole numbers as int64."""
    if not sparse.issparse(X):
        try:
            X = np.asarray(X)
        except ValueError as error:  # rows of different lengths
            raise InputError(f"X must be a matrix of numbers, documents x terms: {error}") from error
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise InputError(f"X must be a matrix of numbers, documents x terms, not {_describe_array(X)}.")
    X = _use_known_type(X)
    matrix = sparse.csr_array(X, copy=False)
    if not matrix.has_sorted_indices:
        matrix = matrix.tocsc().tocsr()  # sorts, and is quicker than sorting
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    bad = ~np.isfinite(matrix.data) | (matrix.data < 0)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        raise InputError(
            f"X must hold finite numbers that are not negative: row {row}, column {matrix.indices[at]} "
            f"is {matrix.data[at]}."
        )
    real = matrix.data.astype(np.float64)
    whole = matrix.dtype.kind != "f" or (bool((real == np.floor(real)).all()) and real.max(initial=0) < 2**53)
    limit = 2.0**31.5 if whole else 2.0**511.5
    # the first says no for nearly all matrices, at once
    if real.max(initial=0) * np.sqrt(real.size) >= limit and _norm(real) >= limit:
        raise InputError(f"X holds numbers up to {matrix.data.max()}: the sum of their squares is beyond 64 bits.")
    return matrix.astype(np.int64 if whole else np.float64)


def _use_known_type(X: Any) -> Any:
    """Return a matrix of numbers in a type that scipy knows, and in which what stands twice adds up exactly."""
    if X.dtype in (np.float16, np.longdouble):
        return X.astype(np.float64)
    if not X.dtype.isnative:
        return X.astype(X.dtype.newbyteorder("="))
    is_narrow = X.dtype.kind in "iuf" and X.dtype.itemsize < np.dtype(np.int64).itemsize
    if is_narrow and not getattr(X, "has_canonical_format", True):
        return X.astype(np.float64 if X.dtype.kind == "f" else np.int64)
    return X


def _norm(values: Array) -> float:
    """Return the root of the sum of squares, scaled so that no square is beyond a float."""
    largest = float(values.max(initial=0))
    return largest * float(np.sqrt(np.square(values / largest).sum())) if largest else 0.0


def _describe_array(X: AnyArray) -> str:
    return f"an array of {X.ndim} dimension{'s' * (X.ndim != 1)} and type {X.dtype}"


def make_label_matrix(y: Any, classes: Sequence[str] | None, n_docs: int) -> tuple[sparse.csr_array, list[str]]:
    """Return documents x classes with 1 for each label, and the sorted classes; those of no document are left out."""
    if hasattr(y, "columns") and hasattr(y, "to_numpy"):  # a frame
        y, classes = y.to_numpy(), list(y.columns) if classes is None else classes
    if sparse.issparse(y) or (isinstance(y, np.ndarray) and y.ndim == 2 and (y.shape[1] != 1 or classes is not None)):
        indicator, names = _check_indicator(y, classes)
    else:
        if classes is not None:
            raise OptionError("classes names the columns of an indicator matrix, but y is a list of labels.")
        indicator, names = _labels_to_indicator(y)
    if indicator.shape[0] != n_docs:
        raise InputError(f"X has {n_docs:,} rows, but y has {indicator.shape[0]:,}.")
    sizes = indicator.sum(axis=0)
    order = [i for i in sorted(range(len(names)), key=names.__getitem__) if sizes[i]]
    return indicator[:, order], [names[i] for i in order]


def _check_indicator(y: Any, classes: Sequence[str] | None) -> tuple[sparse.csr_array, list[str]]:
    if y.dtype.kind not in "biuf":
        raise InputError(f"y, an indicator matrix, must hold 0 and 1 only, not {_describe_array(y)}.")
    indicator = sparse.csr_array(_use_known_type(y))
    indicator.sum_duplicates()
    indicator.eliminate_zeros()
    wrong = indicator.data[indicator.data != 1]
    if len(wrong):
        raise InputError(f"y, an indicator matrix, must hold 0 and 1 only, not {wrong[0]}.")
    indicator = indicator.astype(np.int64)
    names = [str(name) for name in (range(indicator.shape[1]) if classes is None else classes)]
    if len(names) != indicator.shape[1] or len(set(names)) != len(names):
        raise OptionError(f"classes must be {indicator.shape[1]} distinct names, one per column of y, not {names!r}.")
    return indicator, names


def _labels_to_indicator(y: Any) -> tuple[sparse.csr_array, list[str]]:
    if isinstance(y, str) or not hasattr(y, "__len__"):
        raise InputError(f"y must have a label, or several, for each row of X; it is {y!r:.60}.")
    faults: dict[int, str] = {}
    lists = make_label_lists(_as_column(y), None, "y", faults)
    if faults:
        first = min(faults)
        raise InputError(f"y, entry {first}: {faults[first]}.")
    encoded = lists.flatten().dictionary_encode()
    columns = encoded.indices.to_numpy(zero_copy_only=False)
    names = encoded.dictionary.to_pylist()
    shape = (len(lists), len(names))
    return sparse.csr_array((np.ones(len(columns), np.int64), columns, lists.offsets.to_numpy()), shape=shape), names


def _as_column(y: Any) -> Column:
    """Return labels as the column that they are among documents: so a label has the same spelling here and there."""
    column = as_sliceable(y.ravel() if isinstance(y, np.ndarray) else y, "y")
    return slice_column(column, 0, len(column))


def count_matrix(
    X: Any, y: Any, terms: Iterable[str] | None, classes: Sequence[str] | None
) -> tuple[dict[str, Any], TermBlock]:
    """Return what is known of the documents of a matrix, and its columns with their counts."""
    matrix = check_matrix(X)
    labels, names = make_label_matrix(y, classes, matrix.shape[0])
    squares, present = matrix.copy(), matrix.copy()
    squares.data = np.square(matrix.data)
    present.data = (matrix.data > 0).astype(matrix.dtype)
    powers = (present, matrix, squares)
    by_class = sparse.csr_array(labels.T.astype(matrix.dtype))
    cells = [sparse.csc_array(by_class @ power) for power in powers]
    for cell in cells:
        cell.sort_indices()
    totals = np.stack([np.asarray(power.sum(axis=0)).ravel() for power in powers])
    facts = {
        "classes": names,
        "n_docs": matrix.shape[0],
        "class_sizes": np.asarray(labels.sum(axis=0)).ravel().astype(np.int64),
        "n_multilabel": int((np.diff(labels.indptr) > 1).sum()),
        "fixed": True,
    }
    return facts, TermBlock(_make_column_names(terms, matrix.shape[1]), _align_cells(cells), totals)


def sum_rows(X: sparse.csr_array, weights: sparse.csr_array) -> Cells:
    """Sum the rows of a matrix, weighted: a class for each row of `weights`, whose numbers may be negative."""
    present, squares = X.copy(), X.copy()
    present.data, squares.data = np.ones_like(X.data), np.square(X.data)
    pairs = ((abs(weights), present), (weights, present), (weights, X), (weights, squares))
    places, *sums = [sparse.csc_array(one @ power) for one, power in pairs]  # where no sign counts, no sum is zero
    for one in (places, *sums):
        one.sort_indices()
    values = np.stack([_take_values(one, places) for one in sums])
    return Cells(places.indptr.astype(np.int64), places.indices.astype(np.int32), values)


def _align_cells(cells: list[sparse.csc_array]) -> Cells:
    """Give the three one structure: that of the documents, which has no explicit zeros."""
    documents, *others = cells
    documents.eliminate_zeros()
    values = [documents.data, *(_take_values(other, documents) for other in others)]
    return Cells(documents.indptr.astype(np.int64), documents.indices.astype(np.int32), np.stack(values))


def _take_values(matrix: sparse.csc_array, places: sparse.csc_array) -> AnyArray:
    """Return the entries of a matrix at the places of another."""
    width = max(matrix.shape[0], 1)
    keys, wanted = (np.repeat(np.arange(m.shape[1]) * width, np.diff(m.indptr)) + m.indices for m in (matrix, places))
    at = np.searchsorted(keys, wanted)
    found = np.append(keys, -1)[at] == wanted  # a square too small for a float has left no entry
    return np.where(found, np.append(matrix.data, 0)[at], 0).astype(matrix.dtype)


def _make_column_names(terms: Iterable[str] | None, n: int) -> pa.LargeStringArray:
    if terms is None:  # so many digits that the order of the names is that of the columns
        return _number_columns(n, len(str(max(n - 1, 0))))
    names = check_distinct("terms", terms)
    if len(names) != n:
        raise OptionError(f"terms has {len(names):,} names, but X has {n:,} columns.")
    return names


def _number_columns(n: int, digits: int) -> pa.LargeStringArray:
    """Return names such as x007, written digit by digit for all columns: a comparison makes many such counts."""
    letters = np.full((n, digits + 1), ord("x"), np.uint8)
    rest = np.arange(n)
    for place in range(digits, 0, -1):
        rest, digit = np.divmod(rest, 10)
        letters[:, place] = digit + ord("0")
    ends = np.arange(n + 1) * (digits + 1)
    return pa.LargeStringArray.from_buffers(n, pa.py_buffer(ends), pa.py_buffer(letters))
