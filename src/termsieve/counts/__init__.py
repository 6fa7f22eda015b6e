"""Documents come in; `Counts` go out: how often each term stands in each class, exact and mergeable.

::

    counts          Counts: what is in them, and views of them
    counts_views    how they print themselves
    reduction       fewer terms, fewer classes
    arithmetic      sums and differences
    counting        count() and count_folds(): one pass over the documents, on several threads
    folds           Folds: which fold a document is in, and counts of each fold and of all others
    tally           what one thread has counted, by numba loops
    cell_lists      cells as a tally keeps them, column by column, and how they are arranged by term
    plain_tally     the same in plain Python, for small inputs
    cells           counts by term and class, without the zeros
    cell_kernels    numba loops of tallies and cells
    rows            documents x terms, from text
    plain_rows      the same in plain Python, for small inputs
    row_kernels     numba loops of rows
    labelled        documents x terms with labels and counts
    matrices        counts of the columns of a matrix
    tables          counts as one table, and from one
    forgetting      documents that are withdrawn: subtracted, with a receipt
    frequencies     published lists of word frequencies, as counts
    date_periods    the year, month or week of a date
    consistency     what counts of documents can be
    storage         the file: its format, and how it is written
    counts_reader   how it is read and checked
    counts_file     counts in a file that may be larger than memory
    merging         counts in files, added up block by block
    spilling        counting within a bound of memory
    manifest        the files that were counted, in the counts file
    updating        files that are new, added to a counts file
    parts           documents counted apart, by an engine's workers, and how the parts come together
"""
