"""The array types of all stages, each defined once."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]
Int32Array: TypeAlias = npt.NDArray[np.int32]
UInt32Array: TypeAlias = npt.NDArray[np.uint32]
UInt64Array: TypeAlias = npt.NDArray[np.uint64]
UInt8Array: TypeAlias = npt.NDArray[np.uint8]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
StringArray: TypeAlias = npt.NDArray[np.object_]  # of str
IntegerArray: TypeAlias = npt.NDArray[np.integer]  # of whole numbers of any kind
AnyArray: TypeAlias = npt.NDArray[Any]
