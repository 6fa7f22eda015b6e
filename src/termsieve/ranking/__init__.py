"""From scores of cells to an order of the terms: aggregated over the classes, ties decided; and how sure it is.

::

    distinct      the different columns and cells of counts: each is scored once
    aggregate     from one value per class and term to one per term
    ranking       Scores and Ranking
    limits        how far the documents of one class may be from the truth
    intervals     how far a score may be from it
    permutation   how often a score would be as large by chance
    certainty     these, beside the terms of a ranking; dispersion
    dense         some terms with all classes, for tables that no documents gave
"""
