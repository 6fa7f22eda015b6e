"""Known and predicted labels come in; measures, and tests of their differences, go out.

::

    measures       confusion, its measures, and agreement of rankings and selections
    reliability    Brier score, calibration error and reliability table of probabilities
    differences    the difference of two methods on the same splits, and how sure it is
    significance   tests of differences between methods
    list_stability  how much of a list of terms comes again in half-samples
    influence      which of several choices decides an outcome
"""
