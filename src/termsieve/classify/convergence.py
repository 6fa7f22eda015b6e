"""The warning of classifiers whose fit ends early."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

from termsieve.errors import TermsieveWarning


class NotConvergedWarning(ConvergenceWarning, TermsieveWarning):  # type: ignore[misc]  # scikit-learn has no types
    """A fit that ended before it converged: scikit-learn's warning, and one that commands show."""
