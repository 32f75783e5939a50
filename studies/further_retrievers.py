"""Measures what study c of studies/PLAN.md left open: BM25 in its forms.

    OHRBENCH_DATA=DIR python -m studies.further_retrievers WORK --out FOLDER

On OHRBench's ground truth and MinerU's text, as `pipelines/real-retrievers.yaml` does. Kept are scores and ids.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from studies.kept_scores import Scores, line, points, retrievers
from studies.real_data import KEPT, given, keep_run, study
from studies.runs import run_spec

SETTING = """
name: further-retrievers
replicates: 1
benchmark: {kind: ohrbench, root: "${OHRBENCH_DATA}", domains: [law, manual, textbook], protocol: clean}
knowledge_bases:
  - name: gt
  - {name: MinerU, ocr: {kind: precomputed, root: "${OHRBENCH_DATA}/retrieval_base/MinerU", format: ohrbench}}
chunker: {kind: tokens, size: 128}
index_scope: domain
"""
SPEC = f"""{SETTING}\
retrievers:
  - {{kind: bm25, top_k: 2}}
  - {{name: bm25 of stems, kind: bm25, tokenizer: stems, top_k: 2}}
  - {{name: bm25 of content, kind: bm25, tokenizer: content, top_k: 2}}
  - {{name: bm25 of published words, kind: bm25, tokenizer: ohrbench, top_k: 2}}
evaluate: [retrieval]
"""
TABLE = "further_retrievers.parquet"


def further_rows(folder: Path = KEPT, table: str = TABLE) -> Iterator[str]:
    """Yield a line for each retriever: its score on the truth, its loss, and how much less it loses than BM25."""
    yield from (line(name, *cells) for name, cells in losses(Scores.read(folder / table)))


def losses(scores: Scores, chosen: Any = None) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Yield what `further_rows` writes of each retriever, over all or some questions."""
    for name, row in retrievers(scores, chosen).items():
        spared = points(row["spared"]) if row["spared"] else ""
        yield name, (f"{100 * row['score']:.1f}", points(row["loss"]), spared)


def main() -> None:
    """Measure, and keep the scores."""
    work, out = given("Study c: measures further retrievers.")
    keep_run(run_spec(SPEC, work), out, TABLE)


if __name__ == "__main__":
    study(main)
