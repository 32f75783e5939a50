"""Imports question sets that others made: each passage is looked for in the ground truth, as none names pages.

Names of their parts: `ragas.dataset_schema.SingleTurnSample` (`user_input`, `reference`, `reference_contexts`), whose
test sets had `question`, `ground_truth`, `contexts` and `evolution_type` before 0.2;
`llama_index.core.llama_dataset.LabelledRagDataset` (`examples` with `query`, `reference_answer`, `reference_contexts`);
`llama_index.core.evaluation.EmbeddingQAFinetuneDataset` (`queries`, `corpus` and `relevant_docs`, no answers) and
`QueryResponseDataset` (`queries` and `responses`); `giskard.rag.QATestset` (`question`, `reference_answer`,
`reference_context`); `deepeval.dataset.Golden` (`input`, `expected_output`, `context`, `source_file`); OpenAI's evals
(`input`, `ideal`); SQuAD's `data[].paragraphs[].qas[]`, and its rows as Hugging Face has them; BEIR's `corpus.jsonl`,
`queries.jsonl` and `qrels`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ohr.contracts import SOURCES, Page, Question
from ohr.dataset.evidence import best_match
from ohr.errors import DataError
from ohr.files.foreign_answers.answer_rows import id_of, parsed_mapping, spelled, texts_of
from ohr.files.foreign_answers.inspect_ai import asked_in
from ohr.files.json_input import text_of
from ohr.files.tables import DOCUMENT, Names, Row, Table, is_blank, read_table, refuse_lacking
from ohr.files.trec import read_qrels
from ohr.keys import key
from ohr.messages.wording import counted, keys_of, named, quoted
from ohr.questions.candidate import Candidate, Evidence, Removal
from ohr.questions.candidate_rules import NO_ANSWER, ambiguous_document, what_evidence_lacks
from ohr.questions.places import Places
from ohr.questions.truth_texts import Texts
from ohr.questions.verification import rule_name
from ohr.text.language import written_in

NAMES: Names = {
    "question": ("user_input", "question", "query", "questions"),
    "input": ("input",),
    "text": ("text",),
    "answers": ("reference", "ground_truth", "ground_truths", "answers", "reference_answer"),
    "answer": ("answer",),
    "expected": ("expected_output", "ideal", "target"),
    "response": ("response",),
    "evidence": ("reference_contexts", "reference_context", "evidence", "evidence_context", "quote", "passage"),
    "contexts": ("contexts", "context"),
    "document": DOCUMENT,
    "id": ("id", "question_id", "qid"),
    "source": ("evidence_source",),
    "form": ("answer_form",),
    "task": ("task_type", "evolution_type"),
}
"""The parts of a question, and the names that each may go by; `input`, `text` and `expected` are of few layouts."""


def read_rows(path: Path) -> Table:
    """Read the rows of a file, or of a folder of BEIR; `input`, `text` and `expected` are under what they stand for."""
    beside = all((path.parent / name).exists() for name in ("corpus.jsonl", "qrels"))
    if path.is_dir() or (path.name == "queries.jsonl" and beside):
        return _beir(path if path.is_dir() else path.parent)
    table = read_table(path, NAMES, (), records=lambda found: _records(found, path), entry="question")
    has_texts = "_id" in table.columns and "title" not in table.columns  # BEIR's queries; its documents have titles
    refuse_lacking(path, table, NAMES, "question", "input", *(["text"] if has_texts else []))
    return table._replace(rows=[_named(row, has_texts=has_texts) for row in table.rows])


def _named(row: Row, *, has_texts: bool) -> Row:
    parts = {name: value for name, value in row.parts.items() if not is_blank(value)}
    given, text, expected = parts.pop("input", None), parts.pop("text", None), parts.pop("expected", None)
    if "question" not in parts and given is not None:  # of DeepEval and OpenAI: what a system says is not `context`
        context = {"evidence": parts.pop("contexts")} if "contexts" in parts else {}
        parts = {**context, "answers": expected, **parts, "question": asked_in(given)}
    elif "question" not in parts and has_texts:
        parts["question"] = text
    answers = parts.get("answers")
    if marked := parsed_mapping(answers):  # SQuAD's, as Hugging Face has them
        parts["answers"] = marked.get("text")
    elif isinstance(answers, list):
        parts["answers"] = [each.get("text") if isinstance(each, Mapping) else each for each in answers]
    if isinstance(parts.get("answers"), list):
        parts["answers"] = [each for place, each in enumerate(parts["answers"]) if each not in parts["answers"][:place]]
    return Row(row.where, {name: value for name, value in parts.items() if not is_blank(value)})


def _records(found: Any, path: Path) -> Any:
    """Return the rows of a file that is no table, whichever layout it has; a table as it is."""
    known = found if isinstance(found, Mapping) else {}
    listed = known.get("data", found)
    if isinstance(listed, list) and any(isinstance(each, Mapping) and "paragraphs" in each for each in listed):
        return list(_squad(listed, path))
    if isinstance(known.get("examples"), list):
        return known["examples"]
    queries, responses, corpus, relevant = (
        known.get(name) for name in ("queries", "responses", "corpus", "relevant_docs")
    )
    if isinstance(queries, Mapping) and isinstance(responses, Mapping):
        return [{"id": name, "query": query, "answer": responses.get(name)} for name, query in queries.items()]
    if isinstance(queries, Mapping) and isinstance(corpus, Mapping) and isinstance(relevant, Mapping):
        return list(_relevant(queries, corpus, relevant, f"{path}: relevant_docs"))
    return found


def _squad(articles: Sequence[Any], path: Path) -> Iterator[dict[str, Any]]:
    for place, article in enumerate(articles):
        for paragraph in _mappings(article, "paragraphs", f"{path}: article {place}"):
            for asked in _mappings(paragraph, "qas", f"{path}: article {place}: a paragraph"):
                about = {"context": paragraph.get("context"), "document": article.get("title")}
                answers = [] if asked.get("is_impossible") is True else asked.get("answers")
                yield {**about, "id": asked.get("id"), "question": asked.get("question"), "answers": answers}


def _mappings(holder: Any, key: str, where: str) -> list[Mapping[str, Any]]:
    """Return a list of mappings, which must be there."""
    inner = holder.get(key) if isinstance(holder, Mapping) else None
    if not isinstance(inner, list) or not all(isinstance(each, Mapping) for each in inner):
        there = f" (it has {keys_of(holder)})" if isinstance(holder, Mapping) else ""
        raise DataError(f"{where} must have a list `{key}` of mappings, as SQuAD has{there}")
    return inner


def _relevant(
    queries: Mapping[str, Any], corpus: Mapping[str, Any], relevant: Mapping[str, Any], where: str
) -> Iterator[dict[str, Any]]:
    """Yield questions whose evidence are the relevant texts of a corpus."""
    for name, query in queries.items():
        wanted = relevant.get(name, [])
        if not isinstance(wanted, list) or not all(isinstance(each, str) and each in corpus for each in wanted):
            raise DataError(f"{where} of the query {quoted(name)} must be keys of corpus")
        yield {"id": name, "question": query, "reference_contexts": [corpus[each] for each in wanted]}


def _beir(home: Path) -> Table:
    """Read a data set of BEIR: questions that the judgments of one split name; relevant is a grade from 1 on."""
    there = sorted(each.name for each in home.iterdir())
    splits = sorted(path for path in (home / "qrels").glob("*.tsv"))
    judged = next((path for path in splits if path.name == "test.tsv"), splits[0] if len(splits) == 1 else None)
    if judged is None or not {"corpus.jsonl", "queries.jsonl"} <= {*there}:
        raise DataError(
            f"{home}: a folder of questions is BEIR's, with corpus.jsonl, queries.jsonl and qrels/test.tsv; it has "
            f"{keys_of([*there, *(f'qrels/{path.name}' for path in splits)])}"
        )
    texts = {"id": ("_id",), "text": ("text",), "title": ("title",)}
    queries, corpus = (read_table(home / name, texts, ("id", "text")) for name in ("queries.jsonl", "corpus.jsonl"))
    held = {str(row.parts.get("id")): row.parts.get("text") or row.parts.get("title") or "" for row in corpus.rows}
    grades = read_qrels(judged).grades
    asked = [row for row in queries.rows if str(row.parts.get("id")) in grades]
    names = {str(row.parts["id"]): row.parts.get("text") for row in asked}
    relevant = {name: [each for each, grade in grades[name].items() if grade > 0] for name in names}
    questions = _relevant(names, held, relevant, f"{judged}: the documents")
    rows = [
        Row(row.where, {"id": each["id"], "question": each["question"], "evidence": each["reference_contexts"]})
        for row, each in zip(asked, questions, strict=True)
    ]
    left = len(queries.rows) - len(asked)
    notes = [f"{counted(left, 'query', 'queries')} that {judged.name} does not judge, left out"] if left else []
    return Table(rows, [], notes, queries.columns)


_NO_ANSWER = "the answer to given question is not present in context"
"""The sentence of RAGAS in the place of an answer that it did not find."""


class Repair(NamedTuple):
    """A fault of a question that its owner can repair: the candidate's id, file and line, the fault, and details."""

    candidate: str
    where: str
    fault: str
    detail: str


