r"""The name of a corpus comes in; its documents go out: found, or downloaded, verified and converted.

::

    catalogue      CORPORA: the record of each corpus
    records        the fields of a record
    locations      where converted corpora are: find() and load()
    preparation    get(): archives to the converted form
    downloads      downloads of archives, with their checksums
    archives       members of tar and zip files in memory, with limits
    demo           the corpus of the demo, from installed packages
    json_form      the one form: JSON lines, the same bytes each time
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
