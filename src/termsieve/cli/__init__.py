"""The commands, one module for each family of them; importing a module adds its commands."""

from termsieve.cli import catalogue, counting, demo
from termsieve.cli.app import app, main

__all__ = ["app", "catalogue", "counting", "demo", "main"]
