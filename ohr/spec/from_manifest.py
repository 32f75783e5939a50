"""The plugins of a run, made again from its manifest."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ohr.contracts import Benchmark, Treatment
from ohr.errors import DataError, SpecError
from ohr.registry import Registry, choices
from ohr.spec.build import Builder
from ohr.spec.file_keys import QuestionFilter
from ohr.spec.model import KnowledgeBase, Named, Spec
from ohr.spec.source import Source
from ohr.treatments import recorded_treatments


class RecordedSpec:
    """A spec as a manifest has it, from which single plugins are made.

    Args:
        manifest: of a run.
        path: of the manifest: relative paths in it start at its folder.
        trust_plugins: run the plugin files that the spec names.
        allow_env: as of `read_spec`.
    """

    def __init__(
        self, manifest: Mapping[str, Any], path: Path, *, trust_plugins: bool = False, allow_env: Sequence[str] = ()
    ) -> None:
        self._spec, self._path, self._trusted, self._allowed = manifest["spec"], path, trust_plugins, allow_env
        self._bases = {base["condition"]: base for base in reversed(self._spec.get("knowledge_bases") or [])}

    @cached_property
    def benchmark(self) -> Benchmark:
        """The benchmark.

        Raises:
            SpecError: its keys are wrong here: an environment variable is not set, or its plugin is missing.
        """
        made: Benchmark = self._builder.alone("benchmark", self._spec["benchmark"])
        return made

    def treatments(self, condition: str) -> tuple[Treatment, ...]:
        """Return the treatments of a condition, in the order in which they act.

        Raises: as `benchmark`.
        """
        return _treatments(self._builder, self._base(condition))

    def seed(self, condition: str) -> int:
        """Return the seed of a condition's first draw."""
        return int(self._spec["seed"]) + int(self._base(condition).get("replicate") or 0)

    def of_condition(self, name: str) -> Spec:
        """Return the spec with one knowledge base, and without agents and systems: what it makes has the run's keys.

        Args:
            name: of a condition, for its first draw, or of a draw.

        Raises:
            DataError: the run has no such condition.
            SpecError: as `benchmark`.
        """
        spec, builder = self._spec, self._builder
        bases = spec.get("knowledge_bases") or []
        draws = [base for base in bases if name in (base["condition"], base["name"])]
        if not draws:
            known = list(dict.fromkeys(base["condition"] for base in bases))
            lacks = f"has no condition {name!r}" if name else "has several conditions, and none is named"
            raise DataError(f"the run {lacks}. {choices(name, known)}")
        named: dict[str, Any] = {
            f"{family}s": tuple(
                Named(item["name"], builder.alone(family, {key: item[key] for key in item if key != "name"}))
                for item in spec.get(f"{family}s") or ()
            )
            for family in ("chunker", "retriever", "generator")
        }
        return Spec(
            spec["name"],
            spec["seed"],
            self.benchmark,
            (_drawn(builder, name, draws[0]),),
            **named,
            evaluate=("retrieval", "overall"),
            index_scope=spec.get("index_scope") or self.benchmark.scoring.index_scope,
            limit=spec.get("limit"),
            questions=QuestionFilter(**(spec.get("questions") or {})),
            sample=spec.get("sample"),
            plugin_digests=tuple(sorted(builder.registry.digests().items())),
            plugin_files=builder.registry.files,
        )

    def _base(self, condition: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._bases.get(condition, {})
        return found

    @property
    def _builder(self) -> Builder:
        files = tuple((self._path.parent / name).resolve() for name in self._spec.get("plugins") or ())
        if files and not self._trusted:
            raise SpecError("its spec runs code of its own, which needs --trust-plugins")
        if gone := [file for file in files if not file.is_file()]:
            raise SpecError(f"{gone[0]}: no such plugin file")
        source = Source(dict(self._spec), str(self._path), {(): (str(self._path), 0)})
        return Builder(source, Registry(files, bool(files)), frozenset(self._allowed))


def _drawn(builder: Builder, name: str, keys: Mapping[str, Any]) -> KnowledgeBase:
    """Make a knowledge base from what `KnowledgeBase.written` returned, under another name."""
    return KnowledgeBase(
        name,
        name,
        _treatments(builder, keys),
        replicate=keys["replicate"],
        retrievers=None if keys["retrievers"] is None else tuple(keys["retrievers"]),
        again_of=keys.get("again_of"),
    )


def _treatments(builder: Builder, base: Mapping[str, Any]) -> tuple[Treatment, ...]:
    return tuple(builder.alone(each.family, each.keys) for each in recorded_treatments(base))
