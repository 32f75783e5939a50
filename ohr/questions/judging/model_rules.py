"""The rules that ask models, each with all its prompts in one call for each model, or two where replies decide."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from ohr.contracts import Completion, Prompt
from ohr.messages.wording import named, quoted, shortened
from ohr.questions.candidate import Candidate, Evidence, Model, Removal
from ohr.questions.candidate_rules import Check, Rule
from ohr.questions.judging.answer_agreement import RIGHT_WRONG, TASKS, agrees, named_in, stated, verdict, yes_or_no_of
from ohr.questions.judging.judge_prompts import ModelRule, Settings, shared, templates
from ohr.questions.truth_texts import Texts
from ohr.text.thoughts import without_thoughts

_LINE = re.compile(r"\\(?:hline|midrule)\b")
_HEADS = (
    re.compile(r"</thead>|</tr>", re.IGNORECASE),
    re.compile(r"^[ \t]*\|[-| :\t]+\|[ \t]*$", re.MULTILINE),
)
"""Ends of the head of a table in HTML and Markdown; in LaTeX it is the second line."""


def shown(candidate: Candidate, texts: Texts) -> tuple[str, ...]:
    """Return the passages of a candidate's evidence, as OHRBench shows them: what surrounds them is left out.

    A passage that begins within a table is given the head of that table, without which its cells mean nothing.
    """
    return tuple(_with_head(candidate, passage, texts) for passage in candidate.evidence)


def parts(candidate: Candidate, texts: Texts) -> list[tuple[str, ...]]:
    """Return the parts of the evidence of which none must answer a question alone, if there are several.

    They are the pages of a multi-page question, and the passages, or else the paragraphs, of one on reading order.
    """
    passages = list(zip(candidate.evidence, shown(candidate, texts), strict=True))
    if len(candidate.pages) > 1:
        divided = [tuple(text for passage, text in passages if passage.page == page) for page in candidate.pages]
    elif candidate.source != "reading_order":
        divided = []
    elif len(passages) > 1:
        divided = [(text,) for _, text in passages]
    else:
        divided = [(text,) for _, passage in passages for text in passage.split("\n\n") if text.strip()]
    return divided if len(divided) > 1 else []


def _with_head(candidate: Candidate, passage: Evidence, texts: Texts) -> str:
    span = texts.span(candidate.document, passage.page, passage.text)
    if not span:
        return passage.text
    for region in texts.regions(candidate.document, passage.page):
        if region.kind in ("table", "chart") and region.start < span[0] < region.end:
            before = texts.pages[candidate.document, passage.page][region.start : span[0]]
            head = before[: _end_of_head(before)].rstrip()
            return f"{head}\n{passage.text}" if head else passage.text
    return passage.text


def _end_of_head(table: str) -> int:
    """Return where the head of a table ends; 0 where its beginning does not reach that far."""
    lines: Sequence[re.Match[str]] = list(_LINE.finditer(table))
    first = [line.start() for line in lines if "&" in table[: line.start()]][:1]
    ends = first or [match.end() for pattern in _HEADS if (match := pattern.search(table))]
    return min(ends, default=0)


class Reply(NamedTuple):
    """A model's reply without its thoughts; a `fault` says why it cannot be used."""

    text: str
    fault: str = ""


class Question(NamedTuple):
    """A prompt, and what makes a reply to it right."""

    prompt: Prompt
    is_right: Callable[[str], bool]


Sample = tuple[Reply, ...]
"""A model's replies to the prompts about a candidate."""


def ask(models: Sequence[Model], prompts: Sequence[Sequence[Prompt]], samples: int = 1) -> list[list[Sample]]:
    """Return the samples of each candidate, model by model; each model is asked once, for all its replies."""
    replies: list[list[Sample]] = [[] for _ in prompts]
    if not any(prompts):
        return replies
    for model, count in zip(models, shared(samples, len(models)), strict=True):
        tries = [(place, number) for place, own in enumerate(prompts) if own for number in range(count)]
        asked = [replace(prompt, attempt=number) for place, number in tries for prompt in prompts[place]]
        completions = iter(model.ask(asked))
        for place, _ in tries:
            replies[place].append(tuple(reply_of(next(completions)) for _ in prompts[place]))
    return replies


def reply_of(completion: Completion) -> Reply:
    """Read a completion: of a reply that was cut, the lines before the cut count."""
    if completion.error is not None or completion.finish == "error":
        return Reply("", f"the model failed: {shortened(completion.error or 'without a reason')}")
    if completion.truncated:
        return Reply("", "the prompt was cut to fit the model")
    text = without_thoughts(completion.text).strip()
    if completion.finish == "length":
        text = text.rpartition("\n")[0].strip()
        return Reply(text, "" if text else "the reply was cut")
    return Reply(text, "" if text else "the reply is empty")


