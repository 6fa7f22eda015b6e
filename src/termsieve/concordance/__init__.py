"""Documents and a term come in; its places in the texts go out, and the words that stand near it.

::

    lines       concordance(): each place of a term, with what stands before and after it
    folding     the text as words are found in it, and where its characters stand in the text itself
    collocates  collocates(): the words near a term, in each class
"""

from termsieve.concordance.collocates import Collocate, collocates
from termsieve.concordance.lines import ConcordanceLine, concordance

__all__ = ["Collocate", "ConcordanceLine", "collocates", "concordance"]
