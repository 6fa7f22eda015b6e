r"""Files, folders, frames and streams come in; labelled documents as Arrow record batches go out.

::

    reading        read(): from what a user names to Documents
    documents      Documents: the stream, and what a pass noticed
    columns        which columns hold the text and the labels: given, or detected by name
    sources        what a path, glob, list, frame, standard input, ... stands for
    formats        the kinds of files by their ending
    remote         files that are named by a URI
    partitions     folders of data files, whose names may hold columns
    separators     what separates the cells of CSV, as the content tells
    encodings      which encodings fit bytes that are not UTF-8
    text_files     plain text, a document for each line; files as classes
    csv_records    CSV as Python reads it, where Arrow cannot
    streams        bytes of a file: opened, decompressed, transcoded, cut into blocks of lines
    jsonlines      \
    delimited       \
    sheets           |
    arrowfiles       > one reader each: source -> chunks of columns
    memory           |
    relations       /
    folders        /
    batches        chunk -> batch: split, check, count what is bad
    labels         a column of labels of any type -> lists of strings
    label_spelling  a value of any type -> its one spelling
    string_columns  a column of any type -> strings
    utf8_kernels   numba loop: is it UTF-8?
    chunks         what readers hand over
    options        what read() was asked for

Text formats are read by Arrow, block by block. A block that Arrow refuses is read again in Python, which is
slower but names the line, accepts labels of mixed types, and can skip a row.
"""

from termsieve.documents.columns import AUTO, Detect
from termsieve.documents.documents import Documents
from termsieve.documents.labels import make_label_lists
from termsieve.documents.reading import read
from termsieve.documents.string_columns import TOKENS

__all__ = ["AUTO", "TOKENS", "Detect", "Documents", "make_label_lists", "read"]
