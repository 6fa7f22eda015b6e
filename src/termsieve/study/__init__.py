"""Labelled documents and a plan come in; a `Comparison` of scores, classifiers and numbers of terms goes out.

::

    study          compare(), and the trials of a study
    plan           every parameter of compare(), with its default and its command-line option
    corpus         the documents in memory, as matrices
    splits         training and test documents
    split_data     the counts, matrices and trials of one split
    journal        finished trials, in a file or in memory
    results        Comparison: the table of results, and its recommendation
    result_files   a Comparison as a file, and the checks of one that may be from anybody
    trials         everything that was tried: what is best, and what is enough
    recommendation how few terms are enough, compared with what, and how sure
    search         what the results suggest to try next
    representations pairs of words, or characters, where they may pay
    stable_terms   how many of the recommended terms would come again
    excerpts       short passages of the documents around the best terms
    multiverse     the same comparison in every way to prepare the texts
"""