_REMOVES = {
    "evidence not found": "evidence_not_on_its_page",
    "answer not in evidence": "answer_not_in_evidence",
    "no answer": NO_ANSWER,
    "ambiguous document": "ambiguous_document",
}
"""Faults that are found as a set is read, and the rule, or the reason of one, that removes a question for them."""


class Brought(NamedTuple):
    """The candidates of a file, in its order, what should be repaired, and what to know of the file."""

    candidates: tuple[Candidate, ...]
    repairs: tuple[Repair, ...]
    notes: tuple[str, ...]


def all_repairs(
    repairs: Sequence[Repair], removals: Sequence[Removal], candidates: Sequence[Candidate]
) -> tuple[Repair, ...]:
    """Return all faults of imported questions, question by question: also what rules removed for another reason.

    Args:
        repairs: faults that were found as the set was read.
        removals: of the candidates; the fault is the rule in words.
        candidates: all of them, in their order.
    """
    known = {(repair.candidate, _REMOVES.get(repair.fault)) for repair in repairs}
    imported = {candidate.id: candidate.made_by for candidate in candidates if candidate.origin == "imported"}
    removed = [
        Repair(each.candidate, imported[each.candidate], rule_name(each.rule), each.reason)
        for each in removals
        if each.candidate in imported and not known & {(each.candidate, each.rule), (each.candidate, each.reason)}
    ]
    places = {name: place for place, name in enumerate(imported)}
    return tuple(sorted((*repairs, *removed), key=lambda repair: places[repair.candidate]))


