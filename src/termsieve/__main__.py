"""``python -m termsieve`` is the command ``termsieve``."""

import os
import sys


def _forget_current_folder() -> None:
    """Look for no modules in the current folder, where the files of anybody may be.

    `python -m` looks there first: a Stemmer.py beside a model that has a stemmer would be run. The command `termsieve`
    does not look there, either.
    """
    if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):  # noqa: PTH109 - before other imports
        del sys.path[0]


if __name__ == "__main__":
    _forget_current_folder()

    from termsieve._entry import main

    main()
