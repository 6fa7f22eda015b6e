"""Counts of several periods come in; the terms that rose and fell go out, with how sure that is.

::

    joining        counts of periods as one Counts whose classes are the periods
    period_terms   what comparisons of two periods and of more have in common
    proportions    shares of documents: differences, ratios and trends, with their intervals
    decomposition  the part of a change that is only a change in the mix of the classes
    differences    changes(), and what changed between two periods
    trends         what changed over more than two
    trend_test     could a trend be chance? exact for rare terms
    reference      keywords(): what a text has more often than a reference corpus
    sources        which terms of a ranking depend on one source
"""

from termsieve.periods.differences import Changes, changes
from termsieve.periods.reference import Keyword, keywords
from termsieve.periods.sources import SourceDependence, depend_on_source
from termsieve.periods.trends import Trends

__all__ = ["Changes", "Keyword", "SourceDependence", "Trends", "changes", "depend_on_source", "keywords"]
