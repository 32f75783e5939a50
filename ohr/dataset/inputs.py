"""Inputs of a run: documents, questions and ground truth, checked."""

from bisect import bisect_right
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from hashlib import sha256
from itertools import accumulate
from typing import Any

from ohr import seeds
from ohr.contracts import Benchmark, Document, Page, PageId, Question, TextNoise
from ohr.errors import OhrError, PluginError, SpecError
from ohr.keys import code, installed, key
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import counted
from ohr.registry import choices
from ohr.spec.model import Spec

_KEPT = 256
"""Documents whose ground truth is held at once: all of a small benchmark, a small part of one with a million pages."""

_FEW_WORDS = 20
"""Characters without white space that a page has at least: fewer are a heading, a page number or a stamp."""


class Truth(Mapping[str, Sequence[Page]]):
    """Ground-truth pages by document, read when they are looked at; a document without ground truth has none."""

    def __init__(self, benchmark: Benchmark, documents: Sequence[Document]) -> None:
        self._benchmark = benchmark
        self._documents = {document.name: document for document in documents}
        self._held: OrderedDict[str, Sequence[Page]] = OrderedDict()

    def __getitem__(self, name: str) -> Sequence[Page]:
        pages = self._held.pop(name, None)
        if pages is None:
            pages = tuple(self._benchmark.pages(self._documents[name]))
            while len(self._held) >= _KEPT:
                self._held.popitem(last=False)
        self._held[name] = pages
        return pages

    def __iter__(self) -> Iterator[str]:
        return iter(self._documents)

    def __len__(self) -> int:
        return len(self._documents)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the pages behind: another process reads its own."""
        return {**self.__dict__, "_held": OrderedDict()}


def find_copies(truth: Mapping[str, Sequence[Page]]) -> dict[PageId, PageId]:
    """Map each page whose text is there more than once to the first page with it; pages with few words are none."""
    firsts: dict[bytes, PageId] = {}
    copies: dict[PageId, PageId] = {}
    for name in truth:
        for page in truth[name]:
            text = "".join(page.text.split())
            if len(text) >= _FEW_WORDS:
                digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
                place = page.document, page.index
                first = firsts.setdefault(digest, place)
                if first != place:
                    copies[first] = copies[place] = first
    return copies


class TruthPages:
    """The pages of some documents, numbered through.

    Args:
        sizes: how many pages each document's ground truth has.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._names = list(sizes)
        self._places = {name: place for place, name in enumerate(sizes)}
        self._starts = [0, *accumulate(sizes.values())]

    def __len__(self) -> int:
        return self._starts[-1]

    def numbers(self, document: str) -> range:
        """Return the numbers of a document's pages; none for a document that is not among these."""
        place = self._places.get(document)
        return range(0) if place is None else range(self._starts[place], self._starts[place + 1])

    def page(self, number: int) -> tuple[str, int]:
        """Return the document of a page, and the page's place in its ground truth."""
        place = bisect_right(self._starts, number) - 1
        return self._names[place], number - self._starts[place]


