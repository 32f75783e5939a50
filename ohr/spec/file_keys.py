"""The keys of a spec's file, with what is allowed and described for each."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ohr.metrics.references import Reference
from ohr.prices import Prices

EvaluationStage = Literal["page", "retrieval", "generation", "overall"]
"""`page` scores the knowledge base itself and is always part of a run: alone it makes a run without a retriever."""


class _Keys(BaseModel):
    """Some keys of a spec; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


_Values = Annotated[tuple[str, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)]


class QuestionFilter(_Keys):
    """Which questions are asked: those that have one of the values given, of every attribute given."""

    evidence_source: Annotated[_Values, Field(description="Such as text, table; all.")] = ()
    answer_form: Annotated[_Values, Field(description="Such as Numeric, Yes/No; all.")] = ()
    task_type: Annotated[_Values, Field(description="Such as understanding; all.")] = ()


class Limits(_Keys):
    """Limits of one item (a page, a document, an index, an answer); beyond them it counts as failed.

    Limits change only the result of an item that exceeds them, so they are part of no key.
    """

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    seconds: Annotated[float, Field(gt=0, description="Longest time of one item.")] = 600.0
    memory_gb: Annotated[float | None, Field(gt=0, description="Most memory of a worker process; no limit.")] = None


class Attribution(_Keys):
    """The keys of `attribution`."""

    of: Annotated[list[str], Field(min_length=1, description="Names of knowledge bases, without the replicate's #.")]
    methods: Annotated[
        list[Literal["leave_one_out", "shapley"]], Field(min_length=1, description="How costs are estimated.")
    ] = ["leave_one_out"]
    permutations: Annotated[
        int, Field(strict=True, ge=2, le=1000, description="Orders drawn for shapley, of more than seven rules.")
    ] = 32


class Hypothesis(_Keys):
    """One comparison that is written down before the run; the others are exploratory."""

    name: Annotated[str, Field(min_length=1, max_length=200, description="Says what is expected, for people.")]
    compare: Annotated[
        list[str], Field(min_length=2, max_length=2, description="Two conditions: the second is judged.")
    ]
    stage: Annotated[Literal["retrieval", "generation", "overall"], Field(description="Stage of evaluation.")]
    metric: Annotated[str | None, Field(description="By default the stage's headline metric.")] = None
    chunker: Annotated[str | None, Field(description="Needed where there are several.")] = None
    retriever: Annotated[str | None, Field(description="Needed where there are several.")] = None
    generator: Annotated[str | None, Field(description="Needed where there are several.")] = None
    group: Annotated[str, Field(description="Evidence source; all.")] = "all"
    margin: Annotated[
        float | None, Field(gt=0, lt=1, allow_inf_nan=False, description="Difference that matters; the spec's.")
    ] = None
    expect: Annotated[Literal["worse", "better", "same"], Field(description="What the second condition is to be.")]


IndexScope = Literal["document", "domain", "corpus"]
"""The documents of one index: that of the question, those of its domain, or all."""

Measurement = Literal["dose", "pages"]
"""Name of a measurement of pages: what noise takes from evidence, which is always made, or what pages look like."""

EVERY, LIMITS = QuestionFilter(), Limits()


class SpecFile(_Keys):
    """The keys of a spec; plugins are mappings with a `kind`, which are validated by their own class."""

    name: Annotated[
        str, Field(pattern=r"^[A-Za-z0-9][\w.-]*$", max_length=100, description="Names the run's folder.")
    ] = "run"
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63, description="Every random draw follows from it.")] = 0
    replicates: Annotated[
        int, Field(strict=True, ge=1, le=100, description="Draws of each noisy knowledge base, pooled.")
    ] = 5
    benchmark: Annotated[dict[str, Any], Field(description="The documents and questions.")]
    knowledge_bases: Annotated[list[dict[str, Any]], Field(min_length=1, description="The conditions to compare.")]
    chunker: Annotated[
        dict[str, Any] | None, Field(description="Cuts pages into chunks; by default the protocol's, else tokens.")
    ] = None
    retrievers: Annotated[list[dict[str, Any]], Field(description="Find chunks for a question.")] = []
    generators: Annotated[list[dict[str, Any]], Field(description="Answer questions.")] = []
    agents: Annotated[
        list[dict[str, Any]], Field(description="Retrieve, read and ask again by themselves (the stage overall).")
    ] = []
    systems: Annotated[
        list[dict[str, Any]], Field(description="Whole RAGs that ingest the documents themselves (the stage overall).")
    ] = []
    index_scope: Annotated[
        IndexScope | None, Field(description="What is searched for a question; by default as the benchmark has it.")
    ] = None
    metrics: Annotated[
        list[dict[str, Any]], Field(description="Score answers or rankings, beside the benchmark's own.")
    ] = []
    evaluate: Annotated[
        list[EvaluationStage], Field(min_length=1, description="Stages of evaluation (OHRBench, section 4.1).")
    ] = ["retrieval", "generation", "overall"]
    references: Annotated[
        list[Reference] | None, Field(description="What answers are read against, beside the knowledge bases; all.")
    ] = None
    limit: Annotated[
        int | None, Field(strict=True, gt=0, description="Use only this many documents, spread over domains.")
    ] = None
    questions: Annotated[QuestionFilter, Field(description="Ask only questions of these kinds.")] = EVERY
    per_document: Annotated[
        int | None, Field(strict=True, gt=0, description="Ask at most this many questions about a document.")
    ] = None
    sample: Annotated[
        int | None, Field(strict=True, gt=0, description="Ask only this many questions, stratified by evidence source.")
    ] = None
    max_failures: Annotated[
        int | None, Field(strict=True, ge=0, description="Stop early when more items than this fail.")
    ] = None
    retries: Annotated[int, Field(strict=True, ge=0, le=10, description="How often a failed item is tried again.")] = 1
    limits: Annotated[Limits, Field(description="Most time and memory of one item.")] = LIMITS
    attribution: Annotated[Attribution | None, Field(description="Estimate what each part of a noise costs.")] = None
    decompose: Annotated[
        Annotated[bool, Field(strict=True)] | list[str],
        Field(description="Split the loss to noise by stage: of all conditions, or of those of this list."),
    ] = False
    measure: Annotated[
        list[Measurement],
        Field(description="What is measured of pages; `pages`: edit distances, formatting commands, faulty blocks."),
    ] = ["dose"]
    margin: Annotated[
        float,
        Field(
            gt=0, lt=1, allow_inf_nan=False, description="Difference of a score that matters; set it before the run."
        ),
    ] = 0.02
    strata: Annotated[
        Literal["auto", "domain", "none"],
        Field(description="Whether intervals take the domains as fixed; auto: where each has five documents."),
    ] = "auto"
    aa: Annotated[
        bool,
        Field(strict=True, description="Run every condition twice, and report the difference that must be nothing."),
    ] = False
    hypotheses: Annotated[
        list[Hypothesis], Field(description="Comparisons written down before the run, judged as one family.")
    ] = []
    prices: Annotated[
        Prices,
        Field(description="Of models, engines and systems, by name, model or kind; they change no result."),
    ] = {}
    currency: Annotated[str, Field(max_length=20, description="Of the prices, as tables write it.")] = ""
    plugins: Annotated[list[str], Field(description="Plugin files, loaded with --trust-plugins only.")] = []
