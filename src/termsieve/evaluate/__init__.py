"""Known and predicted labels come in; measures, and tests of their differences, go out.

::

    measures       confusion, and its measures
    agreement      what rankings and selections have in common
    reliability    Brier score, calibration error and reliability table of probabilities
    differences    means over splits with their interval; the difference of two methods, and how sure it is
    significance   tests of differences between methods
    list_stability  how much of a list of terms comes again in half-samples
    influence      which of several choices decides an outcome
"""
