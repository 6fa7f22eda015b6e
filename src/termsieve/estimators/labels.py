"""What scikit-learn users give for y, as labels; and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse
from sklearn.utils import check_array, column_or_1d

from termsieve._types import AnyArray
from termsieve.counts.counts import Counts
from termsieve.counts.matrices import make_label_matrix
from termsieve.errors import InputError

_COLLECTIONS = (list, tuple, set, frozenset, np.ndarray)


def check_labels(y: Any, owner: str) -> Any:
    """Return one label per document, an indicator matrix or a list of label sets, as `Counts` takes them."""
    if y is None:
        raise InputError(
            f"{owner} requires y to be passed, but the target y is None: a score needs the classes of the documents."
        )
    if sparse.issparse(y) or isinstance(y, pa.ChunkedArray) or _is_label_sets(y):
        return y
    array: AnyArray = np.asarray(y)
    if array.dtype == object and array.ndim == 1 and _is_label_sets(array.tolist()):
        return array.tolist()
    if array.ndim == 2 and array.shape[1] != 1:
        return check_array(array, dtype=None, input_name="y")
    array = column_or_1d(array, warn=True)
    if array.dtype.kind in "fc" and array.size:
        check_array(array, ensure_2d=False, input_name="y")
    return array


def _is_label_sets(y: Any) -> bool:
    return isinstance(y, list | tuple) and any(isinstance(one, _COLLECTIONS) for one in y)


def make_indicator(y: Any, n_docs: int, owner: str) -> tuple[sparse.csc_array, list[str]]:
    """Return documents x classes with 1 for each label, and the classes."""
    labels, classes = make_label_matrix(check_labels(y, owner), None, n_docs)
    return sparse.csc_array(labels), classes


def refuse_empty_classes(y: Any) -> None:
    """Refuse an indicator matrix with a class of no document."""
    given: Any = y
    if sparse.issparse(y) or (isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] > 1):
        sizes = np.asarray(given.sum(axis=0)).ravel()
        if not sizes.all():
            raise InputError(
                f"y: class {int(np.flatnonzero(sizes == 0)[0])} has no document. Leave its column out, "
                "or feed the documents with partial_fit."
            )


def has_contrast(counts: Counts) -> bool:
    """Tell whether there is something to tell apart: some documents that are not in the one class."""
    return counts.n_classes > 1 or bool((counts.class_sizes < counts.n_docs).any())


def refuse_one_class(counts: Counts) -> None:
    """Refuse counts without documents inside and outside of a class, which a score needs."""
    if not has_contrast(counts):
        found: Sequence[str] = counts.classes.tolist()
        raise InputError(
            f"y has only one class ({', '.join(map(repr, found)) or 'none'}) for {counts.n_docs:,} documents: there is "
            "nothing to tell apart. Give documents of at least two classes."
        )
