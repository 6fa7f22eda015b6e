"""Command-line arguments come in; printed results and written files go out.

Commands, one module for each family (importing it adds its commands)::

    ranking        rank, select
    comparing      compare, report
    varying        multiverse
    modelling      train, predict
    exporting      export
    compressing    compress
    counting       count, merge
    changing       changes, sources, forget
    searching      kwic
    keywords       keywords
    catalogue      scores
    datasets       datasets, datasets get
    demo           demo
    reproduce      reproduce
    studying       study

What they share::

    app            the application, and its errors
    option_groups  groups of options as parameters of a command
    inputs         options for files, columns and terms
    plan_options   options generated from the parameters of a plan
    output         options for the output; sheets of rows in all formats
    reading        file arguments -> documents and counts
    messages       notes, warnings and progress on standard error
    completion     names for the shell
    agreement      predictions beside known labels
    imports        what a command does not import
    memory_limit   what a command does where memory is limited
    screen         numbers, bars and cells of tables
    rank_views, compare_views, model_views, change_views, demo_views    tables
"""

from termsieve.cli import (
    catalogue,
    changing,
    comparing,
    compressing,
    counting,
    datasets,
    demo,
    exporting,
    keywords,
    modelling,
    ranking,
    reproduce,
    searching,
    studying,
    varying,
)
from termsieve.cli.app import app, main, run

__all__ = [
    "app",
    "catalogue",
    "changing",
    "comparing",
    "compressing",
    "counting",
    "datasets",
    "demo",
    "exporting",
    "keywords",
    "main",
    "modelling",
    "ranking",
    "reproduce",
    "run",
    "searching",
    "studying",
    "varying",
]
