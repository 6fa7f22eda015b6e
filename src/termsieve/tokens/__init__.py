"""Text comes in; numbered terms go out.

::

    analyzer         Analyzer: the definition of terms, in plain Python
    resources        stop words, stemmers, segmenters and tokenizers by name
    markup           what is stripped before
    boundaries       text without spaces, and what to do about it
    vocabulary       terms numbered in the order in which they are met
    characters       what each character is to the scanner: tables
    kernels          numba loops: text to term numbers, and back
    strings          Arrow's strings as NumPy arrays, sorted and joined
    string_kernels   numba loops of strings
"""
