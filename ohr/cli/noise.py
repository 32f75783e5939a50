"""`ohr noise`: everything about noise outside a run."""

import typer

from ohr.cli.noise_apply import apply

app = typer.Typer(no_args_is_help=True, help="Make noise, and measure it.", rich_markup_mode=None)
app.command()(apply)
