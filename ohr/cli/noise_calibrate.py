"""`ohr noise calibrate`: the strengths that a spec's targets ask for."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ohr.cli.display.console import say, say_json, say_table
from ohr.cli.options import STORE, AsJson, StoreFolder, StudyOptions, Workers, command_of
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.spec.model import Calibration


@dataclass(frozen=True, kw_only=True)
class CalibrateOptions(StudyOptions):
    """Options of `ohr noise calibrate`."""

    workers: Workers = None
    store: StoreFolder = STORE
    as_json: AsJson = False


@command_of(CalibrateOptions)
def calibrate(given: CalibrateOptions) -> None:
    """Find the strength of each noise with a target, and show how it was found.

    A run of the spec does this first; what was measured once is in the store.
    """
    from ohr.cli.display.progress import bars
    from ohr.errors import SpecError
    from ohr.runner.run import calibrated
    from ohr.runner.run_options import RunOptions

    spec = given.read()
    if not any(base.target for base in spec.knowledge_bases):
        raise SpecError(f"{given.spec}: nothing to calibrate: no noise has target_r_noise or target_evidence_loss")
    with bars() as progress:
        options = RunOptions(store=given.store, workers=given.workers, limit=given.limit, progress=progress)
        found = calibrated(spec, options).calibrations
    if given.as_json:
        say_json(found)
        return
    for calibration in found:
        _print(calibration)


def _print(found: "Calibration") -> None:
    on = "" if found.target.source == "all" else f" on {found.target.source}"
    say(f"{found.noise}: target_{found.target.measure} {found.target.value:g}{on}")
    rows = [(f"{strength:.5g}", f"{dose:.4f}", f"{dose - found.target.value:+.4f}") for strength, dose in found.passes]
    say_table((found.knob, found.target.measure, "off by"), rows)
    verdict = "met" if found.met else "NOT met"
    say(
        f"{verdict} at {found.knob} {found.value:.5g}: {found.achieved:.4f} over seeds "
        f"{', '.join(map(str, found.seeds))}, {counted(found.questions, 'question')}, tolerance {found.tolerance:.4f}"
    )
    say()
