"""``python -m termsieve`` is the command ``termsieve``."""

from termsieve.cli import main

if __name__ == "__main__":
    main()
