"""What a command does not import: pandas, which pyarrow asks for with the first array and nothing here needs."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from types import FrameType
from typing import Any

_REFUSED_PACKAGE = "pandas"
_ON_BEHALF = ("importlib", "pyarrow")  # whose frames stand between the import and whoever asked
_DELIBERATE_MODULE = "termsieve.extras"  # imports what somebody has asked for


class _ImportGuard(MetaPathFinder):
    """Says that there is no pandas when pyarrow asks on behalf of termsieve; others, such as a tokenizer, get it.

    pyarrow is compiled: whoever called it is the next frame. (``sys.modules["pandas"] = None`` would break pyarrow.)
    """

    def find_spec(self, name: str, _: Any, __: Any = None) -> None:
        """Refuse the package, or leave it to the other finders."""
        if name == _REFUSED_PACKAGE and _is_termsieve(sys._getframe(1)):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _is_termsieve(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_ON_BEHALF):
        frame = frame.f_back
    asking = "" if frame is None else frame.f_globals.get("__name__", "")
    return asking.startswith("termsieve.") and asking != _DELIBERATE_MODULE


def leave_out_pandas() -> None:
    """Keep pandas out of this process as long as only pyarrow asks for it: importing it takes .3 seconds."""
    if not any(isinstance(finder, _ImportGuard) for finder in sys.meta_path):
        sys.meta_path.insert(0, _ImportGuard())
