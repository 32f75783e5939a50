"""How many questions find the right page: what a reader understands without knowing a metric."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ohr.report.lead import named_noise
from ohr.results.derived.losses import Loss
from ohr.results.derived.pairs import MOST_FAILED
from ohr.results.run import Row, Run
from ohr.results.tables.groups import ALL

HIT = "hit@"
"""Beginning of the metrics that are 1 where a page of the evidence is among the first k hits."""


@dataclass(frozen=True, slots=True)
class PagesFound:
    """The pages that one pipeline finds.

    Args:
        pipeline: its chunker and retriever.
        depth: of the ranking, in hits.
        shares: condition to the share of the questions.
        questions: condition to how many name their pages.
        clean: the condition that the others are compared with; "" where there is none.
    """

    pipeline: tuple[str, str]
    depth: int
    shares: Mapping[str, float]
    questions: Mapping[str, int]
    clean: str

    def of(self, condition: str) -> str:
        """Return in words how many are found under a condition; "" where it was not searched."""
        share = self.shares.get(condition)
        if share is None:
            return ""
        questions = self.questions[condition]
        count = f"{questions * share:.1f}".removesuffix(".0")  # a mean over draws may be no whole number
        return f"{count} of {questions:,}"


def read_pages_found(
    run: Run, searched: tuple[str, str] | None = None, preferred: tuple[str, str] | None = None
) -> PagesFound | None:
    """Read what a pipeline finds, of conditions under which not too much failed; None where questions name no pages.

    Args:
        run: to read.
        searched: its chunker and retriever; by default those that find most pages on clean text.
        preferred: those among several that find as many.
    """
    rows = run.once(run.rows("summary", stage="retrieval", by="evidence_source", group=ALL))
    hits = [
        row for row in rows if row["metric"].startswith(HIT) and row["n"] and row["failed"] <= MOST_FAILED * row["n"]
    ]
    hits = [row for row in hits if searched in (None, _pipeline(row)[:2])]
    pipelines = [list(group) for _, group in groupby(sorted(hits, key=_pipeline), key=_pipeline)]
    if not pipelines:
        return None
    plain = {row["condition"] for row in hits if row["noise_type"] == "none"} or set(run.choices.plain.values())

    def clean_share(rows: Sequence[Row]) -> float:
        return max((row["mean"] for row in rows if row["condition"] in plain), default=-1.0)

    chosen = max(pipelines, key=lambda rows: (clean_share(rows), _pipeline(rows[0])[:2] == preferred))
    clean = next((row["condition"] for row in chosen if row["condition"] in plain), "")
    shares = {row["condition"]: row["mean"] for row in chosen}
    first = chosen[0]
    questions = {row["condition"]: row["n"] for row in chosen}
    return PagesFound(_pipeline(first)[:2], int(first["metric"].removeprefix(HIT)), shares, questions, clean)


def _pipeline(row: Row) -> tuple[str, str, str]:
    return row["chunker"] or "", row["retriever"] or "", row["metric"]


def found_sentence(found: PagesFound, losses: Sequence[Loss], reference: str) -> str:
    """Return how many right pages are found on clean text, and under the condition that finds fewest, or else most."""
    names = {loss.condition: named_noise(loss) for loss in losses}
    noisy = {condition: share for condition, share in found.shares.items() if condition in names}
    system = found.pipeline[1] or "the system"
    first = f"{system}'s first hit" if found.depth == 1 else f"among {system}'s first {found.depth} hits"
    if not noisy or not found.clean:
        return ""
    on_clean = found.of(found.clean)
    if all(found.of(condition) == on_clean for condition in noisy):
        return f"The right page is {first} for {on_clean} questions, whatever the condition."
    worst, best = min(noisy, key=noisy.__getitem__), max(noisy, key=noisy.__getitem__)
    fewer = noisy[worst] < found.shares[found.clean]
    other = worst if fewer else best
    questions = "question" if found.questions[found.clean] == 1 else "questions"
    begins = f"The right page is {first} for {on_clean} {questions} on {reference}"
    none_fewer = "" if fewer or len(set(found.questions.values())) > 1 else ", for no fewer under any condition"
    return f"{begins}{none_fewer}, and for {found.of(other)} under {names[other]}."
