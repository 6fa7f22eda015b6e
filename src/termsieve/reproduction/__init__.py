"""The protocols of five papers come in; their printed numbers and claims beside our results go out.

::

    protocol       a paper as data, read from its TOML file
    setting        one experiment: corpus, splits, scores and classifiers
    worlds         the choices that the paper leaves open, and the worlds that their readings make
    grids          the trials that all worlds need of a setting, each once
    bayes_worlds   these trials for naive Bayes, with shared counts, rankings and sums
    bayes_kernels  numba loops of them
    fitted_worlds  these trials for classifiers that are fitted again; samples of the test documents
    run            run a protocol, and return all results as plain data
    measurements   measures by the names that the paper prints
    tables         our number for each printed one
    contexts       the cases in which a claim is checked
    margins        what a check returns: by how much a claim is met
    curve_checks   claims about curves
    checks         claims about rankings, scores and time
    claims         verdicts on claims, by sampling error
    judging        claims in every world: shares, what decides, and luck
    beyond         what the papers announce or leave out
    figures        figures of the papers, redrawn, and specification curves
    show           a run on the terminal
    page           docs/reproduction.md
    technical_report    docs/technical_report.md
    lead           the table of all claims, worlds nearest to print, rewritten checks, cost: in both pages
    markdown       tables and lists of both
"""
