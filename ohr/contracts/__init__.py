"""Inputs and outputs of each stage. Plugins import this package and a few shared packages of ohr, nothing else."""

from ohr.contracts.agent import Agent as Agent
from ohr.contracts.agent import Ask as Ask
from ohr.contracts.agent import Desk as Desk
from ohr.contracts.agent import End as End
from ohr.contracts.agent import Found as Found
from ohr.contracts.agent import Outcome as Outcome
from ohr.contracts.agent import Reads as Reads
from ohr.contracts.agent import Search as Search
from ohr.contracts.agent import Steps as Steps
from ohr.contracts.benchmark import Aggregate as Aggregate
from ohr.contracts.benchmark import Benchmark as Benchmark
from ohr.contracts.benchmark import Mean as Mean
from ohr.contracts.benchmark import Passage as Passage
from ohr.contracts.benchmark import Prescribed as Prescribed
from ohr.contracts.benchmark import Published as Published
from ohr.contracts.benchmark import ScoringProtocol as ScoringProtocol
from ohr.contracts.benchmark import Tally as Tally
from ohr.contracts.chunking import Chunker as Chunker
from ohr.contracts.conversation import Box as Box
from ohr.contracts.conversation import Conversation as Conversation
from ohr.contracts.conversation import PageId as PageId
from ohr.contracts.conversation import Picture as Picture
from ohr.contracts.conversation import Turn as Turn
from ohr.contracts.generation import Generator as Generator
from ohr.contracts.metric import Case as Case
from ohr.contracts.metric import CaseMetric as CaseMetric
from ohr.contracts.metric import Judged as Judged
from ohr.contracts.metric import JudgeMetric as JudgeMetric
from ohr.contracts.metric import Metric as Metric
from ohr.contracts.metric import PageJudgeMetric as PageJudgeMetric
from ohr.contracts.metric import PageMetric as PageMetric
from ohr.contracts.metric import Ranking as Ranking
from ohr.contracts.metric import RankingMetric as RankingMetric
from ohr.contracts.noise import ImageNoise as ImageNoise
from ohr.contracts.noise import TextNoise as TextNoise
from ohr.contracts.ocr import ABSENT as ABSENT
from ohr.contracts.ocr import OcrBackend as OcrBackend
from ohr.contracts.retrieval import Index as Index
from ohr.contracts.retrieval import PageRetriever as PageRetriever
from ohr.contracts.retrieval import PageView as PageView
from ohr.contracts.retrieval import Retriever as Retriever
from ohr.contracts.stage import Resources as Resources
from ohr.contracts.stage import Stage as Stage
from ohr.contracts.stage import execution as execution
from ohr.contracts.stage import yaml_keys as yaml_keys
from ohr.contracts.values import SOURCES as SOURCES
from ohr.contracts.values import Block as Block
from ohr.contracts.values import BlockKind as BlockKind
from ohr.contracts.values import Chunk as Chunk
from ohr.contracts.values import Completion as Completion
from ohr.contracts.values import Document as Document
from ohr.contracts.values import DocumentView as DocumentView
from ohr.contracts.values import Edit as Edit
from ohr.contracts.values import Ending as Ending
from ohr.contracts.values import EvidenceSource as EvidenceSource
from ohr.contracts.values import Hit as Hit
from ohr.contracts.values import Image as Image
from ohr.contracts.values import NoisyImage as NoisyImage
from ohr.contracts.values import NoisyText as NoisyText
from ohr.contracts.values import Page as Page
from ohr.contracts.values import Prompt as Prompt
from ohr.contracts.values import Question as Question
from ohr.contracts.values import Recognition as Recognition
from ohr.contracts.values import Span as Span
from ohr.contracts.values import Where as Where
from ohr.contracts.values import Word as Word

FAMILIES: dict[str, tuple[type[Stage], str]] = {
    "ocr": (OcrBackend, "ohr.ocr"),
    "image_noise": (ImageNoise, "ohr.image_noise"),
    "text_noise": (TextNoise, "ohr.text_noise"),
    "chunker": (Chunker, "ohr.chunkers"),
    "retriever": (Retriever, "ohr.retrievers"),
    "generator": (Generator, "ohr.generators"),
    "agent": (Agent, "ohr.agents"),
    "metric": (Metric, "ohr.metrics"),
    "benchmark": (Benchmark, "ohr.benchmarks"),
}
"""Each family's contract and its entry-point group."""
