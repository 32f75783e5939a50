"""A run's rankings as files of TREC: run files, judgments, topics, and the document of each topic."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, unquote

import numpy as np

from ohr.errors import DataError
from ohr.results.folder.replace import filled
from ohr.results.page_texts import safe_name
from ohr.results.run import Run
from ohr.results.score_arrays import Place, ScoreTable

PageId = tuple[str, int]
Row = Mapping[str, Any]

_NOTHING = "nothing:found"  # in place of a document, where a question was asked and nothing was found
_HIT = ["question_id", "rank", "score", "document", "pages"]


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export.

    Args:
        runs: run files that were written.
        topics: topics with judgments.
        failed: rankings that were left out: their question failed and scores 0, as a topic without hits does.
        several: hits on several pages. Each page has a line of its own, so the ranks after it are larger.
        scale: what the grades were multiplied by: a file of judgments has whole numbers.
    """

    runs: int = 0
    topics: int = 0
    failed: int = 0
    several: int = 0
    scale: int = 1


def export_trec(run: Run, out: Path, *, force: bool = False) -> Exported:
    """Write `qrels.txt`, `topics.tsv`, `clusters.tsv` and `runs/<condition>.<chunker>.<retriever>.trec`.

    A condition with several draws of its noise is a folder with a run file for each.

    Args:
        out: a folder that does not exist yet, is empty, or was left unfinished.
        force: keep a folder with other files as `<name>.bak-<time>`.

    Raises:
        DataError: the run ranks nothing, a table is damaged, or the folder has files or cannot be written.
    """
    scores = ScoreTable.of(run)
    rows = {row["question_id"]: row for row in run.rows("questions")}
    names = _Names.of(run, rows.values())
    counted = dict(zip(scores.questions.ids, scores.questions.counted.tolist(), strict=True))
    judged = {name: grades for name, row in rows.items() if counted[name] and (grades := names.grades(row))}
    places = [place for place in scores.of_stage("retrieval") if place.retriever]
    found = {(row["chunker"], row["retriever"]) for row in run.rows_if_any("hits", ["chunker", "retriever"])}
    places = [place for place in places if (place.chunker, place.retriever) in found]
    if not places:
        raise DataError(f"{run.folder}: has no rankings to export: no retriever has found anything")
    about = {"command": "export --trec", "run": str(run.folder.resolve())}
    done = Exported(topics=len(judged), scale=_scale(judged))
    with filled(out, "--trec", about, force=force):
        for place in places:
            bases = scores.bases(place)
            label = safe_name(".".join(filter(None, (place.condition, place.chunker, place.retriever))))
            for base, replicate in bases:
                lines, failed, several = _ranked(run, place, base, names, judged)
                if lines:
                    file = f"{label}/{replicate}.trec" if len(bases) > 1 else f"{label}.trec"
                    _write(out / "runs" / file, [f"{line} {token(label)}" for line in lines])
                    done = replace(
                        done, runs=done.runs + 1, failed=done.failed + failed, several=done.several + several
                    )
        rated = [(topic, page, grade) for topic, grades in judged.items() for page, grade in grades.items()]
        _write(out / "qrels.txt", [f"{token(topic)} 0 {page} {grade * done.scale:.0f}" for topic, page, grade in rated])
        _write(out / "topics.tsv", [f"{token(topic)}\t{' '.join(rows[topic]['text'].split())}" for topic in judged])
        _write(out / "clusters.tsv", _clusters(scores, judged, rows, names))
    return done


def _scale(judged: Mapping[str, Mapping[str, float]]) -> int:
    """Return the least power of ten, up to a million, that makes all grades whole numbers; nDCG does not change."""
    grades = {grade for pages in judged.values() for grade in pages.values()}
    powers = (10**power for power in range(7))
    return next((scale for scale in powers if all((grade * scale).is_integer() for grade in grades)), 10**6)


def token(name: str) -> str:
    """Return a name as one word, which a line of TREC needs; different names stay different."""
    return "".join(quote(sign, safe="") if sign.isspace() or sign == "%" else sign for sign in name)


