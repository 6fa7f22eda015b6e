"""Scores and a rule come in; a `Selection` of terms goes out.

::

    selection   select(), and the chosen terms
    rules       the rules: how many terms, and which
    pool        the base class of rules, and the terms that they choose from
    stability   half-samples, and the rule that selects what comes again in them

    redundancy_rules    rules that look at terms together, in the documents
    greedy              what they choose by: CMIM, JMI, mRMR, FCBF
    problem             documents with one class each: what terms tell of it, and of each other
    problem_kernels     numba loops of it
    logarithms          information in whole numbers
    near_duplicates     terms that others make superfluous; groups of terms
"""
