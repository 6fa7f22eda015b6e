"""Defaults that several stages and the command line share. Nothing is imported here: help texts name them."""

DEFAULT_SCORE = "g_test"  # what ranks terms when nothing is said; the evidence is in docs/choosing.md
DEFAULT_LEVEL = 0.95  # of intervals
DEFAULT_MEASURE = "f1_macro"
CALIBRATION_FOLDS = 5  # of the documents, held out in turn
MAX_MODEL_BYTES = 1 << 30  # unpacked; a small file may unpack to more than any machine has
# of a model in few bytes
COMPACT_SCORE, COMPACT_CLASSIFIER, COMPACT_FOLDS = "chi2", "linear_svm", 5
TELLING_WORDS, TELLING_CLASSES = 6, 10  # of each class, and classes, that a first screen shows
DEFAULT_ENCODING, DEFAULT_ENCODING_ERRORS = "utf-8", "error"  # of text files
MULTIVERSE_CLASSIFIER = "multinomial_nb"  # one sweep for all numbers of terms