def usable(samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples of which all replies can be used."""
    return [sample for sample in samples if not any(reply.fault for reply in sample)]


def faults(samples: Sequence[Sample]) -> str:
    """Return why no reply can be used: the first fault, or else what the first reply says."""
    replies: Iterator[Reply] = (reply for sample in samples for reply in sample)
    first = next(iter(sorted(replies, key=lambda reply: not reply.fault)), Reply("", "no model was asked"))
    return first.fault or f"the reply has no verdict: {quoted(first.text)}"


_DEFAULTS = Settings()
_YES_NO_WORDS = {"zh": ("是", "否")}


def model_rules(
    judges: Sequence[Model], answerers: Sequence[Model], settings: Settings = _DEFAULTS
) -> tuple[Rule, ...]:
    """Make the rules that ask models; one that is off, or has no model, is in its place and does not run.

    A candidate about which no model gives a reply that can be used is removed as undecided.

    Args:
        judges: say whether a question needs its page, and which task it is; the verdict of most of them counts.
        answerers: answer questions without documents, from a part of the evidence, and from all of it. Samples of a
            model that always gives the same reply are worth one.
        settings: how many samples are taken, and which rules are off.
    """
    closed_book = partial(_closed_book, models=answerers, samples=settings.closed_book)
    confirmed = partial(_confirmed, models=answerers, samples=settings.samples, least=settings.confirmed)
    rules: dict[ModelRule, tuple[Sequence[Model], Check]] = {
        "judged_context_dependent": (judges, partial(_context, judges=judges)),
        "answerable_without_documents": (answerers, closed_book),
        "unfaithful_to_task": (judges, partial(_task, judges=judges)),
        "answerable_from_one_page": (answerers, partial(_one_page, models=answerers)),
        "answer_not_confirmed": (answerers, confirmed),
    }
    return tuple(
        Rule(name, check, runs=bool(models) and name not in settings.off) for name, (models, check) in rules.items()
    )


class _Case(NamedTuple):
    """Prompt about a candidate for a judge, the verdict that it should give, and how its reply is read."""

    candidate: Candidate
    right: str
    prompt: Prompt
    read: Callable[[str], str]


def _context(candidates: Sequence[Candidate], texts: Texts, judges: Sequence[Model]) -> Iterator[Removal]:  # noqa: ARG001 # as every check
    """Remove questions in which a judge finds no name; which document they are about only their page says."""
    cases = [
        _Case(each, "names", templates(each.language).context_dependent.prompt(each), partial(named_in, each.question))
        for each in candidates
    ]
    reason = "a judge finds no name in it, by which its document could be found"
    yield from _judged("judged_context_dependent", cases, judges, lambda *_: reason)


def _task(candidates: Sequence[Candidate], texts: Texts, judges: Sequence[Model]) -> Iterator[Removal]:
    """Remove questions of another task than they were written for; imported ones were written for none."""
    cases = []
    for each in (each for each in candidates if each.origin != "imported"):
        prompt = templates(each.language).task.prompt(each, shown(each, texts), each.answers[0])
        cases.append(_Case(each, each.task, prompt, partial(verdict, words=TASKS)))
    reason = "written as a question of {}, judged to be one of {}".format
    yield from _judged("unfaithful_to_task", cases, judges, reason)


def _judged(
    rule: ModelRule, cases: Sequence[_Case], judges: Sequence[Model], reason: Callable[[str, str], str]
) -> Iterator[Removal]:
    """Remove candidates about which most judges do not say what is right; where as many say either, undecided.

    `reason` is made of what is right and what they say.
    """
    asked = ask(judges, [[case.prompt] for case in cases])
    for (candidate, right, _, read), samples in zip(cases, asked, strict=True):
        said = Counter(filter(None, (read(reply.text) for (reply,) in usable(samples))))
        most = said.most_common(2)
        if not most:
            yield Removal(candidate.id, rule, faults(samples), undecided=True)
        elif len(most) > 1 and most[0][1] == most[1][1]:
            words_said = named([f"{count} {name}" for name, count in most])
            yield Removal(candidate.id, rule, f"judges disagree: {words_said}", undecided=True)
        elif most[0][0] != right:
            yield Removal(candidate.id, rule, reason(right, most[0][0]))


def _questions(candidate: Candidate, passages: Sequence[str] = ()) -> tuple[Question, ...]:
    """Return the questions that a model must all get right to know an answer from passages, or by itself.

    To yes or no, one reply is right half of the time, and a model may prefer one word. It is therefore also asked
    whether yes is right, and whether no is: replies that are drawn by chance are all three right once in eight times.
    """
    own = templates(candidate.language)
    questions = (Question(_direct(candidate, passages), partial(_gives_answer, candidate)),)
    if (right := yes_or_no_of(candidate.answers, candidate.answer_form)) is None:
        return questions
    claim = own.claim_on_passages if passages else own.claim
    yes, no = _YES_NO_WORDS.get(candidate.language, ("Yes", "No"))
    claims = ((yes, "right" if right else "wrong"), (no, "wrong" if right else "right"))
    return questions + tuple(
        Question(claim.prompt(candidate, passages, word), partial(_says, expected)) for word, expected in claims
    )


def _direct(candidate: Candidate, passages: Sequence[str] = ()) -> Prompt:
    own = templates(candidate.language)
    hint = "" if yes_or_no_of(candidate.answers, candidate.answer_form) is None else own.yes_or_no
    return (own.answer if passages else own.closed_book).prompt(candidate, passages, hint=hint)


def _gives_answer(candidate: Candidate, reply: str) -> bool:
    return agrees(reply, candidate.answers, candidate.answer_form, candidate.question)


def _says(expected: str, reply: str) -> bool:
    return verdict(reply, RIGHT_WRONG) == expected


def _ask(models: Sequence[Model], questions: Sequence[Sequence[Question]], samples: int = 1) -> list[list[Sample]]:
    """Ask the first question about each candidate, and the others where a reply to the first is right."""
    first = ask(models, [[own[0].prompt] for own in questions], samples)
    others = [
        [question.prompt for question in own[1:]] if any(own[0].is_right(reply.text) for (reply,) in replies) else []
        for own, replies in zip(questions, first, strict=True)
    ]
    second = ask(models, others, samples)
    return [
        [one + two for one, two in zip(replies, further, strict=True)] if further else replies
        for replies, further in zip(first, second, strict=True)
    ]


def _knows(sample: Sample, questions: Sequence[Question]) -> bool:
    return len(sample) == len(questions) and all(
        question.is_right(reply.text) for question, reply in zip(questions, sample, strict=True)
    )


def _closed_book(
    candidates: Sequence[Candidate],
    texts: Texts,  # noqa: ARG001
    models: Sequence[Model],
    samples: int,
) -> Iterator[Removal]:
    """Remove questions that a model answers without documents in any sample."""
    rule: ModelRule = "answerable_without_documents"
    questions = [_questions(candidate) for candidate in candidates]
    asked = _ask(models, questions, samples)
    for candidate, own, replies in zip(candidates, questions, asked, strict=True):
        right = [sample for sample in usable(replies) if _knows(sample, own)]
        if right:
            yield Removal(candidate.id, rule, f"a model answers without documents: {quoted(stated(right[0][0].text))}")
        elif not usable(replies):
            yield Removal(candidate.id, rule, faults(replies), undecided=True)


def _one_page(candidates: Sequence[Candidate], texts: Texts, models: Sequence[Model]) -> Iterator[Removal]:
    """Remove questions that need several parts of their evidence if a model answers them from one.

    Whether they can be answered without any is what `answerable_without_documents` finds out.
    """
    rule: ModelRule = "answerable_from_one_page"
    divided = [(candidate, shares) for candidate in candidates if (shares := parts(candidate, texts))]
    tried = [
        (candidate, place, _questions(candidate, share))
        for candidate, own in divided
        for place, share in enumerate(own, 1)
    ]
    asked = _ask(models, [questions for *_, questions in tried])
    removed: set[str] = set()
    for (candidate, place, questions), replies in zip(tried, asked, strict=True):
        right = any(_knows(sample, questions) for sample in usable(replies))
        if candidate.id in removed or not (right or not usable(replies)):
            continue
        removed.add(candidate.id)
        reason = f"a model answers from part {place} of the evidence alone" if right else faults(replies)
        yield Removal(candidate.id, rule, reason, undecided=not right)


def _confirmed(
    candidates: Sequence[Candidate], texts: Texts, models: Sequence[Model], samples: int, least: int
) -> Iterator[Removal]:
    """Remove questions to which too few answers from the evidence, or not most of them, are the accepted answer."""
    rule: ModelRule = "answer_not_confirmed"
    prompts = [[_direct(candidate, shown(candidate, texts))] for candidate in candidates]
    for candidate, replies in zip(candidates, ask(models, prompts, samples), strict=True):
        given = [reply.text for (reply,) in usable(replies)]
        wrong = [text for text in given if not _gives_answer(candidate, text)]
        right, (other, count) = len(given) - len(wrong), _most_frequent(wrong, candidate)
        if right >= least and right > count:
            continue
        if len(given) < least:
            yield Removal(candidate.id, rule, f"{len(given)} replies can be used: {faults(replies)}", undecided=True)
            continue
        often = f"; most often the model says {quoted(other)} ({count} of {len(given)})" if count else ""
        confirmed = f"{right} of {len(given)} answers from the evidence agree with {quoted(candidate.answers[0])}"
        yield Removal(candidate.id, rule, confirmed + often)


def _most_frequent(given: Sequence[str], candidate: Candidate) -> tuple[str, int]:
    """Return the answer that most replies agree on, as the first of them gives it, and how many these are."""
    counts: Counter[str] = Counter()
    for text in map(stated, given):
        same = (
            each for each in counts if text == each or agrees(text, [each], candidate.answer_form, candidate.question)
        )
        counts[next(same, text)] += 1
    (text, count), *_ = [*counts.most_common(1), ("", 0)]
    return text.partition("\n")[0], count
