"""``python -m termsieve`` is the command ``termsieve``."""

from termsieve._entry import main

if __name__ == "__main__":
    main()
