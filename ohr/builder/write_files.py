"""The files of a set: OHRBench's layout, all candidates, the funnel, and a study to run."""

from pathlib import Path
from typing import TYPE_CHECKING

from ohr.questions.funnel import write_funnel
from ohr.questions.records import FILE, write_candidates

if TYPE_CHECKING:
    from ohr.builder.build import Built, Job

DRAWS = 5
"""Draws of each noise in the study, which a spec has where it does not say."""
STUDY = "study.yaml"
FUNNEL = "funnel.json"

_STUDY = """\
# What errors of OCR cost on these documents. Every key: docs/spec.md. Check it with `ohr check`, run it with `ohr run`.
name: {name}
seed: 0
replicates: {draws}
benchmark: {{kind: ohrbench, root: .}}
knowledge_bases:
  - name: clean        # the ground truth of the set
  - name: misread      # errors of OCR, more and more; for page images: image_noise and an `ocr` that reads them
    text_noise: {{kind: channel, profile: tesseract, rate: [0.25, 0.5, 0.75]}}
chunker: {{kind: tokens, size: 256}}
retrievers:
  - {{kind: bm25, top_k: 3}}
generators:
  - {{kind: extractive}}   # a baseline without a model: use openai, llama_cpp or transformers
index_scope: corpus
"""


def write_files(job: "Job", built: "Built", folder: Path) -> None:
    """Write all files of a set into a folder."""
    write_candidates(folder / FILE, built.sources.candidates, built.funnel.removals)
    write_funnel(folder / FUNNEL, built.funnel.rows)
    name = "".join(
        sign if sign.isascii() and (sign.isalnum() or sign in "._-") else "-" for sign in job.out.absolute().name
    )
    study = _STUDY.format(name=name.lstrip("._-") or "study", draws=DRAWS)
    (folder / STUDY).write_text(study, encoding="utf-8")
