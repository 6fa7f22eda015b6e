"""Bags and frames of Dask -> `Counts`, counted on its workers, partition by partition, and added up there as a tree.

>>> import dask.bag, termsieve.dask
>>> mail = dask.bag.from_sequence([{"text": "cheap pills", "label": "spam"}, {"text": "noon", "label": "ham"}])
>>> termsieve.dask.count(mail).n_docs
2
"""

from termsieve.dask.counting import count

__all__ = ["count"]
