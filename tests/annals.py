"""A tiny benchmark that uses what OHRBench has no need of: facts, groups, aggregates, places, truths under noise."""

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from ohr.contracts import (
    Aggregate,
    Case,
    CaseJudgeMetric,
    CaseMetric,
    Chunk,
    Chunker,
    Completion,
    Generator,
    ImageNoise,
    Mean,
    Metric,
    Page,
    PageJudgeMetric,
    PageMetric,
    Passage,
    Prompt,
    Question,
    Ranking,
    RankingMetric,
    ScoringProtocol,
    execution,
)
from ohr.registry import load_file

# a plugin file cannot import another one by name
Tiny: Any = {plugin.__name__: plugin for plugin in load_file(Path(__file__).with_name("plugins.py"))}["Tiny"]


def note(log: Path | None, line: str) -> None:
    """Append a line to a log."""
    if log:
        with log.open("a") as opened:
            opened.write(f"{line}\n")


def macro(parts: Any, counts: Any) -> Any:
    """Average two means."""
    return (parts[0] + parts[1]) / 2


class Annals(Tiny):
    """Questions about years; their facts are the year, the number of windows, and words that a chunker cuts."""

    kind: Literal["annals"] = "annals"
    size: int = 6
    index_scope: Literal["document", "domain", "corpus"] = "document"
    heading: Annotated[str, Field(description="First word of each prompt's passages.")] = ""
    bad: Annotated[str, Field(description="What it does wrong.")] = ""
    mark: Annotated[Path | None, Field(description="A file; without it, a process that makes a prompt is killed.")] = (
        None
    )

    @property
    def scoring(self) -> ScoringProtocol:
        return ScoringProtocol(
            name="annals",
            retrieval="rank_of_page",
            answer=("year", "batch"),
            page=("length_kept",),
            ranking=("share_of_document",),
            facts="holds",
            index_scope=self.index_scope,
            reply="whole",
            metric_fields={"rank_of_page": {"kind": "page_rank"}},
        )

    def questions(self) -> Sequence[Question]:
        if self.bad == "questions":
            raise RuntimeError("no ink")
        found = []
        for asked in super().questions():
            number = int(asked.id[1:])
            half = "early" if number < 30 else "late"
            first = (asked.document, 0)
            found.append(
                replace(
                    asked,
                    facts=(str(1900 + number), f"{number} windows", "Venn. It"),
                    groups=(("half", half), ("place", f"page {asked.pages[0]}")),
                    places=(first, (asked.document, 1)) if asked.pages == (1,) else (("law/0", 1), first),
                )
            )
        whole = Question("page", "(the page itself)", (), "law/0", (0,), (), "text", "law", asked=False)
        return [whole] if self.bad == "unasked" else [*found, whole]

    def under(self, question: Question, noises: Sequence[ImageNoise]) -> Question | None:
        if self.bad == "under":
            raise RuntimeError("no light")
        if self.bad == "another":
            return replace(question, id="other")
        if question.id == "q1":
            return None
        smudged = any(noise.kind == "smudge" and noise.severity > 0.5 for noise in noises)
        return replace(question, answers=("smudged",)) if smudged else question

    def prompt_values(self, question: Question, passages: Sequence[Passage], *, images: bool) -> Mapping[str, str]:
        if self.mark and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        places = [f"{document} {index}" for passage in passages for document, index in passage.pages]
        texts = " ".join(passage.text for passage in passages)
        return {
            "question": question.text,
            "retrieved_documents": f"{self.heading}{'; '.join(places)} images={images}: {texts}",
        }

    def aggregates(self) -> Sequence[Aggregate]:
        if self.bad == "aggregates":
            raise RuntimeError("no sums")
        wrong: dict[str, Any] = {"zero": lambda means, counts: 1 // 0, "shape": lambda means, counts: means}
        wrong |= {"text": lambda means, counts: "x", "inf": lambda means, counts: float("inf") + means[0]}
        if self.bad in wrong:
            return [Aggregate("wrong", (Mean("length_kept"), Mean("length_kept")), wrong[self.bad])]
        halves = tuple(Mean("year", {"half": half}) for half in ("early", "late"))
        return [
            Aggregate("macro", halves, macro, ratio=True, source="half and half"),
            Aggregate("long", (Mean("length_kept"), Mean("length_kept")), macro, unit="number"),
            Aggregate("nobody", (Mean("year", {"half": "none"}), Mean("year")), macro),
        ]


class Halves(Chunker):
    """Cuts each page before its second sentence."""

    kind: Literal["halves"] = "halves"

    def split(self, pages: Sequence[Page]) -> list[Chunk]:
        found = []
        for page in pages:
            cut = page.text.find(" It has")
            for start, end in ((0, cut), (cut, len(page.text))) if cut > 0 else ((0, len(page.text)),):
                if text := page.text[start:end]:
                    name = f"{page.document}:{page.index}:{start}"
                    found.append(Chunk(name, page.document, (page.index,), start, end, text))
        return found


class Holds(Metric):
    """1 where a text holds a fact."""

    kind: Literal["holds"] = "holds"

    def score(self, prediction: str, reference: str) -> float:
        return float(reference in prediction)


class Year(CaseMetric):
    """1 where the reply is the accepted answer of a question whose group it knows."""

    kind: Literal["year"] = "year"

    def score_case(self, case: Case) -> float:
        return float(case.reply.strip() in case.answers and case.groups["half"] in ("early", "late") and bool(case.id))


class Batch(CaseMetric):
    """The share of a batch that came together: shows that all were scored at once; it raises on one reply."""

    kind: Literal["batch"] = "batch"

    def score_case(self, case: Case) -> float:
        raise NotImplementedError

    def score_cases(self, cases: Sequence[Case]) -> Sequence[float]:
        if any(case.id == "q10" for case in cases):
            raise RuntimeError("ink spilt")
        return [min(1.0, len(cases) / 4) for _ in cases]


class PageRank(RankingMetric):
    """1 / rank of the page."""

    kind: Literal["page_rank"] = "page_rank"

    def score_ranking(self, ranking: Ranking) -> float:
        ranks = [rank for rank, pages in enumerate(ranking.hits, 1) if not ranking.pages.isdisjoint(pages)]
        return 1 / ranks[0] if ranks else 0.0


class ShareOfDocument(RankingMetric):
    """The share of the document's pages that were found."""

    kind: Literal["share_of_document"] = "share_of_document"

    def score_ranking(self, ranking: Ranking) -> float:
        return len({page for pages in ranking.hits for page in pages}) / ranking.size


class LengthKept(PageMetric):
    """The share of a page's letters that is left; it raises on one page."""

    kind: Literal["length_kept"] = "length_kept"
    bad: str = ""

    def score_page(self, text: str, truth: str, questions: Sequence[Question]) -> Sequence[float]:
        if self.bad and self.bad in truth:
            raise RuntimeError("no scales")
        return [min(1.0, len(text.rstrip("#")) / len(truth)) for _ in questions]


class PageGrade(PageJudgeMetric):
    """Asks whether a page is as it was."""

    kind: Literal["page_grade"] = "page_grade"
    log: Annotated[Path | None, execution("Where each prompt is noted.")] = None
    bad: Annotated[str, Field(description="Part of a page about which the judge says nothing of use.")] = ""

    @property
    def judge(self) -> Generator:
        return Same(log=self.log, bad=self.bad)

    @property
    def prompt_sha256(self) -> str:
        return "0" * 64

    def prompt_for_page(self, text: str, truth: str, questions: Sequence[Question]) -> Prompt | None:
        if self.bad == "prompt":
            raise RuntimeError("no paper")
        return Prompt("same?", (), "", f"{text}|{truth}")

    def score_page_reply(self, reply: str, text: str, truth: str, questions: Sequence[Question]) -> Sequence[float]:
        if reply not in ("yes", "no"):
            raise ValueError(f"neither yes nor no: {reply}")
        return [float(reply == "yes") for _ in questions]


class Same(Generator):
    """Says whether two texts are the same."""

    kind: Literal["same"] = "same"
    log: Annotated[Path | None, execution("Where each prompt is noted.")] = None
    bad: Annotated[str, Field(description="Part of a text about which it says nothing of use.")] = ""

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        for prompt in prompts:
            note(self.log, prompt.user)
            left, _, right = prompt.user.partition("|")
            odd = self.bad and self.bad in prompt.user
            yield Completion("perhaps" if odd else "yes" if left == right else "no")


class Both(CaseJudgeMetric):
    """Asks twice, and not at all where the reply is empty; both must say yes."""

    kind: Literal["both"] = "both"
    log: Annotated[Path | None, execution("Where each prompt is noted.")] = None
    bad: str = ""

    @property
    def judge(self) -> Generator:
        return Same(log=self.log)

    @property
    def prompt_sha256(self) -> str:
        return "1" * 64

    def prompts_for(self, case: Case) -> Sequence[Prompt] | None:
        if self.bad == "prompt":
            raise RuntimeError("no paper")
        if not case.reply:
            return ()
        answer = case.answers[0]
        return [Prompt("", (), "", f"{case.reply}|{answer}"), Prompt("", (), "", f"{answer}|{case.reply}")]

    def score_judged(self, case: Case, replies: Sequence[str]) -> float:
        return float(bool(replies) and all(reply == "yes" for reply in replies))
