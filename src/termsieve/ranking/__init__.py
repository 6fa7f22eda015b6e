"""Counts and a score come in; an order of the terms goes out: classes aggregated, ties decided; and how sure it is.

::

    distinct      the different columns and cells of counts: each is scored once
    aggregate     from one value per class and term to one per term
    *_kernels     numba loops of both
    ranking       score(): what scores are called with
    score_values  Scores: the values of a score on counts, and the order of the terms
    ranking_rows  Ranking: the best terms, as a table
    finalists     the best terms of counts in a file, read a block at a time
    limits        how far the documents of one class may be from the truth
    intervals     how far a score may be from it
    permutation   how often a score would be as large by chance
    certainty     these, beside the terms of a ranking; dispersion
    dense         some terms with all classes, for tables that no documents gave
"""
