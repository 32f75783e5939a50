"""Commands that are imported when they are typed: `ohr --help` needs none of them, and `ohr check` only one."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_group


class Later(TyperCommand):
    """A command of which only the name and the short help are known until it is typed.

    Args:
        name: as it is typed; the module of `ohr.cli` with this name has it, as its `app` or as a function.
        help: the first sentence of its help, or all of it where it has only one.
    """

    def __init__(self, name: str, help: str) -> None:
        super().__init__(name, help=help, rich_markup_mode=None)
        self._place = name.replace("-", "_")

    def load(self) -> Any:
        """Import the command, or the group of commands."""
        module = import_module(f"ohr.cli.{self._place}")
        holder = typer.Typer(rich_markup_mode=None)
        if hasattr(module, "app"):
            holder.add_typer(module.app, name=self.name)
        else:
            holder.command()(getattr(module, self._place))
        return get_group(holder).commands[str(self.name)]

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Read the words of the command, which becomes the command of the context in place of this one."""
        return self.load().make_context(*args, **options)
