"""The five papers, reproduced: their protocols as data, and what comes out beside what is printed.

protocol -> setting -> study -> measured -> tables, claims -> run -> page.
"""
