"""Writes the folder of a run that never was, with the project's own writers: for measuring and testing its report."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ohr.metrics.dose import QUESTION_PARTS
from ohr.results.derived.derive import derive
from ohr.results.folder.run_folder import RunFolder
from ohr.results.tables.schema import schema
from ohr.results.tables.table_files import Tables

RETRIEVAL = ("lcs", "hit@2", "recall@2", "mrr", "lcs_floor")
ANSWER = ("f1", "em", "f1_numeric")
SOURCES = ("text", "table", "formula", "chart", "reading_order")
BATCH = 2000


@dataclass(frozen=True)
class Asked:
    """A question; `page` is where its evidence is."""

    id: str
    text: str
    answers: Sequence[str]
    evidence: str
    document: str
    page: int = 0
    source: str = "text"


@dataclass(frozen=True)
class Condition:
    """A condition: its noise, its level, and what it makes of a page's text."""

    name: str
    noise: str
    kind: str
    level: str | None
    read: Callable[[str], str]
    spec: Mapping[str, Any] = field(default_factory=dict)

    @property
    def about(self) -> dict[str, Any]:
        knob = None if self.level is None else "severity"
        base = {"kb": self.name, "condition": self.name, "replicate": 0, "noise": self.noise}
        return {**base, "noise_type": self.kind, "knob": knob, "knob_value": self.level}


