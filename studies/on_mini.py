"""Protocols on the packaged benchmark: one draw of a noise, and chunks of text with markup."""

from pathlib import Path

from ohr.report.analyses import ANALYSES
from studies.runs import Values, draw_means, percent, points, run_spec, summary

SPEC = """
name: {name}
replicates: {draws}
benchmark: {{kind: mini, languages: [en]}}
knowledge_bases:
  - name: ground_truth
  - {{name: formatting, text_noise: {{kind: formatting, rate: {rate}}}}}
chunker: {chunker}
retrievers: [{{kind: bm25, top_k: 2}}]
evaluate: [retrieval]
"""
_CHANNEL = "  - {name: channel, text_noise: {kind: channel, rate: 0.3}}\n"
_CHUNKS = "{kind: tokens, size: 256}"


def one_draw(work: Path) -> Values:
    """Twenty draws of two noises whose mean scores are less than a point apart."""
    spec = SPEC.format(name="draws", draws=20, rate=0.3, chunker=_CHUNKS)
    of = run_spec(spec.replace("chunker:", f"{_CHANNEL}chunker:"), work)
    better, worse = draw_means(of, "formatting"), draw_means(of, "channel")
    return {
        "draws": len(better),
        "formatting": points(better.mean()),
        "channel": points(worse.mean()),
        "lowest of formatting": points(better.min()),
        "highest of formatting": points(better.max()),
        "wrong order, %": percent(better[:, None] < worse[None, :]),
    }


def markup_and_chunks(work: Path) -> Values:
    """The loss to formatting noise of chunks and of whole pages, as scored and with the markup taken back."""
    found: Values = {"chunk size": 256}
    for name, chunker in (("chunks", _CHUNKS), ("pages", "{kind: page}")):
        of = run_spec(SPEC.format(name=name, draws=5, rate=0.6, chunker=chunker), work)
        bare = {row["noise"]: row["without_formatting"] for row in ANALYSES["formatting_lcs"](of)}
        found[f"{name}: loss"] = points(summary(of, "formatting")["lost"])
        found[f"{name}: loss without markup"] = points(bare["ground_truth"] - bare["formatting"])
    return found
