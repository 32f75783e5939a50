"""The documents of a build: looked at once, and read by the engine of the settings where they need one."""

from collections.abc import Sequence
from pathlib import Path

from ohr.builder.session import BuildSession
from ohr.builder.settings import Settings
from ohr.contracts import AnyOcr
from ohr.engine.progress import Progress
from ohr.errors import DataError
from ohr.files.digests import input_digest
from ohr.keys import installed, key
from ohr.messages.wording import named
from ohr.questions.truth import LOOK_VERSION, Look, Survey, Truth, look_at, survey, with_silver
from ohr.store import Store

_PHASE = "looking at PDFs"


def surveyed(folder: Path, settings: Settings, store: Store, progress: Progress) -> Survey:
    """Decide where the ground truth of each page comes from; a PDF that was looked at before is not looked at again.

    Raises:
        DataError: as `ohr.questions.truth.survey`.
    """
    total = sum(path.suffix.lower() == ".pdf" for path in folder.rglob("*"))
    done = 0

    def look(path: Path) -> Sequence[Look]:
        nonlocal done
        progress.update(_PHASE, done, total)
        done += 1
        name = key("looks", LOOK_VERSION, input_digest(path), installed(("pypdfium2", "pdfplumber")))
        if (looks := store.get(name)) is None:
            store.put(name, looks := [list(each) for each in look_at(path)])
        return [Look(*each) for each in looks]

    file = settings.file
    found = survey(folder, settings.corrected, language=file.language, dpi=file.dpi, look=look)
    progress.update(_PHASE, total, total)
    return found


def ground_truth(survey: Survey, settings: Settings, engine: BuildSession) -> Truth:
    """Complete the ground truth with the engine of the settings, if there is one.

    Raises:
        DataError: no page can be asked about.
    """
    if settings.silver is None or not survey.wanted:
        truth = with_silver(survey)
    else:
        read = engine.read_pages({name: list(pages) for name, pages in survey.wanted.items()})
        truth = with_silver(survey, read, _version(settings.silver))
    if not truth.usable:
        counts = named([f"{count} {name.replace('_', ' ')}" for name, count in truth.removed.most_common()])
        scans = truth.removed["unread"] and not settings.silver
        advice = "; give scans an engine: `silver: {kind: tesseract}` in the build's file" if scans else ""
        raise DataError("\n  ".join([f"no page can be asked about: {counts or 'there is none'}{advice}", *truth.notes]))
    return truth


def _version(engine: AnyOcr) -> str:
    """Name an engine with the versions of its packages."""
    versions = [f"{name} {version}" for name, version in installed(type(engine).packages).items()]
    return f"{engine.kind} ({', '.join(versions)})" if versions else engine.kind
