"""`ohr demo`: the packaged quickstart, offline."""

import os
from importlib.resources import as_file, files

from ohr.cli.display.finished import carry_out
from ohr.cli.options import RUNS, STORE, RunChoices, RunsFolder, StoreFolder, Workers


def demo(workers: Workers = None, store: StoreFolder = STORE, runs: RunsFolder = RUNS) -> None:
    """Run the packaged quickstart study, offline."""
    from ohr.errors import PluginError
    from ohr.runner.preflight import check_stages

    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # its models are packages: nothing is asked of the hub
    with as_file(files("ohr.pipelines") / "quickstart.yaml") as path:
        choices = RunChoices(spec=path, workers=workers, store=store, runs=runs)
        spec = choices.read()
    try:
        check_stages(spec)
    except PluginError as error:
        raise PluginError(f"{error}\nall that the demo needs: pip install 'ohr[demo]'") from None
    carry_out(spec, choices)
