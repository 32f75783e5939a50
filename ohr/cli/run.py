"""`ohr run`: run a study."""

from ohr.cli.display.finished import carry_out
from ohr.cli.options import RunChoices, command_of


@command_of(RunChoices)
def run(choices: RunChoices) -> None:
    """Run a study; results in the store are reused."""
    carry_out(choices.read(), choices)