@dataclass(frozen=True)
class MadeUp:
    """A run.

    Args:
        pages: text of each page by document and index.
        score: condition's place and number of questions to scores.
        answer: condition's place and question to an answer.
    """

    name: str
    questions: Sequence[Asked]
    pages: Mapping[tuple[str, int], str]
    conditions: Sequence[Condition]
    score: Callable[[int, int], Any]
    answer: Callable[[int, Asked], str]
    retrievers: Sequence[str] = ("bm25",)
    generators: Sequence[str] = ("extractive",)
    failed: frozenset[tuple[str, str]] = frozenset()  # condition, question
    benchmark: Mapping[str, Any] = field(default_factory=lambda: {"kind": "mini"})
    passage: int = 900

    def write(self, runs: Path) -> Path:
        """Write the run; returns its folder."""
        bases = [
            {"name": c.name, "condition": c.name, "replicate": 0, "image_noise": [], "text_noise": [], **c.spec}
            for c in self.conditions
        ]
        spec = {"name": self.name, "seed": 0, "plugins": [], "benchmark": dict(self.benchmark), "metrics": []}
        spec |= {"knowledge_bases": bases, "margin": 0.02, "strata": "auto", "hypotheses": []}
        begun = {"spec": spec, "questions": len(self.questions), "documents": len({d for d, _ in self.pages})}
        protocol = {"name": "clean", "retrieval": "lcs", "answer": list(ANSWER), "segment_chinese": True}
        begun["protocol"] = protocol | {"joined": "page"}
        run = RunFolder.start(runs, self.name, "0123456789abcdef" * 4, begun)
        with Tables(run.path) as tables:
            self._questions(tables)
            for place, condition in enumerate(self.conditions):
                self._base(tables, condition)
                for cell in self._cells():
                    self._scores(tables, place, condition, cell)
            self._failures(tables)
        derive(run.path, {})
        return run.finish({"warnings": [], "failures": {"items": len(self.failed), "reasons": []}})

    def _cells(self) -> Iterator[tuple[str, str | None, str | None]]:
        yield "page", None, None
        for retriever in self.retrievers:
            yield "retrieval", retriever, None
        for generator in self.generators:
            yield "generation", None, generator
            for retriever in self.retrievers:
                yield "overall", retriever, generator

    def _traits(self, asked: Sequence[Asked]) -> dict[str, list[str]]:
        return {
            "document": [q.document for q in asked],
            "domain": [q.document.split("/")[0] for q in asked],
            "evidence_source": [q.source for q in asked],
            "answer_form": ["String" for _ in asked],
            "task_type": ["understanding" for _ in asked],
        }

    def _questions(self, tables: Tables) -> None:
        about = {
            "question_id": [q.id for q in self.questions],
            "text": [q.text for q in self.questions],
            "answers": [list(q.answers) for q in self.questions],
            "evidence": [[q.evidence] for q in self.questions],
            "pages": [[q.page] for q in self.questions],
            "clean_text": True,
            "relevant": [[] for _ in self.questions],
            "groups": [[] for _ in self.questions],
        }
        tables.append("questions", {**about, **self._traits(self.questions)})

    def _base(self, tables: Tables, condition: Condition) -> None:
        """Write the texts of a knowledge base, its pages, and what its retrievers found."""
        places = list(self.pages)
        texts = [condition.read(self.pages[place]) for place in places]
        held = dict(zip(places, texts, strict=True))
        columns = {"document": [d for d, _ in places], "page": [p for _, p in places], "text": texts, "error": None}
        tables.append("texts", {**{n: condition.about[n] for n in ("kb", "condition", "replicate")}, **columns})
        numbers: dict[str, Any] = {f.name: 0 for f in schema("pages") if str(f.type) in ("int64", "double")}
        known = {**numbers, **condition.about, "empty": False, "sources": "text", "words": 100}
        known |= {"domain": [d.split("/")[0] for d, _ in places], **{n: columns[n] for n in ("document", "page")}}
        tables.append("pages", known)
        for retriever in self.retrievers:
            for start in range(0, len(self.questions), BATCH):
                self._hits(tables, condition, retriever, held, places, self.questions[start : start + BATCH])

    def _hits(self, tables: Tables, condition: Condition, retriever: str, held: Any, places: Any, asked: Any) -> None:
        found = [((q.document, q.page), places[(number * 7) % len(places)]) for number, q in enumerate(asked)]
        rows = [(q.id, rank, place) for q, two in zip(asked, found, strict=True) for rank, place in enumerate(two, 1)]
        texts = [held[place][: self.passage] for *_, place in rows]
        columns = {
            "question_id": [name for name, _, _ in rows],
            "rank": [rank for _, rank, _ in rows],
            "score": [1 / rank for _, rank, _ in rows],
            "document": [place[0] for *_, place in rows],
            "page": [place[1] for *_, place in rows],
            "pages": [[place[1]] for *_, place in rows],
            "start": 0,
            "end": [len(text) for text in texts],
            "text": texts,
        }
        about = {n: condition.about[n] for n in ("kb", "condition", "replicate")}
        tables.append("hits", {**about, "chunker": "tokens", "retriever": retriever, **columns})

    def _scores(self, tables: Tables, place: int, condition: Condition, cell: tuple[str, Any, Any]) -> None:
        stage, retriever, generator = cell
        parts = {"chunker": retriever and "tokens", "retriever": retriever, "generator": generator, "stage": stage}
        metrics = QUESTION_PARTS if stage == "page" else RETRIEVAL if stage == "retrieval" else ANSWER
        for start in range(0, len(self.questions), BATCH):
            asked = self.questions[start : start + BATCH]
            bad = [(condition.name, q.id) in self.failed and stage != "page" for q in asked]
            value = np.concatenate([self.score(place, len(asked)) for _ in metrics])
            value = np.round(1 - value) if stage == "page" else value  # how much of the evidence is damaged
            columns: dict[str, Any] = {
                "question_id": [q.id for q in asked] * len(metrics),
                "multi_page": False,
                "metric": [metric for metric in metrics for _ in asked],
                "status": ["failed" if one else "ok" for one in bad] * len(metrics),
                "value": np.where(np.tile(bad, len(metrics)), 0.0, value),
            }
            columns |= {name: values * len(metrics) for name, values in self._traits(asked).items()}
            tables.append("scores", {**condition.about, **parts, **columns})
            if generator:
                self._answers(tables, place, condition, parts, asked)

    def _answers(self, tables: Tables, place: int, condition: Condition, parts: Any, asked: Sequence[Asked]) -> None:
        answers = [self.answer(place, q) for q in asked]
        about = {n: condition.about[n] for n in ("kb", "condition", "replicate")}
        made = {"tokens_in": 100, "tokens_out": 10, "seconds": 0.1, "finish": "stop", "truncated": False, "error": None}
        columns = {"question_id": [q.id for q in asked], "answer": answers, "reply": answers}
        made |= {"calls": 1, "searches": 1, "turns": 1, "shared_calls": 0}
        made |= dict.fromkeys(("end", "images", "pages_shown", "seconds_retrieval", "seconds_generation"))
        tables.append("answers", {**about, **parts, **made, **columns})

    def _failures(self, tables: Tables) -> None:
        for condition, question in sorted(self.failed):
            row = {"stage": "generator", "item": f"{condition}: {question}", "reason": "no reply", "kind": "error"}
            tables.append_rows("failures", [row])


