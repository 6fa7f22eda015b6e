"""The corpora at hand come in; which score to take, and how sure that is, goes out.

::

    protocol     what is compared, as data
    problems     corpora -> classification problems
    contenders   scores and rules -> rankings of the terms of a problem
    run          all problems, contenders and classifiers; a journal for each corpus
    results      what is kept of a run, as JSON
    evidence     mean ranks, regret with confidence intervals, agreement, the recommendation
    forman       what Forman (2003) found, checked here
    charts       figures as SVG
    page         the results as a page of the documentation
"""
