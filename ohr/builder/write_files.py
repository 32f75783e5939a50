"""The files of a set: OHRBench's layout, all candidates, the funnel, and a study to run."""

import re
from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING

from ohr.builder.publish import DATASHEET, STUDY
from ohr.builder.settings import Settings, shared
from ohr.keys import installed
from ohr.messages.wording import counted
from ohr.questions.candidate import FILE, write_candidates
from ohr.questions.set_files import About, ModelUse, write_set
from ohr.questions.verification import write_funnel

if TYPE_CHECKING:
    from ohr.builder.build import Built, Job

DRAWS = 5
"""Draws of each noise in the study, which a spec has where it does not say."""
FUNNEL = "funnel.json"

_STUDY = """\
# What errors of OCR cost on these documents. Every key: docs/spec.md. Check it with `ohr check`, run it with `ohr run`.
name: {name}
seed: 0
replicates: {draws}
benchmark: {{kind: ohrbench, root: .}}
knowledge_bases:
  - name: clean        # the ground truth of the set
  - name: misread      # errors of OCR, more and more
    treatments: [{{kind: channel, profile: tesseract, rate: [0.25, 0.5, 0.75]}}]
  # - name: engine       # what an engine of yours makes of the PDFs of the set
  #   ocr: {{kind: tesseract}}
chunker: {{kind: tokens, size: 256}}
retrievers:
  - {{kind: bm25, top_k: 3}}
generators:
  - {{kind: extractive}}   # a baseline without a model: use openai, llama_cpp or transformers
index_scope: corpus
"""


def write_files(job: "Job", built: "Built", folder: Path) -> None:
    """Write all files of a set into a new folder."""
    if (job.out / DATASHEET).is_file():
        copyfile(job.out / DATASHEET, folder / DATASHEET)  # the part of people stays
    name = job.out.absolute().name
    about = About(
        name,
        tuple(_models(job.settings)),
        built.funnel.rows,
        built.agreements,
        job.settings.resolved,
        _limits(job, built),
    )
    write_set(folder, built.truth, built.questions, about)
    write_candidates(folder / FILE, built.sources.candidates, built.funnel.removals)
    write_funnel(folder / FUNNEL, built.funnel.rows)
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", name).lstrip("._-") or "study"
    (folder / STUDY).write_text(_STUDY.format(name=plain, draws=DRAWS), encoding="utf-8")


def _models(settings: Settings) -> Iterator[ModelUse]:
    roles = {
        "writes questions": [settings.writer] if settings.writer else [],
        "judges questions": settings.judges,
        "answers questions": settings.answerers,
    }
    for model in settings.models:
        role = ", ".join(name for name, those in roles.items() if model in those)
        versions = installed(type(model.stage).packages).items()
        yield ModelUse(
            model.name, role, ", ".join(f"{name} {version}" for name, version in versions), shared(model.stage)
        )


def _limits(job: "Job", built: "Built") -> list[str]:
    limits = []
    if job.imported:
        limits.append(f"The questions are those of {job.imported.name}; ohr verified them.")
    if not_run := [row.rule for row in built.funnel.rows if not row.runs]:
        limits.append(f"These rules were not run, since no model was named or they were off: {', '.join(not_run)}.")
    if undecided := len(built.reviewed.undecided):
        limits.append(f"Nobody reviewed {undecided:,} of {counted(len(built.questions), 'question')}.")
    return limits
