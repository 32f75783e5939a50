"""Question sets that others made, as rows of the parts that a question has: a small function for each layout.

Their names: `ragas.dataset_schema.SingleTurnSample` (`user_input`, `reference`, `reference_contexts`), whose test sets
had `question`, `ground_truth`, `contexts` and `evolution_type` before 0.2;
`llama_index.core.llama_dataset.LabelledRagDataset` (`examples` with `query`, `reference_answer`, `reference_contexts`);
`llama_index.core.evaluation.EmbeddingQAFinetuneDataset` (`queries`, `corpus` and `relevant_docs`, no answers) and
`QueryResponseDataset` (`queries` and `responses`); `giskard.rag.QATestset` (`question`, `reference_answer`,
`reference_context`); `deepeval.dataset.Golden` (`input`, `expected_output`, `context`, `source_file`); OpenAI's evals
(`input`, `ideal`); SQuAD's `data[].paragraphs[].qas[]`, and its rows as Hugging Face has them; BEIR's `corpus.jsonl`,
`queries.jsonl` and `qrels`. None of them names pages.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ohr.errors import DataError
from ohr.files.foreign_answers.inspect_ai import asked_in
from ohr.files.foreign_answers.rows import parsed_mapping
from ohr.files.question_tables import DOCUMENT
from ohr.files.tables import Names, Row, Table, is_blank, read_table, refuse_lacking
from ohr.files.trec import read_qrels
from ohr.messages.wording import counted, keys_of, quoted

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
    """Read the rows of a file, or of a folder of BEIR; `input`, `text` and `expected` are under what they stand for.

    Raises:
        DataError: it cannot be read, or has no questions.
    """
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
