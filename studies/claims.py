"""The sentences of the example studies, with their numbers read from the kept runs."""

from collections.abc import Callable, Mapping
from textwrap import fill

from ohr.messages.wording import counted
from ohr.report.engines import engine_pairs
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
    index, reading = "gain_of_repairing_index", "gain_of_repairing_reading"
    return _paragraphs(
        f"On {_size(side)}, the steepest photos from the side, which Tesseract reads, cost BM25 {_cost(side)} of "
        f"retrieval and MiniLM {_cost(dense)}. Answers of a model of 1.5 billion parameters seem to lose "
        f"{_cost(answered)} where scans are most blurred, but so few questions do not show it. Brackets are 95% "
        "intervals that hold for all conditions of a pipeline together; each noise was drawn once.",
        f"What to repair depends on the noise. Formatting noise costs BM25 {_cost(formatting)} of retrieval: repairing "
        f"only the index brings back {_gain(edited, index)}, repairing only the text that is read "
        f"{_gain(edited, reading)}. The worst blur costs {_cost(searched)}: repairing only the index brings back "
        f"{_gain(blurred, index)}, only the text that is read {_gain(blurred, reading)}; the rest, "
        f"{_gain(blurred, 'overlap')}, takes both. Each gain has an interval of its own.",
    )


def engines(run: Run) -> str:
    photo = _loss(run, "retrieval", "tesseract photo", "bm25")
    cost = {
        condition: _cost(_loss(run, "retrieval", condition, "bm25"))
        for engine in ("tesseract", "rapidocr", "pp_structure")
        for condition in (engine, f"{engine} photo", f"{engine} fax")
    }
    text, table = (_left(run, "retrieval", group) for group in ("text", "table"))
    return _paragraphs(
        f"On {_size(photo)}, no difference between the engines is shown on plain print: BM25 loses {cost['tesseract']} "
        f"with Tesseract, {cost['rapidocr']} with RapidOCR and {cost['pp_structure']} with PP-Structure, the only one "
        f"of these losses that is shown. On photos from the side BM25 loses {cost['tesseract photo']} with Tesseract, "
        f"{cost['rapidocr photo']} with RapidOCR: a difference of {_apart(run, photo, 'rapidocr photo')}. On faxes no "
        f"difference is shown: they cost {cost['tesseract fax']}, {cost['rapidocr fax']} and "
        f"{cost['pp_structure fax']}.",
        f"Where the evidence is in running text, BM25 scores {text['clean']} on clean text, {text['rapidocr']} on "
        f"plain print and {text['rapidocr photo']} on photos that RapidOCR reads, and {text['tesseract photo']} on "
        f"photos that Tesseract reads. Where it is in a table these are {table['clean']}, {table['rapidocr']}, "
        f"{table['rapidocr photo']} and {table['tesseract photo']}. Clean text is no ceiling there: its tables are "
        "LaTeX, whose commands may take the room of words.",
    )


def engines_answers(run: Run) -> str:
    tesseract, rapidocr = (_loss(run, "overall", f"{engine} photo", "bm25") for engine in ("tesseract", "rapidocr"))
    text, table = (_left(run, "overall", group) for group in ("text", "table"))
    return _paragraphs(
        f"Answers of a model of 1.5 billion parameters lose {_cost(tesseract)} where Tesseract reads photos from the "
        f"side: of ten conditions, this is the only one whose loss of answers {_size(tesseract)} show. With RapidOCR "
        f"they seem to lose {_cost(rapidocr)}; that it does better than Tesseract, by "
        f"{_apart(run, tesseract, 'rapidocr photo')}, is not shown for answers.",
        f"Where the evidence is in running text, the answers score {text['clean']} on clean text, "
        f"{text['rapidocr photo']} on photos that RapidOCR reads, and {text['tesseract photo']} on those that "
        f"Tesseract reads. Where it is in a table they score {table['clean']} on clean text, whose tables are LaTeX, "
        f"and {table['text layer']} on the text layer, which has none.",
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
        f"On {_size(agent)}, answers of a ReAct agent that reads whole pages seem to lose {_cost(agent)} where scans "
        f"are blurred, and those of the same model from three passages of a single search {_cost(search)}: which "
        f"loses less is not shown. Nor is it shown that the agent is better, by {clean_ahead} on clean text and by "
        f"{ahead} on blurred scans.",
        f"It ended {answered} of {counted(len(answers), 'question')} with an answer in its format. In {first_read} of "
        "them it read the page that its search listed first, which its prompts give as an example, and it never "
        "searched again: with a model of 1.5 billion parameters, this agent chooses nothing. On clean text it is sent "
        f"{tokens[0]:,.0f} tokens and takes {seconds[0]:.0f} seconds a question; the single search, {tokens[1]:,.0f} "
        f"and {seconds[1]:.0f}.",
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


def _apart(run: Run, worse: Loss, better: str) -> str:
    """Write by how much the score under one condition is above that of a loss, judged with all pairs of engines."""
    (pair,) = (
        pair
        for pair in engine_pairs(run, worse)
        if (pair.first.condition, pair.second.condition) == (worse.condition, better)
    )
    low, high = -pair.found.wide_high, -pair.found.wide_low
    return f"{in_points(-pair.found.difference.mean)} [{rounded(low)} to {rounded(high)}]"


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
