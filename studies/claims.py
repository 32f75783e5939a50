"""The sentences of the example studies, with their numbers read from the kept runs."""

from collections.abc import Callable, Mapping
from textwrap import fill

from ohr.messages.wording import counted
from ohr.report.lead import in_points, loss_by_stage, rounded
from ohr.results.derived.losses import Loss, read_losses
from ohr.results.run import Run

_WIDTH = 150  # letters of a line of the documentation


def cascade(run: Run) -> str:
    blur, photo, retrieval = "blurred scan-0.7", "photo from the side-0.9", "retrieval"
    formatting, searched = (_loss(run, retrieval, condition, "bm25") for condition in ("formatting", blur))
    edited, blurred = (loss_by_stage(run, loss) for loss in (formatting, searched))
    answered = _loss(run, "overall", blur, "bm25")
    side, dense = (_loss(run, retrieval, photo, retriever) for retriever in ("bm25", "dense"))
    return _paragraphs(
        f"On {_size(side)}, the steepest photos from the side cost BM25 {_cost(side)} of retrieval and MiniLM "
        f"{_cost(dense)}. Answers of a model of 1.5 billion parameters seem to lose {_cost(answered)} where "
        "scans are most blurred, but so few questions do not show it.",
        f"What to repair depends on the noise. Formatting noise costs BM25 {_cost(formatting)} of retrieval; "
        f"{_share(edited)} of that arises in the index, where other passages are found. The worst blur costs "
        f"{_cost(searched)}; {_share(blurred)} of that arises in the index. Clean text to read brings back "
        f"{_gain(blurred, 'gain_of_repairing_reading')} of it, a clean index "
        f"{_gain(blurred, 'gain_of_repairing_index')}; the rest takes both. Brackets are 95% intervals.",
    )


def engines(run: Run) -> str:
    cost = {
        condition: _cost(_loss(run, "retrieval", condition, "bm25"))
        for engine in ("tesseract", "rapidocr", "pp_structure")
        for condition in (engine, f"{engine} photo", f"{engine} fax")
    }
    text, table = (_left(run, "retrieval", group) for group in ("text", "table"))
    size = _size(_loss(run, "retrieval", "tesseract", "bm25"))
    return _paragraphs(
        f"On {size}, no difference between the engines is shown on plain print: BM25 loses {cost['tesseract']} with "
        f"Tesseract, {cost['rapidocr']} with RapidOCR and {cost['pp_structure']} with PP-Structure. In photos from the "
        f"side it is: BM25 loses {cost['tesseract photo']} with Tesseract, {cost['rapidocr photo']} with RapidOCR. "
        f"Faxes do not separate the engines: they cost {cost['tesseract fax']}, {cost['rapidocr fax']} and "
        f"{cost['pp_structure fax']}.",
        f"Where the evidence is in a table, BM25 scores {table['clean']} on clean text, {table['rapidocr photo']} on "
        f"photos that RapidOCR reads, and {table['tesseract photo']} on those that Tesseract reads; where it is in "
        f"running text, {text['clean']}, {text['rapidocr photo']} and {text['tesseract photo']}.",
    )


def engines_answers(run: Run) -> str:
    tesseract, rapidocr = (_loss(run, "overall", f"{engine} photo", "bm25") for engine in ("tesseract", "rapidocr"))
    text, table = (_left(run, "overall", group) for group in ("text", "table"))
    return _paragraphs(
        f"Answers of a model of 1.5 billion parameters lose {_cost(tesseract)} where Tesseract reads photos from the "
        f"side: of ten conditions, this is the only one whose loss of answers {_size(tesseract)} show. With RapidOCR "
        f"they seem to lose {_cost(rapidocr)}; that it does better than Tesseract is not shown for answers.",
        f"Where the evidence is in running text, the answers score {text['clean']} on clean text, "
        f"{text['rapidocr photo']} on photos that RapidOCR reads, and {text['tesseract photo']} on those that "
        f"Tesseract reads. Where it is in a table they score {table['clean']} on clean text, which leaves little to "
        "lose.",
    )


