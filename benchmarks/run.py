"""All benchmarks, or those that are named: ``python benchmarks/run.py counting scores``."""

from __future__ import annotations

import importlib
import sys

BENCHMARKS = ("first_minute", "counting", "scores", "estimators", "curves", "redundancy", "study")


def main() -> None:
    for name in sys.argv[1:] or BENCHMARKS:
        importlib.import_module(name).main()


if __name__ == "__main__":
    main()
