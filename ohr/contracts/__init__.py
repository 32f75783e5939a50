"""Inputs and outputs of each stage. Plugins import this package and a few shared packages of ohr, nothing else."""

from ohr.contracts.benchmark import Benchmark, Prescribed, Published, ScoringProtocol, Tally
from ohr.contracts.chunking import Chunker
from ohr.contracts.generation import Generator
from ohr.contracts.metric import Case, CaseMetric, JudgeMetric, Metric, Ranking, RankingMetric
from ohr.contracts.noise import ImageNoise, TextNoise
from ohr.contracts.ocr import OcrBackend
from ohr.contracts.retrieval import Index, PageRetriever, PageView, Retriever
from ohr.contracts.stage import Resources, Stage, execution, yaml_keys
from ohr.contracts.values import (
    SOURCES,
    Block,
    BlockKind,
    Chunk,
    Completion,
    Document,
    DocumentView,
    Edit,
    Ending,
    EvidenceSource,
    Hit,
    Image,
    NoisyImage,
    NoisyText,
    Page,
    Prompt,
    Question,
    Recognition,
    Span,
    Where,
    Word,
)

__all__ = [
    "FAMILIES",
    "SOURCES",
    "Benchmark",
    "Block",
    "BlockKind",
    "Case",
    "CaseMetric",
    "Chunk",
    "Chunker",
    "Completion",
    "Document",
    "DocumentView",
    "Edit",
    "Ending",
    "EvidenceSource",
    "Generator",
    "Hit",
    "Image",
    "ImageNoise",
    "Index",
    "JudgeMetric",
    "Metric",
    "NoisyImage",
    "NoisyText",
    "OcrBackend",
    "Page",
    "PageRetriever",
    "PageView",
    "Prescribed",
    "Prompt",
    "Published",
    "Question",
    "Ranking",
    "RankingMetric",
    "Recognition",
    "Resources",
    "Retriever",
    "ScoringProtocol",
    "Span",
    "Stage",
    "Tally",
    "TextNoise",
    "Where",
    "Word",
    "execution",
    "yaml_keys",
]

FAMILIES: dict[str, tuple[type[Stage], str]] = {
    "ocr": (OcrBackend, "ohr.ocr"),
    "image_noise": (ImageNoise, "ohr.image_noise"),
    "text_noise": (TextNoise, "ohr.text_noise"),
    "chunker": (Chunker, "ohr.chunkers"),
    "retriever": (Retriever, "ohr.retrievers"),
    "generator": (Generator, "ohr.generators"),
    "metric": (Metric, "ohr.metrics"),
    "benchmark": (Benchmark, "ohr.benchmarks"),
}
"""Each family's contract and its entry-point group."""
