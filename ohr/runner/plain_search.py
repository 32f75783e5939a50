"""The search by which readings of pages are compared: BM25 over chunks of 1,024 tokens, the two best, no generator."""

from collections.abc import Mapping
from typing import Any

from ohr.spec.read import make_benchmark

TOP_K = 2


def plain_search(benchmark: Mapping[str, Any], label: str) -> dict[str, Any]:
    """Return a spec's chunker, retriever and stage; those that OHRBench's protocol prescribes where that is asked for.

    Args:
        benchmark: its keys in a spec.
        label: the beginning of messages about them.

    Raises:
        SpecError: the keys are wrong.
    """
    reference = benchmark.get("protocol") == "reference"
    bm25 = {"kind": "bm25_reference" if reference else "bm25", "top_k": TOP_K}
    if make_benchmark(dict(benchmark), label).scoring.retrieval == "lcs_content":
        bm25["tokenizer"] = "content"  # as the score: systems write tables in different notations
    chunker = {"kind": "reference"} if reference else {"kind": "tokens", "size": 1024}
    return {"chunker": chunker, "retrievers": [bm25], "evaluate": ["retrieval"]}
