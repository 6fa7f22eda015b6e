r"""The corpora of the papers: find, download, verify, convert.

::

    catalogue      CORPORA: all that is known about each corpus, once
    records        what a record holds
    places         where converted corpora are: find() and load()
    getting        get(): archives to the converted form
    downloads      archives from their homes, with their checksums
    archives       members of tar and zip files in memory, with limits
    converted      the one form: JSON lines, the same bytes each time
    classfolders   \
    reuters         \
    sms              > one converter for each layout: archives -> documents
    rcv1            /
    odp            /
"""

from termsieve.datasets.catalogue import CORPORA, lookup_dataset
from termsieve.datasets.locations import find, load, locate
from termsieve.datasets.preparation import get
from termsieve.datasets.records import Archive, Dataset

__all__ = ["CORPORA", "Archive", "Dataset", "find", "get", "load", "locate", "lookup_dataset"]
