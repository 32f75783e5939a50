"""`ohr noise`: everything about noise outside a run."""

import typer

from ohr.cli.noise_apply import apply
from ohr.cli.noise_calibrate import calibrate
from ohr.cli.noise_fit import fit
from ohr.cli.noise_preview import preview
from ohr.cli.noise_stats import stats
from ohr.cli.noise_validate import validate

app = typer.Typer(no_args_is_help=True, help="Make noise, and measure it.", rich_markup_mode=None)
for command in (preview, apply, calibrate, stats, fit, validate):
    app.command()(command)
