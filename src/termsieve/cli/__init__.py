"""The commands, one module for each family of them; importing a module adds its commands."""

from termsieve.cli import catalogue, comparing, counting, datasets, demo, modelling, ranking, reproduce
from termsieve.cli.app import app, main, run

__all__ = [
    "app",
    "catalogue",
    "comparing",
    "counting",
    "datasets",
    "demo",
    "main",
    "modelling",
    "ranking",
    "reproduce",
    "run",
]
