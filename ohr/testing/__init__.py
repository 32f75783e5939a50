"""Conformance suites: one function per contract, called in one line of a plugin's own tests.

    def test_conforms():
        check_retriever(MyRetriever())

Each raises one AssertionError with a line for each fault. No test framework is needed.
"""

from ohr.testing.agents import PlainDesk, check_agent, found, play
from ohr.testing.answers import check_generator, check_metric, prompts
from ohr.testing.benchmark import check_benchmark
from ohr.testing.formats import check_ocr_format
from ohr.testing.noise import check_image_noise, check_text_noise, odd_images
from ohr.testing.ocr import check_ocr
from ohr.testing.passages import Indexed, check_chunker, check_retriever, indexed
from ohr.testing.scripted import Scripted
from ohr.testing.stage import RATES, TEXTS, check_stage
from ohr.testing.systems import check_system
from ohr.testing.treatments import check_treatment

__all__ = [
    "RATES",
    "TEXTS",
    "Indexed",
    "PlainDesk",
    "Scripted",
    "check_agent",
    "check_benchmark",
    "check_chunker",
    "check_generator",
    "check_image_noise",
    "check_metric",
    "check_ocr",
    "check_ocr_format",
    "check_retriever",
    "check_stage",
    "check_system",
    "check_text_noise",
    "check_treatment",
    "found",
    "indexed",
    "odd_images",
    "play",
    "prompts",
]
