"""The protocols of five papers come in; their printed numbers and claims beside our results go out.

::

    protocol       a paper as data, read from its TOML file
    setting        one experiment: corpus, splits, scores and classifiers
    run            run a protocol, and return all results as plain data
    measurements   measures by the names that the paper prints
    tables         our number for each printed one
    contexts       the cases in which a claim is checked
    checks         the kinds of claims
    claims         verdicts on claims
    choices        the effects of choices that the paper leaves open
    figures        figures of the papers, redrawn
    show           a run on the terminal
    page           docs/reproduction.md
"""
