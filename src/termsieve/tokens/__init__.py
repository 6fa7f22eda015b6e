"""Text comes in; numbered terms go out.

::

    analyzer           Analyzer: the definition of terms, in plain Python
    patterns           token patterns: runs of characters, and which patterns are trusted
    tokenizers         tokenizers by name, and which names are trusted
    resources          stop words, stemmers and segmenters by name
    markup             what is stripped before
    boundaries         text without spaces, and what to do about it
    vocabulary         terms numbered in the order in which they are met
    characters         what each character is to the scanner: tables
    kernels            numba loops: text to term numbers
    spelling_kernels   numba loops: term numbers to text
    strings            Arrow's strings as NumPy arrays, sorted and joined
    string_kernels     numba loops of strings
"""