def large(questions: int, *, levels: int = 7, words: int = 300, retrievers: int = 2, generators: int = 2) -> MadeUp:
    """Make up a large run: pages of invented words, a clean knowledge base, and levels of noise that misread words.

    Its documents are the packaged benchmark's, so that page images can be made, while there are enough of them.
    """
    rng = np.random.default_rng(0)
    vocabulary = np.array(
        ["".join(rng.choice(list("abcdefghijklmnoprstuvw"), rng.integers(2, 11))) for _ in range(4000)]
    )
    misread = np.array([word.replace("e", "c").replace("l", "1").replace("m", "rn") + "." for word in vocabulary])
    codes = {word: code for code, word in enumerate(vocabulary.tolist())}
    documents = _documents(questions)
    pages = {(d, p): " ".join(vocabulary[rng.integers(0, 4000, words)].tolist()) for d in documents for p in range(4)}
    asked = [_asked(number, documents, pages, int(rng.integers(0, words - 20))) for number in range(questions)]

    def reads(share: float) -> Callable[[str], str]:
        def read(text: str) -> str:
            places = np.array([codes[word] for word in text.split(" ")])
            return " ".join(np.where(rng.random(len(places)) < share, misread[places], vocabulary[places]).tolist())

        return read

    return MadeUp(
        name=f"made-up-{questions}",
        questions=asked,
        pages=pages,
        conditions=_levels(levels, reads),
        score=lambda place, count: np.clip(rng.normal(0.9 - 0.08 * place, 0.2, count), 0, 1).round(3),
        answer=lambda place, q: q.answers[0] if rng.random() > 0.1 * place else f"words {place}",
        retrievers=("bm25", "dense")[:retrievers],
        generators=("extractive", "model")[:generators],
        benchmark={"kind": "mini", "languages": ["en"], "dpi": 100},
    )


def _asked(number: int, documents: Sequence[str], pages: Mapping[tuple[str, int], str], start: int) -> Asked:
    document, page = documents[number // 8 % len(documents)], number // 2 % 4
    text = pages[document, page].split(" ")
    answer, evidence = " ".join(text[start + 5 : start + 7]), " ".join(text[start : start + 20])
    question = f"Which words follow {' '.join(text[start : start + 5])} in {document}?"
    return Asked(f"q{number:06d}", question, [answer], evidence, document, page, SOURCES[number % 5])


def _levels(levels: int, reads: Callable[[float], Callable[[str], str]]) -> list[Condition]:
    blur = [{"kind": "psf_blur", "severity": round(0.9 * level / levels, 2)} for level in range(1, levels + 1)]
    conditions = [Condition("clean", "clean", "none", None, str)]
    for level, noise in enumerate(blur, 1):
        spec, share = {"image_noise": [noise]}, 0.4 * level / levels
        conditions.append(Condition(f"blur-{level}", "blur", "semantic", str(level), reads(share), spec))
    return conditions


def _documents(questions: int) -> list[str]:
    from ohr.contracts import Benchmark
    from ohr.registry import Registry

    mini = Registry().load("benchmark", "mini").model_validate({"languages": ["en"]})
    assert isinstance(mini, Benchmark)
    known = [document.name for document in mini.documents() if document.pages >= 4]
    count = min(max(questions // 8, 1), len(known)) if questions <= 1000 else questions // 8
    return [known[place] if place < len(known) else f"domain{place % 7}/document {place}" for place in range(count)]
