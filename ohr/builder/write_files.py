"""The files of a set: OHRBench's layout, all candidates, the funnel, and a study to run."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile

from ohr.builder.build_session import Cost
from ohr.builder.build_settings import Job, Settings, shared
from ohr.builder.publish import DATASHEET, STUDY
from ohr.keys import installed
from ohr.messages.wording import counted
from ohr.questions.candidate import FILE, Candidate, write_candidates
from ohr.questions.human_review import RULE as REVIEW
from ohr.questions.human_review import Reviewed, ReviewerAgreement
from ohr.questions.imports import Repair, all_repairs
from ohr.questions.page_truth import Truth
from ohr.questions.set_files import About, ModelUse, write_set
from ohr.questions.verification import Funnel, rule_name, write_funnel

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


@dataclass(frozen=True, slots=True)
class Sources:
    """The candidates of a build, and what is said of their making.

    Args:
        asked: how many questions models were asked to write.
        faults: how often a reply gave no question, or fewer, by the reason.
    """

    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...]
    repairs: tuple[Repair, ...] = ()
    asked: int = 0
    faults: tuple[tuple[str, int], ...] = ()


_USABLE = 0.2
"""Of the questions that a model was asked for, those that pass at least; OHRBench kept more than half."""
TOO_WEAK = "the model is too small for this: name a larger one under `writer`"


@dataclass(frozen=True, slots=True)
class Built:
    """A finished build.

    Args:
        agreements: of each two reviewers.
        questions: of the set: survivors after review.
        costs: of all replies; `costs_now` of those that were not in the store.
        notes: sentences about what was left out.
        wanted: questions that the settings ask for.
        file_notes: sentences about files of the folder that people changed.
    """

    out: Path
    truth: Truth
    sources: Sources
    funnel: Funnel
    reviewed: Reviewed
    agreements: tuple[ReviewerAgreement, ...]
    costs: tuple[Cost, ...]
    costs_now: tuple[Cost, ...]
    notes: tuple[str, ...]
    wanted: int
    file_notes: tuple[str, ...] = ()

    @property
    def questions(self) -> tuple[Candidate, ...]:
        """The questions of the set."""
        return self.reviewed.candidates

    @property
    def too_weak(self) -> str:
        """Sentence about a model whose questions are nearly all unusable; "" of any other."""
        asked, left = self.sources.asked, len(self.funnel.survivors)
        if left >= _USABLE * asked:
            return ""
        lost = Counter({rule_name(row.rule): row.removed for row in self.funnel.rows if row.rule != REVIEW})
        lost += Counter(dict(self.sources.faults))
        if not lost or lost.most_common(1)[0][0].startswith("no reply"):
            return ""  # a server's fault says nothing of the model
        reasons = ", ".join(f"{count} {name}" for name, count in lost.most_common(3))
        return f"{TOO_WEAK} (of {asked:,} questions asked for {left:,} passed; most often {reasons})"

    @property
    def repairs(self) -> Sequence[Repair]:
        """Faults that the owner of imported questions can repair."""
        removals = [removal for removal in self.funnel.removals if removal.rule != REVIEW]
        return all_repairs(self.sources.repairs, removals, self.sources.candidates)


def write_files(job: Job, built: Built, folder: Path) -> None:
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


def _limits(job: Job, built: Built) -> list[str]:
    limits = []
    if job.imported:
        limits.append(f"The questions are those of {job.imported.name}; ohr verified them.")
    if not_run := [row.rule for row in built.funnel.rows if not row.runs]:
        limits.append(f"These rules were not run, since no model was named or they were off: {', '.join(not_run)}.")
    if undecided := len(built.reviewed.undecided):
        limits.append(f"Nobody reviewed {undecided:,} of {counted(len(built.questions), 'question')}.")
    return limits