@dataclass(frozen=True, eq=False)
class Inputs:
    """Documents and questions of a run.

    Args:
        truth: ground-truth pages by document; a document without ground truth has none.
        notes: what was left out, and what looks wrong.
        copies: the first of several pages with the same text, by each of them; none in a published protocol.
        noises: of texts, each once; they say for which pages they are not made.
    """

    benchmark: Benchmark
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    truth: Mapping[str, Sequence[Page]]
    notes: tuple[str, ...]
    copies: Mapping[PageId, PageId] = field(default_factory=dict)
    noises: tuple[TextNoise, ...] = ()

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """The notes, and those of the noises, which read all pages: a finished run that is shown again needs none."""
        return *self.notes, *(note for noise in self.noises for note in noise.notes(self.truth))

    @cached_property
    def is_bare(self) -> bool:
        """Whether no document has ground truth."""
        return not any(self.truth[name] for name in self.truth)

    @cached_property
    def documents_asked(self) -> int:
        """How many of the documents have a question; the others are searched too."""
        return len(self.about.keys() & self.by_name.keys())

    @cached_property
    def without_text(self) -> frozenset[str]:
        """Ids of questions whose pages have no text in the ground truth, such as scans; empty where none has any."""
        located = [q for q in self.questions if q.pages and q.document in self.by_name]
        return frozenset(q.id for q in located if not self.is_bare and not self._has_text(q))

    def _has_text(self, question: Question) -> bool:
        return any(page.text.strip() for page in self.truth[question.document] if page.index in question.pages)

    @cached_property
    def asked(self) -> tuple[int, ...]:
        """Places of the questions that retrievers and generators get."""
        return tuple(place for place, question in enumerate(self.questions) if question.asked)

    @cached_property
    def by_name(self) -> Mapping[str, Document]:
        """The documents by name."""
        return {document.name: document for document in self.documents}

    @cached_property
    def truth_pages(self) -> Mapping[str | None, TruthPages]:
        """The ground-truth pages by domain; those of all domains under None."""
        sizes: dict[str | None, dict[str, int]] = defaultdict(dict)
        for document in self.documents:
            sizes[None][document.name] = sizes[document.domain][document.name] = len(self.truth[document.name])
        return {domain: TruthPages(found) for domain, found in sizes.items()}

    @cached_property
    def _leaves(self) -> dict[tuple[str, bool], str]:
        return {}

    def leaf(self, document: Document, *, images: bool) -> str:
        """Hash the sources of a document or of its page images; computed once."""
        place = (document.name, images)
        if place not in self._leaves:
            fingerprint = self.benchmark.fingerprint(document, images=images)
            self._leaves[place] = key("leaf", fingerprint, *self._made_with)
        return self._leaves[place]

    @cached_property
    def _made_with(self) -> list[Any]:
        return [installed(type(self.benchmark).packages), code(type(self.benchmark).__module__)]

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """Hash every question with all that is known of it, by its id."""
        names = [each.name for each in fields(Question)]
        known = {q.id: [getattr(q, name) for name in names] for q in self.questions}
        same = {q.id: [self.copies.get(page) for page in q.grades] for q in self.questions}
        return {name: key("question", known[name], *filter(None, same[name])) for name in known}

    @cached_property
    def about(self) -> Mapping[str, tuple[Question, ...]]:
        """The questions by document."""
        found: dict[str, list[Question]] = defaultdict(list)
        for question in self.questions:
            found[question.document].append(question)
        return {document: tuple(asked) for document, asked in found.items()}


_ABSENT = "about an absent document, scored 0 in a run"


def limited(spec: Spec, limit: int | None) -> Spec:
    """Return the spec with another limit, if one is given, and record it in `resolved`."""
    return replace(spec, limit=limit, resolved={**spec.resolved, "limit": limit}) if limit else spec


def read_inputs(spec: Spec) -> Inputs:
    """Read a spec's benchmark.

    Raises:
        SpecError: nothing is left to evaluate, or an engine cannot read a document's language.
        PluginError: the benchmark raises something else than an error of ohr's.
    """
    everything, listed = _listed(spec.benchmark)
    documents = _spread(everything, {question.document for question in listed}, spec.limit, spec.seed)
    warnings = list(spec.benchmark.notes())
    if len(documents) < len(everything):
        warnings.append(f"limited to {len(documents):,} of {counted(len(everything), 'document')}")
    names, known = ({document.name for document in listed} for listed in (documents, everything))
    # a limit leaves questions out; a document that was never there does not: its questions score 0
    asked = [q for q in listed if q.document in names or q.document not in known]
    if left_out := known - names:
        asked = [_judged_without(question, left_out) for question in asked]
    _refuse_repeats(spec, [document.name for document in everything], [question.id for question in asked])
    for engine in dict.fromkeys(base.ocr for base in spec.knowledge_bases):
        warnings += engine.notes(documents)
    if not any(_ABSENT in warning for warning in warnings):  # a benchmark may report it by itself
        absent = [q for q in asked if q.document not in names and q.is_located]
        warnings += sentences(Fault("question", _ABSENT, f"{q.id} ({q.document})") for q in absent)
    chosen = _chosen(asked, spec)
    if len(chosen) < len(asked):
        warnings.append(f"asked {len(chosen):,} of {counted(len(asked), 'question')}: those chosen by `questions`")
    questions = _with_pages(_sampled(chosen, spec), asked)
    if not documents or not questions:
        raise SpecError(
            f"benchmark {spec.benchmark.kind}: nothing left: {counted(len(documents), 'document')}, "
            f"{counted(len(asked), 'question')}"
        )
    if not any(question.asked for question in questions) and set(spec.evaluate) != {"page"}:
        raise SpecError(f"benchmark {spec.benchmark.kind}: has no question to ask: use `evaluate: [page]`")
    _check_languages(spec, documents)
    if {"generation", "overall"} & set(spec.evaluate) and not any(question.answers for question in questions):
        warnings.append("no question has an accepted answer: answers are asked for, and not scored")
    warnings += _cut_short(spec)
    truth = Truth(spec.benchmark, documents)
    copies = find_copies(truth) if spec.benchmark.scoring.name == "clean" and "retrieval" in spec.evaluate else {}
    warnings += _repeated(copies)
    inputs = Inputs(spec.benchmark, tuple(documents), tuple(questions), truth, tuple(warnings), copies, _noises(spec))
    _check_truth(spec, inputs)
    return inputs


