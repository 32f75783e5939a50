"""Runs a spec, or finds that an earlier run has its results.

What carries out a study is imported when there is one to carry out: a run that is there already is shown at once.
"""

import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ohr.dataset.inputs import limited, read_inputs
from ohr.engine.ledger import Ledger
from ohr.files.digests import remembered
from ohr.graph.cache_keys import Keys
from ohr.results.folder.run_folder import RunFolder, find_finished
from ohr.results.folder.tags_and_prices import PriceList, write_prices
from ohr.runner.preflight import check_stages
from ohr.runner.run_options import RunOptions
from ohr.spec.model import Spec

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that ended: its folder and its ledger."""

    folder: Path
    ledger: Ledger
    fresh: bool = True
    """False when an earlier run of the same spec had the results already."""
    repriced: bool = False
    """That run was shown with other prices before."""


def run(spec: Spec, options: RunOptions | None = None, **named: Any) -> Finished:
    """Run the steps whose results the store lacks, score everything, and write the results.

    Args:
        named: options by name, in place of those in `options`, as in `run(spec, workers=4)`.

    Raises:
        SpecError: the spec cannot be run as it is (a language nobody reads, nothing left to ask).
        PluginError: a stage cannot run here (missing extra, model or file).
        StoreError: the store cannot be read or written.
        TooManyFailures: more items failed than the spec allows.
    """
    options = replace(options or RunOptions(), **named)
    if options.fresh:
        from ohr.runner.fresh import check_fresh

        check_fresh(options.fresh)
    check_stages(spec)
    spec, runs = limited(spec, options.limit), Path(options.runs)
    with remembered(Path(options.store), verify=options.verify):
        keys = Keys(spec, read_inputs(spec))
        known = None if options.fresh else find_finished(runs, spec.name, keys.run, keys.inputs.warnings)
        prices = PriceList(spec.prices, spec.currency)
        if known:
            return Finished(known, Ledger(spec.max_failures), fresh=False, repriced=write_prices(known, prices))
        from ohr.runner.manifest import begun
        from ohr.runner.study import recorded, study

        session = options.session(spec, keys.inputs)
        ledger = session.ledger
        folder = RunFolder.start(runs, spec.name, keys.run, begun(keys, options.store))
        with recorded(folder, session.progress) as events:
            session = replace(session, progress=events)
            ledger.listen(lambda failure: events.write("failure", **failure.as_row()))
            for line in keys.inputs.warnings:
                _log.info("warning: %s", line)
            with session.started(spec):
                study(session, keys, folder, options.fresh)
            write_prices(folder.path, prices)
            _log.info("finished: %d failed", len(ledger.failures))
            return Finished(folder.path, ledger)


def calibrated(spec: Spec, options: RunOptions) -> Spec:
    """Return a spec in which every level with a target has its strength; measures only what the store lacks.

    Raises: as `run`, and SpecError for a target that cannot be reached.
    """
    from ohr.runner.calibration.calibrate import calibrate

    check_stages(spec)
    spec = limited(spec, options.limit)
    session = options.session(spec, read_inputs(spec))
    with session.started(spec):
        return calibrate(spec, session)
