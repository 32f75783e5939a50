"""The settings of a build: its YAML file, with every plugin an object."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from ohr.contracts import AnyOcr, Benchmark, Generator, Stage
from ohr.errors import SpecError
from ohr.prices import Prices, faults_of_prices
from ohr.questions.judging.judge_prompts import Settings as Verification
from ohr.questions.writing.assignments import Wanted
from ohr.questions.writing.entities import entities_of
from ohr.runner.preflight import refuse_unready
from ohr.spec.build import Builder
from ohr.spec.file_keys import LIMITS, Limits
from ohr.spec.model import KnowledgeBase, Named, Spec, written
from ohr.spec.read import registry_of
from ohr.spec.servers import answering
from ohr.spec.source import Source, read_source

SILVER = "silver"
"""Name of the knowledge base of pages that an engine reads, in messages."""


PLACEHOLDER = "MODEL"
"""The model of a file that `ohr init` wrote and nobody completed."""
_ELSEWHERE = {"writer", "judges", "answerers", "silver", "corrected", "plugins"}
"""Keys of the file that the settings of a set have in another form, or not: paths say nothing to others."""


_ADDRESSES = {"base_url", "url", "headers", "api_key_env"}
"""Fields of servers that say nothing to others, or too much."""


class BuildFile(BaseModel):
    """The keys of a build's file; plugins are mappings with a `kind`, which are validated by their own class."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    writer: Annotated[dict[str, Any] | None, Field(description="The generator that writes questions.")] = None
    judges: Annotated[list[dict[str, Any]], Field(description="Generators that judge them; the writer.")] = []
    answerers: Annotated[list[dict[str, Any]], Field(description="Generators that try to answer; the writer.")] = []
    silver: Annotated[
        dict[str, Any] | None, Field(description="OCR of pages without a good text layer; they are left out.")
    ] = None
    corrected: Annotated[Path | None, Field(description="Folder of corrected <domain>/<document>.json.")] = None
    questions: Annotated[Wanted, Field(description="How many questions of which kind are wanted.")] = Wanted()
    verification: Annotated[Verification, Field(description="How models verify them.")] = Verification()
    prices: Annotated[Prices, Field(description="Of generators, by name, model or kind, per million tokens.")] = {}
    sampling_temperature: Annotated[
        float, Field(ge=0, le=5, allow_inf_nan=False, description="Of answerers whose own temperature is 0.")
    ] = 0.7
    language: Annotated[
        str, Field(pattern=r"^[a-z]{2,3}$", description="Of documents whose text does not show it.")
    ] = "en"
    dpi: Annotated[int, Field(strict=True, ge=50, le=600, description="Resolution at which an engine reads.")] = 200
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63, description="Every choice follows from it.")] = 0
    retries: Annotated[int, Field(strict=True, ge=0, le=100, description="Further tries of what failed.")] = 1
    max_failures: Annotated[int | None, Field(strict=True, ge=0, description="Failures that end a build.")] = None
    limits: Annotated[Limits, Field(description="Of one page or reply.")] = LIMITS
    plugins: Annotated[list[str], Field(description="Files with plugins of your own.")] = []


@dataclass(frozen=True, slots=True)
class Settings:
    """A build, ready to run.

    Args:
        writer: None where questions are imported, and no model is asked.
        answerers: the writer, where the file names none; none without a writer. So are the judges.
        resolved: the file with its defaults, as JSON values, for the datasheet.
    """

    file: BuildFile
    writer: Named[Generator] | None
    judges: tuple[Named[Generator], ...]
    answerers: tuple[Named[Generator], ...]
    silver: AnyOcr | None
    corrected: Path | None
    plugin_files: tuple[Path, ...]
    plugin_digests: tuple[tuple[str, str], ...]
    resolved: dict[str, Any]

    @property
    def models(self) -> tuple[Named[Generator], ...]:
        """Every generator once."""
        everyone = (*([self.writer] if self.writer else []), *self.judges, *self.answerers)
        return tuple(dict.fromkeys(everyone))

    def spec(self, benchmark: Benchmark) -> Spec:
        """Return the study that the engine takes a build for: documents that are read, and generators."""
        bases = [KnowledgeBase(SILVER, SILVER, (self.silver,))] if self.silver else []
        return Spec(
            "build",
            self.file.seed,
            benchmark,
            tuple(bases),
            (),
            (),
            self.models,
            (),
            retries=self.file.retries,
            max_failures=self.file.max_failures,
            limits=self.file.limits,
            plugin_files=self.plugin_files,
            plugin_digests=self.plugin_digests,
        )