def _noises(spec: Spec) -> tuple[TextNoise, ...]:
    """Return the noises of texts that a spec has, each once for all its strengths."""
    noises = (each for base in spec.knowledge_bases for each in base.text_treatments if isinstance(each, TextNoise))
    return tuple(dict.fromkeys(each.model_copy(update={each.knob: 1.0}) for each in noises if each.acts))


def _cut_short(spec: Spec) -> list[str]:
    """Warn of retrievers whose rankings end before a metric of rankings does."""
    fields = spec.benchmark.scoring.metric_fields.items()
    own = {name: values.get("k") for name, values in fields if name in spec.benchmark.scoring.metrics}
    own |= {metric.name: getattr(metric.stage, "k", None) for metric in spec.metrics}
    ends = {name: k for name, k in own.items() if isinstance(k, int)}
    return [
        f"{retriever.name} ends at top_k {retriever.stage.top_k}, before {name} does: the rest counts as not found"
        for retriever in spec.retrievers
        for name, k in ends.items()
        if "retrieval" in spec.evaluate and retriever.stage.top_k < k
    ]


def _repeated(copies: Mapping[PageId, PageId]) -> list[str]:
    """Warn of pages that are there more than once, with one pair."""
    pair = next(((page, first) for page, first in copies.items() if page != first), None)
    if pair is None:
        return []
    (name, index), (other, place) = pair
    example = f"{name} page {index + 1} and {other} page {place + 1}"
    return [f"{counted(len(copies), 'page')} with the text of another, e.g. {example}: a hit on either counts"]


def _listed(benchmark: Benchmark) -> tuple[Sequence[Document], Sequence[Question]]:
    """List a benchmark's documents and questions; one that raises has one sentence."""
    try:
        return benchmark.documents(), benchmark.questions()
    except OhrError:
        raise
    except (Exception, SystemExit) as error:  # a foreign plugin may raise anything
        raise PluginError(f"benchmark {benchmark.kind}: {type(error).__name__}: {error}") from error


def _refuse_repeats(spec: Spec, documents: Sequence[str], questions: Sequence[str]) -> None:
    for what, names in (("document", documents), ("question", questions)):
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            raise SpecError(f"benchmark {spec.benchmark.kind}: {what} {repeated[0]!r} is listed more than once")


def _spread(documents: Sequence[Document], about: Collection[str], limit: int | None, seed: int) -> list[Document]:
    """Draw documents from all domains in turn, first of those that questions are `about`, and then of the others.

    Intervals take them as drawn at random.
    """
    if limit is None or limit >= len(documents):
        return list(documents)
    by_domain: dict[tuple[bool, str], list[Document]] = defaultdict(list)
    for document in documents:
        by_domain[document.name not in about, document.domain].append(document)
    turns = [
        (is_other, turn, found[place])
        for (is_other, domain), found in by_domain.items()
        for turn, place in enumerate(seeds.generator(seed, "limit", domain).permutation(len(found)))
    ]
    kept = {document.name for *_, document in sorted(turns, key=lambda one: one[:2])[:limit]}
    return [document for document in documents if document.name in kept]


