"""Measures what study g of studies/PLAN.md asks by the size of the model: 135M and 0.5B on the same passages as 1.5B.

    OHRBENCH_DATA=DIR python -m studies.answer_sizes WORK --out FOLDER

Starts in the folder that has the model of 0.5 billion parameters; that of 135 million comes in a package. One question
about each document is answered, as in the first round of g. Kept are numbers and ids.
"""

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np

from ohr.graph import compile
from ohr.results.run import Run
from studies.answers import CONDITIONS, MODEL, SPEC, checked, scores_of
from studies.kept_scores import Scores, first_less, line, points
from studies.real_data import KEPT, given, keep_run, study
from studies.runs import run_spec

FILE = "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
SUM = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
"""SHA-256 of the file that was measured."""
SIZES = ("smollm2-135m", "qwen2.5-coder-0.5b")
_SHARED = 'kind: llama_cpp, prompt: short, max_tokens: 32, stop: ["\\n"], threads: 1'
GENERATORS = f"""\
generators:
  - {{{_SHARED}, name: {SIZES[0]}, model: smollm2-135m-instruct}}
  - {{{_SHARED}, name: {SIZES[1]}, model: {FILE}}}
"""
TABLE = "answer_sizes.parquet"


def spec() -> str:
    """Return the spec of study g with the smaller models, and one question about each document."""
    lines = SPEC.read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(each for each in lines if not each.startswith("#") and "llama_cpp" not in each)
    text = text.replace("generators:\n", GENERATORS).replace("per_document: 2", "per_document: 1")
    return text.replace("name: real-answers\n", "name: answer-sizes\n", 1).partition("hypotheses:")[0]


def size_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each size: F1 on the truth and on MinerU, the loss, and how much more than that 1.5B loses."""
    small, large = Scores.read(folder / TABLE), Scores.read(KEPT / "answers.parquet")
    places = [large.ids.index(question) for question in small.ids]
    values = {**small.values, **{(name, MODEL): large.values[name, MODEL][places] for name in CONDITIONS}}
    joined = Scores(small.ids, small.documents, small.domains, small.sources, values)
    ours = [(condition, MODEL) for condition in CONDITIONS]
    for model in (*SIZES, MODEL):
        cells = [(condition, model) for condition in CONDITIONS]
        means = (f"{100 * float(np.mean(values[cell])):.1f}" for cell in cells)
        more = joined.estimate([*ours, *cells], lambda m: first_less(m) - first_less(m[2:]))
        yield line(model, *means, points(joined.estimate(cells, first_less)), points(more) if model != MODEL else "")


def answered(spec: str, work: Path) -> Run:
    """Run a spec, and do not ask for answers that need no retriever."""
    with patch.object(compile, "CONDITIONS", ()):
        return run_spec(spec, work)


def main() -> None:
    """Measure, and keep the scores."""
    work, out = given("Study g: measures answers by the size of the model.")
    checked(Path(FILE), SUM)
    keep_run(answered(spec(), work), out, TABLE, scores_of)


if __name__ == "__main__":
    study(main)
