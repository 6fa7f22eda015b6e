"""Tables for other libraries: one Arrow table, which frames, databases and notebooks take as it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from termsieve.extras import import_extra

if TYPE_CHECKING:
    import pandas as pd


class ArrowTable(ABC):
    """A base class for tables: ``polars.DataFrame(it)``, ``duckdb.sql("from it")`` and ``pyarrow.table(it)`` work.

    A class has `to_arrow`; the rest follows from it.
    """

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Return the table."""

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a data frame of pandas."""
        import_extra("pandas", f"{type(self).__name__}.to_pandas()")
        return self.to_arrow().to_pandas()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)