def agents(run: Run) -> str:
    blur = "blurred scan"
    agent, search = (_loss(run, "overall", blur, retriever) for retriever in ("", "bm25"))
    (repair,) = run.rows("repair", condition=blur)
    clean_ahead, ahead = (_ahead(repair, name) for name in ("clean_gap", "gap"))
    clean = {row["retriever"]: row for row in run.rows("effort", stage="overall", condition="clean")}
    tokens, seconds = ([clean[who][name] for who in (None, "bm25")] for name in ("tokens_in", "seconds"))
    answers = run.rows("answers", ["end"], generator="react")
    answered = sum(answer["end"] == "answered" for answer in answers)
    first_read = len(run.rows("steps", ["kind"], kind="ask", reply="<read>1</read>"))
    return _paragraphs(
        f"On {_size(agent)}, answers of a ReAct agent seem to lose {_cost(agent)} where scans are blurred, and those "
        f"of the same model from a single search {_cost(search)}: which loses less is not shown. Nor is it shown that "
        f"the agent is better, by {clean_ahead} on clean text and by {ahead} on blurred scans.",
        f"It ended {answered} of {counted(len(answers), 'question')} with an answer in its format. In {first_read} of "
        "them it read the page that its search listed first, which its prompts give as an example, and it never "
        "searched again: with a model of 1.5 billion parameters, this agent chooses nothing. On clean text it takes "
        f"{tokens[0] / tokens[1]:.1f} times the tokens of the single search ({tokens[0]:,.0f} against {tokens[1]:,.0f} "
        f"a question), and {seconds[0] / seconds[1]:.1f} times as long.",
    )


CLAIMS: Mapping[str, Callable[[Run], str]] = {
    "cascade": cascade,
    "engines": engines,
    "engines-answers": engines_answers,
    "agents": agents,
}
"""The sentences of each study, by its name."""


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(fill(text, _WIDTH) for text in texts) + "\n"


def _loss(run: Run, stage: str, condition: str, retriever: str) -> Loss:
    """Return the loss of a retriever's first pipeline under a condition, in the headline metric of a stage."""
    cell = (stage, run.headlines[stage], condition, retriever)
    return next(loss for loss in read_losses(run) if (loss.stage, loss.metric, loss.condition, loss.retriever) == cell)


def _cost(loss: Loss) -> str:
    """Write a loss with the interval that holds for all comparisons of its stage together."""
    return f"{rounded(loss.lost)} of {in_points(loss.clean)} [{rounded(loss.wide_low)} to {rounded(loss.wide_high)}]"


def _share(parts: Mapping[str, Mapping[str, float]]) -> str:
    value, low, high = (parts["index_part"][end] for end in ("value", "low", "high"))
    return f"{value:.0%} [{low:.0%} to {high:.0%}]"


def _gain(parts: Mapping[str, Mapping[str, float]], quantity: str) -> str:
    value, low, high = (parts[quantity][end] for end in ("value", "low", "high"))
    return f"{in_points(value)} [{rounded(low)} to {rounded(high)}]"


def _ahead(row: Mapping[str, float], gap: str) -> str:
    """Write by how much an agent's score is above that of a single search."""
    return f"{in_points(row[gap])} [{rounded(row[f'{gap}_low'])} to {rounded(row[f'{gap}_high'])}]"


def _left(run: Run, stage: str, group: str) -> dict[str, str]:
    """Write the scores of a stage by condition, for one source of evidence, each with its own interval."""
    rows = run.rows("summary", stage=stage, by="evidence_source", group=group, metric=run.headlines[stage])
    return {
        row["condition"]: f"{rounded(row['mean'])} [{rounded(row['low'])} to {rounded(row['high'])}]" for row in rows
    }


def _size(loss: Loss) -> str:
    return f"{counted(loss.pairs, 'question')} about {counted(loss.documents, 'document')}"