def read_candidates(
    path: Path, truth: Mapping[str, Sequence[Page]], missing: Mapping[str, int] | None = None
) -> Brought:
    """Read a question set and locate its evidence in the ground truth.

    Args:
        path: a file in one of the layouts of `layouts`, a table of any form, or a folder of BEIR.
        truth: pages by document.
        missing: how many pages of a document nothing read, also of documents without any ground truth.

    Raises:
        DataError: it is none, or a question is not sound.
    """
    table = read_rows(path)
    rows, notes = _own_parts(table.rows, path)
    if not rows:
        blank = f": {counted(len(table.rows), 'row')} with a blank one" if table.rows else ""
        raise DataError(f"{path}: holds no question{blank}")
    texts = Texts(truth)
    passages = [_passages(row) for row in rows]
    missing = missing or {}
    places = Places(texts, {passage for own in passages for passage in own}, tuple(missing))
    candidates = [
        _candidate(row, name, own, places) for name, row, own in zip(_names(rows), rows, passages, strict=True)
    ]
    ids = Counter(candidate.id for candidate in candidates)
    if twice := [name for name, count in ids.items() if count > 1]:
        raise DataError(f"{path}: {counted(len(twice), 'id')} used more than once: {named(twice)}")
    notes = [*table.notes, *notes, *([f"{path.name}: not used: {named(table.unused)}"] if table.unused else [])]
    notes += [*_doubts(rows, candidates, places), *places.notes]
    return Brought(tuple(candidates), tuple(_repairs(candidates, texts, missing)), tuple(notes))


def _own_parts(rows: Sequence[Row], path: Path) -> tuple[list[Row], list[str]]:
    """Leave out rows without a question, and what a system answered and retrieved; returns what to say of it."""
    notes: list[str] = []
    asked = [row for row in rows if not is_blank(row.parts.get("question"))]
    if blank := len(rows) - len(asked):
        notes.append(f"{path.name}: {counted(blank, 'row')} without a question left out")
    there = {part for row in asked for part, value in row.parts.items() if not is_blank(value)}
    is_answered = "response" in there or {"answers", "answer"} <= there
    foreign = {"response"} | ({"answer"} if "answers" in there else set())
    if is_answered or "evidence" in there:
        foreign |= {"contexts"}
    if left := sorted(foreign & there):
        notes.append(f"{path.name}: taken for what a system answered or retrieved, not used: {named(left)}")
    own = [Row(row.where, {part: value for part, value in row.parts.items() if part not in foreign}) for row in asked]
    return own, notes


def _doubts(rows: Sequence[Row], candidates: Sequence[Candidate], places: Places) -> Iterator[str]:
    """Yield what is not known of the questions, with counts."""
    if silent := sum(not candidate.task for candidate in candidates):
        stays = "an answer that is not in the evidence is not removed, since it may be worked out"
        yield f"{counted(silent, 'question')} without the task_type understanding or reasoning: {stays}"
    names = [name for row in rows if (name := text_of(row.parts.get("document")).strip()) and not places.named(name)]
    if names:
        several = counted(len(names), "question")
        yield f"{several} about a document that is not there by this name, looked for in all: {named(names)}"