@dataclass(frozen=True)
class _Names:
    """How the pages of a run are named.

    Args:
        by_page: some document has several pages: the name of a page has its number, from 1.
        prefix: the domain and slash that all documents share, which is left out; else "".
        repeats: a further hit on a page is written as `<page>~2`, so `~` in a name is percent-quoted.
        copies: the page that counts, for each page that is there more than once.
        quoted: benchmarks percent-quote ids that no name can have: the ids of the data are written, where they differ.
    """

    by_page: bool
    prefix: str
    copies: Mapping[PageId, PageId]
    quoted: bool
    repeats: bool

    @classmethod
    def of(cls, run: Run, questions: Iterable[Row]) -> Self:
        texts = run.table("texts", ["document", "page"])
        documents = {*texts["document"].unique().to_pylist(), *(row["document"] for row in questions)}
        domains = {document.partition("/")[0] for document in documents}
        pages = max((page or 0 for page in texts["page"].unique().to_pylist()), default=1)
        copies = {(page[0], page[1]): (page[2], page[3]) for page in run.manifest.get("copies", ())}
        quoted = len(set(map(unquote, documents))) == len(documents)
        repeats = run.manifest["protocol"].get("ranked") != "pages"
        return cls(pages > 0, f"{domains.pop()}/" if len(domains) == 1 else "", copies, quoted, repeats)

    def document(self, document: str) -> str:
        name = document.removeprefix(self.prefix)
        word = token(unquote(name) if self.quoted else name)
        return word.replace("~", "%7E") if self.repeats else word

    def page(self, document: str, page: int) -> str:
        document, page = self.copies.get((document, page), (document, page))
        return self.document(document) + (f"#{page + 1}" if self.by_page else "")

    def grades(self, question: Row) -> dict[str, float]:
        """Return the judged pages of a question with their grades; of copies the highest one counts."""
        judged = [(page["document"], page["page"], page["grade"]) for page in question["relevant"]]
        judged = judged or [(question["document"], page, 1.0) for page in question["pages"]]
        grades: dict[str, float] = {}
        for document, page, grade in judged:
            name = self.page(document, page)
            grades[name] = max(grade, grades.get(name, grade))
        return grades if any(grade > 0 for grade in grades.values()) else {}


def _ranked(run: Run, place: Place, base: str, names: _Names, judged: Mapping[str, Any]) -> tuple[list[str], int, int]:
    """Return the lines of a knowledge base's rankings without their tag, those left out, and hits on several pages.

    Where the protocol counts hits, a further hit on a page is written as `<page>~2`, which no judgment has: it takes a
    rank and finds nothing new, as in ohr's own scores.
    """
    cell = {"kb": base, "chunker": place.chunker, "retriever": place.retriever}
    status = run.rows("scores", ["question_id"], stage="retrieval", status="failed", **cell)
    failed = {row["question_id"] for row in status}
    hits: dict[str, list[Row]] = {}
    several = 0
    for row in run.rows("hits", _HIT, **cell):
        if row["question_id"] in judged and row["question_id"] not in failed:
            hits.setdefault(row["question_id"], []).append(row)
            several += len(row["pages"]) > 1
    lines = []
    for topic in judged:
        found = hits.get(topic, [])
        if not found and topic not in failed:  # without a line, a tool would think that it was not asked
            lines.append(f"{token(topic)} Q0 {_NOTHING} 1 0")
        times: Counter[str] = Counter()
        ranked: list[tuple[str, float]] = []
        for hit in sorted(found, key=lambda hit: int(hit["rank"])):
            for page in hit["pages"] or [None]:
                name = names.page(hit["document"], page) if page is not None else f"unplaced:{hit['rank']}"
                times[name] += 1
                if times[name] == 1 or names.repeats:
                    ranked.append((name if times[name] == 1 else f"{name}~{times[name]}", hit["score"]))
        scores = _falling([score for _, score in ranked])
        pairs = zip(ranked, scores, strict=True)
        lines += [f"{token(topic)} Q0 {name} {rank} {score}" for rank, ((name, _), score) in enumerate(pairs, 1)]
    return lines, len(failed & judged.keys()), several


def _falling(scores: list[float]) -> list[str]:
    """Print scores so that they fall strictly in single precision, in which trec_eval holds and sorts them."""
    printed, last = [], np.float32(np.inf)
    for score in scores:
        last = min(np.float32(score), np.nextafter(last, np.float32(-np.inf)))
        printed.append(f"{last:.9g}")
    return printed


def _clusters(scores: ScoreTable, judged: Mapping[str, Any], rows: Mapping[str, Row], names: _Names) -> list[str]:
    """Return the document of each topic, and its domain where domains are fixed strata of the run's intervals."""
    places = np.array([scores.questions.place[topic] for topic in judged], np.intp)
    stratified = bool(places.size) and scores.questions.among(places).clusters.stratified
    head = ["topic", "document", *(["stratum"] if stratified else [])]
    own = [
        [token(topic), names.document(rows[topic]["document"]), *([token(rows[topic]["domain"])] if stratified else [])]
        for topic in judged
    ]
    return ["\t".join(head), *("\t".join(row) for row in own)]


def _write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