@dataclass(frozen=True, slots=True)
class Job:
    """The order for a build.

    Args:
        folder: of PDFs and page images.
        out: folder of the set.
        imported: file of questions that are verified; None where a model writes them.
        force: keep files of `out` that were changed by hand under another name.
    """

    settings: Settings
    folder: Path
    out: Path
    imported: Path | None = None
    force: bool = False


def read_settings(
    path: Path | None, overrides: Sequence[str] = (), *, trust_plugins: bool = False, allow_env: Sequence[str] = ()
) -> Settings:
    """Read a build's file; None is an empty one, for questions that are imported and verified without a model.

    Args:
        overrides, trust_plugins, allow_env: as `ohr.spec.read.read_spec` has them.

    Raises:
        SpecError: it has faults; the message lists them all.
    """
    source = read_source(path, overrides) if path else Source({}, "ohr data build", {(): ("ohr data build", 0)})
    builder = Builder(source, registry_of(source, trust_plugins), frozenset(allow_env))
    data = source.data
    file = builder.validated(BuildFile, data, ())
    writers = builder.named("generator", list(_entries(data, "writer")))
    judges = builder.named("generator", list(_entries(data, "judges")))
    answerers = builder.named("generator", list(_entries(data, "answerers")))
    silver = next((builder.one("ocr", keys, where) for where, keys in _entries(data, "silver")), None)
    if len(writers) > 1:
        builder.note(("writer",), "must be one generator: no field may be a list of values")
    _check_names(builder, (*writers, *judges, *answerers), file)
    builder.refuse()
    assert file is not None  # as it has no faults
    models = {"writer": writers, "judges": judges, "answerers": answerers}
    return Settings(
        file,
        writers[0] if writers else None,
        judges or writers,
        answerers or writers,
        silver,
        file.corrected and source.home(("corrected",)) / file.corrected.expanduser(),
        builder.registry.files,
        tuple(sorted(builder.registry.digests().items())),
        {
            **file.model_dump(mode="json", by_alias=True, exclude=_ELSEWHERE),
            **{key: [{"name": each.name, **shared(each.stage)} for each in found] for key, found in models.items()},
            "silver": silver and shared(silver),
        },
    )


def shared(stage: Stage) -> dict[str, Any]:
    """Return what decides a plugin's results, for a set that is given to others: no addresses, of paths their names.

    What is not set is left out.
    """
    stated = {key: value for key, value in written(stage).items() if key in stage.identity()}
    return {
        key: value.name
        if isinstance(value, Path)
        else Path(value).name
        if key == "model" and Path(value).exists()
        else value
        for key, value in stated.items()
        if value not in (None, "", [], {}) and key not in _ADDRESSES
    }


def _entries(data: dict[str, Any], key: str) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """Yield the mappings under a key; what has another shape is BuildFile's to report."""
    value = data.get(key)
    if isinstance(value, dict):
        yield (key,), value
    for place, each in enumerate(value if isinstance(value, list) else ()):
        if isinstance(each, dict):
            yield (key, place), each


def _check_names(builder: Builder, models: Sequence[Named[Generator]], file: BuildFile | None) -> None:
    """Note two generators of one name, several writers, and prices of a generator that is not there."""
    stages = {each.name: each.stage for each in models}
    for each in models:
        if stages[each.name] != each.stage:
            builder.note((), f"two generators are named {each.name!r}: give one another `name`")
    for name, message in faults_of_prices(file.prices if file else {}, [answering(each) for each in models]).items():
        builder.note(("prices", name), message)


def check_models(settings: Settings, *, writes: bool) -> None:
    """Refuse models and engines that cannot run here, before anything is spent.

    Raises:
        SpecError: questions are to be written, and nothing writes them.
        PluginError: one cannot run; the message lists all.
        MissingExtra: spaCy is not installed, and the settings name a model of it.
    """
    if writes and settings.writer is None:
        raise SpecError("nothing writes questions: name a file with a `writer` by --spec, or give yours by --questions")
    if unnamed := [each.name for each in settings.models if getattr(each.stage, "model", None) == PLACEHOLDER]:
        raise SpecError(f"generator {unnamed[0]}: name your model in place of {PLACEHOLDER}")
    if writes:
        entities_of({}, settings.file.questions.entities)
    stages: list[Stage] = [each.stage for each in settings.models]
    refuse_unready([*stages, *([settings.silver] if settings.silver else [])])
