"""The command line: one file for each command, which calls the library."""

from ohr.cli.app import main

__all__ = ["main"]
