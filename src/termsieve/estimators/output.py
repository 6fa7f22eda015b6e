"""What a vectorizer hands over: a sparse matrix, or the frame that `set_output` asks for."""

from __future__ import annotations

import importlib
from typing import Any

from scipy import sparse

from termsieve._types import StringArray
from termsieve.errors import InputError, OptionError
from termsieve.extras import import_extra

CONTAINERS = ("default", "pandas", "polars")
MAX_FRAME_BYTES = 1 << 30


def check_container(name: Any) -> str:
    """Return the name of a container, if it is one."""
    if name not in CONTAINERS:
        known = " or ".join([", ".join(map(repr, CONTAINERS[:-1])), repr(CONTAINERS[-1])])
        raise OptionError(f"set_output: transform must be {known}, not {name!r}.")
    return str(name)


def make_frame(X: sparse.csr_array, names: StringArray, documents: Any, library: str) -> Any:
    """Return a dense frame with a column for each term; in pandas with the index of the documents, if they have one."""
    n_docs, n_terms = X.shape
    size = n_docs * n_terms * X.dtype.itemsize
    if size > MAX_FRAME_BYTES:
        raise InputError(
            f"set_output(transform={library!r}): a frame of {n_docs:,} documents and {n_terms:,} terms would be "
            f"{size / 1e9:,.1f} GB, mostly zeros; the limit is {MAX_FRAME_BYTES / 1e9:.1f} GB. Select fewer terms with "
            "score_func and k, or keep the sparse matrix: set_output(transform='default')."
        )
    if library == "pandas":
        pandas = import_extra("pandas", "set_output(transform='pandas')")
        index = documents.index if isinstance(documents, pandas.Series) else None
        return pandas.DataFrame(X.toarray(), index=index, columns=names)
    polars = importlib.import_module("polars")
    return polars.DataFrame(X.toarray(), schema=names.tolist(), orient="row")
