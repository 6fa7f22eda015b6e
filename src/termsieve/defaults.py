"""Defaults that several stages and the command line share. Nothing is imported here: help texts name them."""

DEFAULT_SCORE = "g_test"  # what ranks terms when nothing is said; the evidence is in docs/choosing.md
