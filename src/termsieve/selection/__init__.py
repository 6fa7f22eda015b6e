"""Scores and a rule come in; a `Selection` of terms goes out.

::

    selection   select(), and the chosen terms
    rules       the rules: how many terms, and which
    pool        the base class of rules, and the terms that they choose from
    stability   half-samples, and the rule that selects what comes again in them
"""