def _judged_without(question: Question, left_out: Collection[str]) -> Question:
    """Return a question whose judgments are of documents that can be found; the ideal ranking has no others."""
    if not any(page.document in left_out for page in question.relevant):
        return question
    return replace(question, relevant=tuple(page for page in question.relevant if page.document not in left_out))


def _chosen(questions: Sequence[Question], spec: Spec) -> list[Question]:
    kept = list(questions)
    for attribute, values in spec.questions.model_dump().items():
        there = sorted({getattr(question, attribute) for question in questions})
        for value in values:
            if value not in there:
                raise SpecError(f"questions.{attribute}: no question has {value!r}. {choices(value, there)}")
        kept = [question for question in kept if not values or getattr(question, attribute) in values]
    if questions and not kept:
        raise SpecError(f"questions: none of {len(questions)} has all of these attributes together")
    return kept


def _sampled(questions: Sequence[Question], spec: Spec) -> list[Question]:
    """Draw the questions that people ask: of each document at most so many, of these a sample in all.

    Intervals shrink with documents more than with questions. The sample is stratified by evidence source, each source
    in proportion (largest remainder).
    """
    drawn = [question for question in questions if question.asked] or list(questions)
    if spec.per_document is not None:
        documents = {question.document for question in drawn}
        drawn = _drawn(drawn, "document", dict.fromkeys(documents, spec.per_document), (spec.seed, "per document"))
    if (size := spec.sample) is None or size >= len(drawn):
        return drawn
    sources = Counter(question.evidence_source for question in drawn)
    shares = {source: size * number / len(drawn) for source, number in sources.items()}
    quota = {source: int(share) for source, share in shares.items()}
    for source in sorted(shares, key=lambda source: quota[source] - shares[source])[: size - sum(quota.values())]:
        quota[source] += 1
    return _drawn(drawn, "evidence_source", quota, (spec.seed, "sample"))


def _drawn(
    questions: Sequence[Question], attribute: str, quota: Mapping[str, int], seed: tuple[int, str]
) -> list[Question]:
    """Draw at most the quota of the questions with each value of the attribute, and return them in their order."""
    groups: dict[str, list[str]] = defaultdict(list)
    for question in questions:
        groups[getattr(question, attribute)].append(question.id)
    orders = {value: seeds.generator(*seed, value).permutation(len(ids)) for value, ids in groups.items()}
    ids = {groups[value][place] for value, order in orders.items() for place in order[: quota[value]]}
    return [question for question in questions if question.id in ids]


def _with_pages(kept: Sequence[Question], questions: Sequence[Question]) -> list[Question]:
    """Add the questions that are not asked about the documents of others: the scores of their pages need them."""
    if len(kept) == sum(question.asked for question in questions):
        return list(questions)
    ids, documents = {question.id for question in kept}, {question.document for question in kept}
    return [q for q in questions if q.id in ids or (not q.asked and q.document in documents)]


def _check_truth(spec: Spec, inputs: Inputs) -> None:
    bare = [base.name for base in spec.knowledge_bases if base.ocr.kind == "ground_truth"]
    sees = [named.stage.reads_images for some in (spec.retrievers, spec.generators) for named in some]
    sees += ["text" not in named.stage.reads for named in spec.whole]
    looks = bool(sees) and all(sees)  # at the images alone, which need no text
    if bare and inputs.is_bare and not looks:
        raise SpecError(
            f"knowledge base {bare[0]!r}: the benchmark has no ground truth to take its text from: give it an `ocr` "
            "that reads images, or `precomputed` results"
        )


def _check_languages(spec: Spec, documents: Sequence[Document]) -> None:
    faults = []
    for engine in dict.fromkeys(base.ocr for base in spec.knowledge_bases):
        unread = [document for document in documents if not engine.reads(document.language)]
        if unread:
            languages = sorted({document.language for document in unread})
            known = sorted({document.language for document in documents} - set(languages))
            out = (
                f", or leave those documents out with `languages: [{', '.join(known)}]` under `benchmark`"
                if known
                else ""
            )
            unreadable = f"{counted(len(unread), 'document')}, e.g. {unread[0].name}"
            faults.append(
                f"ocr {engine.kind}: no language pack for {', '.join(languages)} ({unreadable}). "
                f"Add one to the engine's `languages`{out}"
            )
    if faults:
        raise SpecError("\n".join(dict.fromkeys(faults)))
