"""The command line: one file a command, each a thin call of what the library offers."""

from ohr.cli.app import main

__all__ = ["main"]