def of_question(question: Question) -> Candidate:
    """Return a benchmark's question as a candidate; evidence that is one passage for several pages is on the first."""
    passages = zip(question.pages, question.evidence, strict=len(question.evidence) > 1)
    return Candidate(
        id=question.id,
        question=question.text,
        answers=question.answers,
        document=question.document,
        evidence=tuple(Evidence(page, text) for page, text in passages),
        source=next((source for source in SOURCES if source == question.evidence_source), "text"),
        task="reasoning" if question.task_type == "reasoning" else "understanding",
        answer_form=question.answer_form,
        language=written_in(question.text),
        origin="imported",
    )


def _first(row: Row, *parts: str) -> Any:
    return next((row.parts[part] for part in parts if not is_blank(row.parts.get(part))), None)


def _passages(row: Row) -> tuple[str, ...]:
    texts = texts_of(_first(row, "evidence", "contexts"), row.where, "evidence") or ()
    return tuple(passage for passage in texts if passage.strip())


def _answers(row: Row) -> tuple[str, ...]:
    given = _first(row, "answers", "answer")
    listed = [each for each in given if each is not None] if isinstance(given, list) else given
    texts = texts_of(spelled(listed), row.where, "answers") or ()
    return tuple(text for text in texts if text.strip() and text.strip().rstrip(".").casefold() != _NO_ANSWER)


def _names(rows: Sequence[Row]) -> Iterator[str]:
    """Yield names for questions without an id: the same in a file with other rows, as decisions are about them."""
    used: Counter[str] = Counter()
    for row in rows:
        about = (text_of(row.parts.get(part)) for part in ("question", "document"))
        name = f"q{key('imported question', *about)[:8]}"
        used[name] += 1
        yield name if used[name] == 1 else f"{name}-{used[name]}"


def _candidate(row: Row, default: str, passages: Sequence[str], places: Places) -> Candidate:
    parts = {name: value for name, value in row.parts.items() if not is_blank(value)}
    question = parts.get("question")
    if not isinstance(question, str):
        raise DataError(f"{row.where}: its question must be one text (got {quoted(question)})")
    source = parts.get("source", "text")
    if source not in SOURCES:
        raise DataError(f"{row.where}: evidence_source must be one of {', '.join(SOURCES)} (got {quoted(source)})")
    document, evidence = places.of(passages, text_of(parts.get("document")).strip())
    return Candidate(
        id=id_of(parts["id"], row.where) if "id" in parts else default,
        question=question.strip(),
        answers=_answers(row),
        document=document,
        evidence=evidence,
        source=source,
        task=parts["task"] if parts.get("task") in ("understanding", "reasoning") else "",
        answer_form=text_of(parts.get("form")) or "String",
        language=written_in(question),
        origin="imported",
        made_by=row.where,
    )


def _repairs(candidates: Sequence[Candidate], texts: Texts, missing: Mapping[str, int]) -> Iterator[Repair]:
    shared = {removal.candidate: removal.reason for removal in ambiguous_document.check(candidates, texts)}
    for candidate in candidates:
        absent = [passage for passage in candidate.evidence if passage.start < 0]
        for passage in absent:
            detail = f"{quoted(passage.text)}; {_near(passage, candidate.document, texts, missing)}"
            yield Repair(candidate.id, candidate.made_by, "evidence not found", detail)
        if not candidate.answers:
            yield Repair(candidate.id, candidate.made_by, "no answer", "the question has none")
        if not candidate.evidence:
            yield Repair(candidate.id, candidate.made_by, "evidence not found", "the question has none")
        elif not absent and candidate.task != "reasoning" and (reason := what_evidence_lacks(candidate)):
            hint = "" if candidate.task else "; if it is worked out, write task_type reasoning"
            yield Repair(candidate.id, candidate.made_by, "answer not in evidence", reason + hint)
        if candidate.id in shared:
            yield Repair(candidate.id, candidate.made_by, "ambiguous document", shared[candidate.id])


def _near(passage: Evidence, document: str, texts: Texts, missing: Mapping[str, int]) -> str:
    """Return in words what is like a passage that no page holds, and how many pages of its document nothing read."""
    page = texts.pages.get((document, passage.page))
    if page is None:
        near = "no page resembles it"
    else:
        near = f"best match: {quoted(best_match(page, passage.text))} on page {passage.page + 1} of {document}"
    unread = missing.get(document, 0)
    return f"{near}; no engine read {counted(unread, 'page')} of {document}" if unread else near
