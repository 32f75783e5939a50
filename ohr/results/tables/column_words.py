"""The meaning of each column of a run's tables: one for a name, and another where a table needs it."""

COLUMNS = {
    # the question
    "question_id": "the question",
    "document": "the document",
    "domain": "the document's domain",
    "evidence_source": "the kind of evidence of the question, such as `text` or `table`",
    "answer_form": "the form of the accepted answer, such as `Numeric`",
    "task_type": "the benchmark's kind of task",
    "multi_page": "whether the evidence is on several pages",
    # the knowledge base
    "kb": "the knowledge base, with level and draw: `formatting-0.3#1`",
    "condition": "the knowledge base without the draw: `formatting-0.3`",
    "noise": "name of the entry of `knowledge_bases`; its levels make one curve",
    "noise_type": "`none`, `formatting` or `semantic`",
    "knob": "the field that sets the level; empty without levels",
    "knob_value": "the value of that field, as text",
    "replicate": "the draw of the noise, from 0",
    # the rest of the cell
    "stage": "`page` (the knowledge base itself), `retrieval`, `generation` or `overall`",
    "chunker": "name of the chunker; null where the stage has none",
    "retriever": "name of the retriever, or of an agent or system that looked at pages; null where the stage has none",
    "generator": "name of the generator, agent or system that answered; null where the stage has none",
    "agent": "name of the agent",
    "metric": "the metric",
    # pages
    "page": "the page, from 0",
    "text": "the text",
    # counts
    "n": "questions",
    "documents": "documents of these questions",
    "failed": "how many of these questions failed; each counts as 0",
    "note": "`points only` (fewer than 5 documents, no interval), `few documents` (fewer than 10 effective), or empty",
    # estimates
    "low": "lower end of the 95% interval over documents",
    "high": "upper end",
    "se": "standard error over documents",
    "df": "its degrees of freedom",
    "interval": "how the interval was made: `logit`, `near edge`, `edge`, `t`, `rare`, or empty",
    "effective_documents": "equally large documents that these are worth",
    # what a reply took
    "tokens_in": "tokens that were sent",
    "tokens_out": "tokens of the replies",
    "seconds": "seconds; of a result from the store, those that it took when it was made",
    "seconds_retrieval": "seconds of the search, where a system states them; otherwise none",
    "seconds_generation": "seconds of the model, where a system states them; otherwise none",
    "finish": "how the reply ended: `stop`, `length` (cut at the longest reply) or `error`",
    "error": "the reason of a failure; null without one",
    "reply": "the whole reply",
    "searches": "searches",
    "turns": "messages of the longest conversation; 1 for a generator",
    "images": "pictures in all calls; one that is sent again counts again",
    "pages_shown": "different pages that were looked at; null for a generator",
    "calls": "calls of models; a generator has one",
}
"""Meanings that hold in every table that has the column."""

MEASURED_TABLES: dict[str, dict[str, str]] = {
    "treatments": {
        "treatment": "the repair, with its number where it comes several times",
        "changed": "whether it changed the page",
        "outcome": "of a correction: `corrected`, or why the page stays as it is; null for others",
        "record": "what it did, as JSON: the degrees of a turn, the lines that were removed",
    },
    "questions": {
        "text": "the question's words",
        "answers": "accepted answers",
        "evidence": "the passages that the answer needs",
        "pages": "pages of the evidence, from 0",
        "relevant": "pages that were judged, with their grades; empty where all of `pages` count the same",
        "clean_text": "whether the ground truth has any text on its pages; without, the question is in no mean and no "
        "comparison of a run with clean text, but in the rows by `clean_text`",
        "groups": "the benchmark's own groups, as `name=value`",
    },
    "readings": {
        "reader": "the model that a server named, or the engine's part that read the page; empty if there is one only",
        "finish": "`stop`; `length`, cut at the longest reply; `repeat`, in a loop that repeats its last words",
        "tokens_in": "tokens of the page, of engines that count them",
        "tokens_out": "tokens of the reply, of engines that count them",
        "seconds": "wall time of the page, or its share of a document's",
        "confidence": "mean over the page's words, in [0, 1], of engines that report it",
    },
    "texts": {"text": "the page's text in the knowledge base", "error": "why the text is empty, where the page failed"},
    "scores": {
        "stage": "`page`, `retrieval`, `generation`, `overall`, or `reference`: answers under the conditions "
        "`closed_book`, `shuffled_context`, `evidence_only` and `constant`, named in `noise` and `kb`",
        "status": "`ok` or `failed`: a page that the question needs, its retriever, its answer or the metric failed",
        "value": "the score; 0 where it failed (the stage `page` stays as measured), nan where it is undefined",
    },
    "swap_scores": {"noisy": "the stage that is noisy: `index` or `reading`"},
    "hits": {
        "document": "the chunk's document; empty for a context that is on no page",
        "page": "the first page of the chunk, from 0",
        "pages": "all pages of the chunk",
        "rank": "its place, from 1",
        "score": "the retriever's own score",
        "start": "where the chunk begins, in characters of its first page",
        "end": "where it ends, in characters of that page",
        "text": "the chunk's text",
    },
    "answers": {
        "answer": "the text that was scored",
        "reply": "the generator's whole reply; of an agent, the text that the answer was taken from",
        "truncated": "whether the prompt was cut",
        "end": "how an agent ended: `answered`, `not_answerable`, `no_evidence`, `unparsed` or `budget`; null for a "
        "generator, and for a question that failed",
        "searches": "searches; a generator has one in the stage `overall`",
        "shared_calls": "calls that do not depend on the question, such as summaries of pages; in no other count",
    },
    "steps": {
        "number": "place of the step, from 0",
        "kind": "`ask` or `search`",
        "role": "which of the agent's models or retrievers",
        "query": "words of the search; of a call the text of its last message, at most 4,000 characters",
        "pages": "pages that were found, or shown in the call, as `document:index` with the index from 0",
        "turns": "messages of the call's conversation",
        "images": "pictures of the call's conversation",
        "attempt": "number of the try, from 0",
        "shared": "whether the call does not depend on the question",
        "cached": "whether it was in the store, or another question of the run had made it",
        "finish": "how the call ended; null for a search",
    },
    "judgements": {
        "judge": "kind of the generator that judges",
        "prompt_sha256": "hash of its prompt, as in the manifest",
        "reply": "the judge's whole reply",
        "score": "the grade, in [0, 1]; null without one",
        "error": "why there is no grade; null without an error",
    },
    "pages": {
        "sources": "kinds of evidence of the questions about the page",
        "empty": "whether all of its text is gone",
        "words": "words of the ground truth's page, as the metrics cut them; only where text noise edited the document",
    },
    "page_statistics": {
        "edit_distance": "the page's distance from the ground truth: Levenshtein over the longer text",
        "edit_distance_content": "the same with markup stripped",
        "redundant": "formatting commands beyond those of the ground truth",
    },
    "edits": {"rule": "the rule of the text noise", "edits": "edits that it made on the page"},
    "failures": {
        "stage": "the stage that failed",
        "item": "the page, question or other item that failed",
        "reason": "why",
        "kind": "`error`, or `missing`: recorded results do not have the page",
    },
}
"""Meanings in one table of what was measured, before those above."""
